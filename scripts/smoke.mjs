// `npm run smoke [-- names]`: a short run of each family of checks, or of the named ones.
import { families } from "./families.mjs";
import { install, requireNode } from "./lib/install.mjs";
import { run, seconds } from "./lib/process.mjs";

requireNode();
await install();

const names = process.argv.slice(2);
const unknown = names.filter((name) => !families.some((family) => family.name === name));
if (unknown.length > 0) {
  const known = families.map(({ name }) => name).join(", ");
  console.error(`No family ${unknown.join(", ")}. There are: ${known}.`);
  process.exit(1);
}

const chosen = families.filter(({ name }) => names.length === 0 || names.includes(name));
let failed = 0;
for (const { name, shows, command, env = {}, minutes } of chosen) {
  const started = Date.now();
  const { code, output } = await run(command(), { env, timeoutMs: minutes * 60_000 });
  if (code !== 0) failed += 1;
  const outcome = code === 0 ? "ok" : "FAIL";
  console.log(`${outcome} ${name}: ${shows} (${seconds(started)})`);
  if (code !== 0) console.log(output.trimEnd().replaceAll(/^/gm, "    "));
}
console.log(`families: ${chosen.length - failed} passed, ${failed} failed`);
process.exit(failed === 0 ? 0 : 1);
