import { checkLeaving } from "./check-leaving.ts";
import { checkRefusals } from "./check-refusals.ts";
import { checkRuns } from "./check-runs.ts";
import { createFindings } from "./findings.ts";
import type { CheckResult } from "./findings.ts";
import { createProbe } from "./probes.ts";
import type { CheckTarget } from "./probes.ts";
import { checkPaces } from "./timing.ts";

/** Asks an endpoint everything there is to ask. Throws `NoAnswer` when nobody is there. */
export async function checkEndpoint(target: CheckTarget): Promise<CheckResult[]> {
  const findings = createFindings();
  const probe = createProbe(target, findings);
  const isServing = await checkRuns(probe);
  const isAlive = await checkRefusals(probe);
  // Last: a server that falls here takes nothing else with it.
  if (isServing && isAlive) await checkLeaving(probe);
  if (isServing) checkPaces(probe.paces, findings);
  return findings.results();
}
