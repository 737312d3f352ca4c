// `npm run mutate [-- areas] [files]`: changes one line of the code that is trusted most, and runs the tests that reach it: do
// they notice? Ends with a figure per area. What survives is listed with a reason in mutate/survivors.json; a
// survivor that is not listed there, or a figure below 90 %, is a failure. Takes minutes; what did not change since
// the last time is not tried again. A file is a source of an area, or the end of its path without `.ts`.
import { install, requireNode } from "./lib/install.mjs";
import { seconds } from "./lib/process.mjs";
import { readJson } from "./lib/workspace.mjs";

requireNode();
await install();

// Only now: these need what was installed.
const { areas, mutantsOf } = await import("./mutate/areas.mjs");
const { createOutcomes } = await import("./mutate/outcomes.mjs");
const { tryMutants } = await import("./mutate/try-mutants.mjs");
const { judge } = await import("./mutate/judge.mjs");
const { tsImport } = await import("tsx/esm/api");
const { locate, remedy } = await tsImport("./test-support/services.ts", import.meta.url);

const isArea = (name) => Object.hasOwn(areas, name);
const isFile = (name) => (file) => file.endsWith(`/${name}.ts`) || file === name;
const wanted = process.argv.slice(2).filter(isArea);
const wantedFiles = process.argv.slice(2).filter((name) => !isArea(name));
const sources = Object.values(areas).flatMap((area) => area.sources);
const unknown = wantedFiles.filter((name) => !sources.some(isFile(name)));
if (unknown.length > 0) {
  const known = Object.keys(areas).join(", ");
  console.error(`No area and no source of one: ${unknown.join(", ")}. The areas: ${known}.`);
  process.exit(1);
}
for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, () => process.exit(1));

const listed = readJson(new URL("mutate/survivors.json", import.meta.url));
let failed = 0;
const isChosen = (file) =>
  wantedFiles.length === 0 || wantedFiles.some((name) => isFile(name)(file));
const chosen = Object.keys(areas).filter(
  (area) => (wanted.length === 0 || wanted.includes(area)) && areas[area].sources.some(isChosen),
);
for (const area of chosen) {
  const { service } = areas[area];
  if (service && locate(service) === undefined) {
    console.log(`NOT RUN: ${area}. It needs ${service}: ${remedy}.`);
    continue;
  }
  const { lines, isGood } = judge({ area, listed, ...(await tryArea(area)) });
  if (!isGood) failed += 1;
  console.log(lines.join("\n"));
}
process.exit(failed === 0 ? 0 : 1);

/** The mutants of an area, and those of them that no test noticed. */
async function tryArea(area) {
  const mutants = mutantsOf(areas[area]).filter(({ file }) => isChosen(file));
  const outcomes = createOutcomes(area);
  const byId = new Map(mutants.map((mutant) => [mutant.id, mutant]));
  const isKilled = (mutant) =>
    areas[area].tests.some((test) => outcomes.find(mutant, test)?.outcome === "killed");
  for (const test of areas[area].tests) {
    const todo = mutants.filter(
      (mutant) => !isKilled(mutant) && isOpen(outcomes.find(mutant, test)),
    );
    if (todo.length === 0) continue;
    const started = Date.now();
    let killed = 0;
    await tryMutants({
      area,
      test,
      mutants: todo.map(({ id }) => id),
      onOutcome(id, outcome) {
        if (outcome.outcome === "killed") killed += 1;
        outcomes.add(byId.get(id), test, outcome);
      },
    });
    console.log(`${area}: ${killed} of ${todo.length} killed by ${test} (${seconds(started)})`);
  }
  return { mutants, survivors: mutants.filter((mutant) => !isKilled(mutant)) };
}

function isOpen(known) {
  return known === undefined || known.outcome === "unsure";
}
