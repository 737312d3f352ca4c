// `node bench/simulate.mjs [--speaking 0.2] [--rate 30] …`: what a number of open streams needs, by the
// figures of bench/results/latest.json. Every assumption is an option.
import { parseArgs } from "node:util";
import { assumptions, readRecord, showSimulation } from "./lib/report/simulation.mjs";

const options = Object.fromEntries(
  Object.keys(assumptions).map((name) => [name, { type: "string" }]),
);
const { values } = parseArgs({ options });
const given = { ...assumptions };
for (const [name, text] of Object.entries(values)) {
  if (!(Number(text) > 0)) {
    console.error(`--${name} takes a number over 0, not "${String(text)}".`);
    process.exit(1);
  }
  given[name] = Number(text);
}
console.log(showSimulation(readRecord(), given));
