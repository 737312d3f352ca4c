// Fuzzes one target, in a process that may hang or end.
import { readFileSync, writeFileSync } from "node:fs";
import { readCorpus, readParents } from "./corpus.ts";
import { fuzz } from "./fuzz.ts";
import { targets } from "./targets/index.ts";

/** What the child found; inputs are base64. */
export interface Done {
  readonly cases: number;
  readonly worst: number;
  readonly finds: readonly {
    input: string;
    index: number | undefined;
    faults: readonly string[];
  }[];
}

interface Task {
  readonly name: string;
  readonly seconds: number;
  readonly seed: number;
  /** The file that has the input that is being fed. */
  readonly last: string;
  readonly replay?: string;
}

const { name, seconds, seed, last, replay } = JSON.parse(process.env.FUZZ!) as Task;
const target = targets.find((one) => one.name === name)!;
const base64 = (bytes: Uint8Array): string => Buffer.from(bytes).toString("base64");
let cases = 0;
let reported = 0;
const report = await fuzz(target, {
  seed,
  seconds: replay === undefined ? seconds : 0,
  corpus: readCorpus(target),
  parents: readParents(target),
  replay: replay === undefined ? undefined : new Uint8Array(readFileSync(replay)),
  onInput(input, index) {
    writeFileSync(last, JSON.stringify({ index, input: base64(input) }));
    cases++;
    if (performance.now() - reported < 1000) return;
    reported = performance.now();
    process.send!({ alive: cases });
  },
});
const finds = report.finds.map(({ input, ...rest }) => ({ ...rest, input: base64(input) }));
process.send!({ cases: report.cases, worst: report.worst, finds } satisfies Done, () =>
  process.exit(0),
);
