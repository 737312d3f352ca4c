import { checkLeaving } from "./check-leaving.ts";
import { checkRefusals } from "./check-refusals.ts";
import { checkRuns } from "./check-runs.ts";
import { createFindings } from "./report/findings.ts";
import type { CheckResult } from "./report/findings.ts";
import { createProbe } from "./probes.ts";
import type { CheckTarget } from "./probes.ts";
import { checkPaces } from "./rules/timing.ts";

/** Sends all probes to an endpoint. Throws `NoAnswer` when no server responds. */
export async function checkEndpoint(target: CheckTarget): Promise<CheckResult[]> {
  const findings = createFindings();
  const probe = createProbe(target, findings);
  // A server that refuses every run would pass every check for refusals.
  if (!(await checkRuns(probe))) return findings.results();
  const isAlive = await checkRefusals(probe);
  // Last: a server that falls here takes nothing else with it.
  if (isAlive) await checkLeaving(probe);
  checkPaces(probe.paces, findings);
  return findings.results();
}
