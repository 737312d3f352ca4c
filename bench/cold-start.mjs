// What importing the front door costs, against importing the whole of rxjs, in CPU of fresh
// processes. `--max 2` makes it a check: the ratio, and that nothing heavy is loaded at import.
import { parseArgs } from "node:util";
import { evaluate, importCost } from "./lib/import-cost.mjs";
import { median } from "./lib/stats.mjs";

const { values } = parseArgs({
  options: {
    max: { type: "string" },
    rounds: { type: "string", default: "9" },
  },
});
const rounds = Math.max(7, Number(values.rounds));
const ours = "@holodeck/agui";
const theirs = "rxjs";
const lazy = ["zod", "@ag-ui/encoder", "@ag-ui/proto"];

const cost = { [ours]: [], [theirs]: [] };
// One round each that does not count warms the disk; then in turns, so that noise hits both alike.
for (let round = -1; round < rounds; round += 1) {
  for (const name of [ours, theirs]) {
    const micros = importCost(name);
    if (round >= 0) cost[name].push(micros);
  }
}
const ratio = median(cost[ours]) / median(cost[theirs]);
for (const name of [ours, theirs]) {
  console.log(`import "${name}": ${(median(cost[name]) / 1000).toFixed(1)} ms of CPU`);
}
console.log(`ratio ${ratio.toFixed(2)} (median of ${rounds})`);

const loaded = modulesLoadedBy(ours);
const early = lazy.filter((name) =>
  loaded.some((url) => url.includes(`/node_modules/${name}/`) || url.includes(`/${name}/dist/`)),
);
console.log(
  `${loaded.length} modules loaded; of ${lazy.join(", ")}: ${early.join(", ") || "none"}`,
);

if (values.max !== undefined) {
  const faults = [];
  if (ratio > Number(values.max)) faults.push(`The ratio is over ${values.max}.`);
  if (early.length > 0) faults.push(`Loaded at import, and should not be: ${early.join(", ")}.`);
  if (loaded.length === 0) faults.push("No module was seen: the measurement is broken.");
  for (const fault of faults) console.error(fault);
  process.exitCode = faults.length === 0 ? 0 : 1;
}

// ES modules are seen by a resolve hook, CommonJS ones in the cache of `require`.
function modulesLoadedBy(name) {
  const hooks = `import { writeSync } from "node:fs";
export async function resolve(specifier, context, next) {
  const found = await next(specifier, context);
  writeSync(1, "loaded " + found.url + "\\n");
  return found;
}`;
  const script = `import { createRequire, register } from "node:module";
register(${JSON.stringify(`data:text/javascript,${encodeURIComponent(hooks)}`)});
await import(${JSON.stringify(name)});
const require = createRequire(process.cwd() + "/");
for (const file of Object.keys(require.cache)) console.log("loaded file://" + file);`;
  const output = evaluate(script);
  const urls = output.split("\n").filter((line) => line.startsWith("loaded file:"));
  return [...new Set(urls.map((line) => line.slice("loaded ".length)))];
}
