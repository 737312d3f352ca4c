// `npm run test:hosts [-- names]`: one list of checks, with real clients, against every host or the named ones.
// `--check name` puts one check, `--times` prints how long each took, `--write` writes the table of docs/hosts.md.
import { mkdirSync } from "node:fs";
import { parseArgs } from "node:util";
import { checks } from "./checks/index.ts";
import type { Check, Target } from "./checks/check.ts";
import { hosts } from "./hosts.ts";
import { bundleApp } from "./lib/bundle.ts";
import type { Host } from "./lib/launch.ts";
import { writeResults } from "./lib/page.ts";
import { cache } from "./lib/peers.ts";
import { startHost } from "./lib/start.ts";

const { values, positionals: names } = parseArgs({
  allowPositionals: true,
  options: {
    check: { type: "string", multiple: true },
    times: { type: "boolean" },
    write: { type: "boolean" },
  },
});
const unknown = names.filter((name) => !hosts.some((host) => host.name === name));
if (unknown.length > 0) {
  const known = hosts.map(({ name }) => name).join(", ");
  console.error(`No host ${unknown.join(", ")}. There are: ${known}.`);
  process.exit(2);
}
const chosen = hosts.filter(({ name }) => names.length === 0 || names.includes(name));
const usual = checks.filter(({ isLong }) => !isLong);
const wanted = values.check ? checks.filter(({ name }) => values.check?.includes(name)) : usual;
// A check that hangs is a failure.
const usualMs = 60_000;

// What a check does that was given up is not looked at.
process.on("unhandledRejection", () => undefined);
mkdirSync(cache, { recursive: true });
await bundleApp();
let failed = 0;
const results: Record<string, number> = {};
for (const host of chosen) failed += (await checkHost(host)) ? 0 : 1;
if (values.write) writeResults(results, { hosts, checks: usual });
console.log(`hosts: ${chosen.length - failed} passed, ${failed} failed`);
process.exit(failed === 0 ? 0 : 1);

async function checkHost(host: Host): Promise<boolean> {
  let started;
  try {
    started = await startHost(host);
  } catch (error) {
    console.log(`FAIL ${host.name}: it did not start. ${String(error)}`);
    return false;
  }
  const { target, output, stop } = started;
  const faults: string[] = [];
  const possible = wanted.filter(({ name }) => host.except?.[name] === undefined);
  for (const check of possible) {
    const begun = performance.now();
    const fault = await perform(check, target);
    if (values.times) console.log(`    ${check.name}: ${Math.round(performance.now() - begun)} ms`);
    if (fault !== undefined) faults.push(`    ${check.name}: ${fault}`);
  }
  await stop();
  results[host.name] = possible.length - faults.length;
  const count = `${possible.length - faults.length} of ${wanted.length}`;
  console.log(`${faults.length === 0 ? "ok" : "FAIL"} ${host.name}: ${count}`);
  if (faults.length > 0) console.log(`${faults.join("\n")}\n${output().slice(-3_000)}`);
  return faults.length === 0;
}

async function perform({ run, isLong }: Check, target: Target): Promise<string | undefined> {
  let timer: NodeJS.Timeout | undefined;
  const patienceMs = isLong ? 2 * usualMs : usualMs;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error(`No result in ${patienceMs} ms.`)), patienceMs);
  });
  try {
    await Promise.race([run(target), late]);
    return undefined;
  } catch (error) {
    if (!(error instanceof Error)) return String(error);
    const { message, cause } = error;
    return cause instanceof Error ? `${message} ${cause.message}` : message;
  } finally {
    clearTimeout(timer);
  }
}
