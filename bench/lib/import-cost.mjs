import { execFileSync } from "node:child_process";
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";

const bench = dirname(dirname(fileURLToPath(import.meta.url)));

/** Microseconds of CPU that a fresh process needs to import a package. */
export function importCost(name) {
  const script = `const before = process.cpuUsage();
await import(${JSON.stringify(name)});
const { user, system } = process.cpuUsage(before);
console.log(user + system);`;
  return Number(evaluate(script));
}

/** What a module prints that runs in a fresh process of the bench's folder. */
export function evaluate(script) {
  const env = { ...process.env, NODE_OPTIONS: "" };
  const args = [...process.execArgv, "--input-type=module", "--eval", script];
  return execFileSync(process.execPath, args, { cwd: bench, env, encoding: "utf8" }).trim();
}
