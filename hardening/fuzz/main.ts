// `npm run fuzz -- --seconds 10 [targets]`. Each target has a process, so that one that hangs or ends is a find as others.
import { fork } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { keep, readCorpus } from "./corpus.ts";
import { targets } from "./targets/index.ts";
import type { Target } from "./target.ts";
import type { Done } from "./child.ts";

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    seconds: { type: "string", default: "10" },
    seed: { type: "string" },
    replay: { type: "string" },
  },
});
const seconds = Number(values.seconds);
const seed = values.seed === undefined ? Date.now() % 1_000_000_000 : Number(values.seed);
const unknown = positionals.filter((name) => !targets.some((target) => target.name === name));
if (unknown.length > 0 || !Number.isFinite(seconds) || !Number.isInteger(seed)) {
  const names = targets.map(({ name }) => name).join(", ");
  console.error(
    `Usage: npm run fuzz -- [--seconds 10] [--seed 1] [--replay file target] [targets]`,
  );
  console.error(`Targets: ${names}.${unknown.length > 0 ? ` There is no ${unknown.join()}.` : ""}`);
  process.exit(2);
}

const chosen = targets.filter(({ name }) => positionals.length === 0 || positionals.includes(name));
const silentMs = 60_000;
// On a busy machine it takes long until a child has loaded what it needs.
const startMs = 600_000;
const scratch = mkdtempSync(join(tmpdir(), "agui-fuzz-"));
let failed = 0;

console.log(`seed ${seed}, ${seconds} s each`);
console.log("target      cases  corpus  worst  finds");
for (const target of chosen) {
  const done = await fuzzInChild(target);
  const known = values.replay === undefined ? readCorpus(target).length : 1;
  const cells = [done.cases, known, `${Math.round(done.worst * 100)} %`, done.finds.length];
  console.log(`${target.name.padEnd(9)} ${cells.map((cell) => String(cell).padStart(7)).join("")}`);
  for (const { input, index, faults } of done.finds) {
    failed++;
    const bytes = new Uint8Array(Buffer.from(input, "base64"));
    const place = index === undefined ? "of the corpus" : `case ${index} of seed ${seed}`;
    console.log(`  ${place}, ${bytes.length} bytes: ${faults.join("\n    ")}`);
    // It ended before its first input.
    if (bytes.length === 0) continue;
    const file = values.replay ?? keep(target, { input: bytes, faults });
    console.log(`  again: npm run fuzz -- --replay ${file} ${target.name}`);
  }
}
rmSync(scratch, { recursive: true, force: true });
console.log(`fuzz: ${chosen.length} targets, ${failed} finds`);
process.exit(failed === 0 ? 0 : 1);

/** Runs a target in a child. Its last input is the find when it ends early, or does nothing for a minute. */
async function fuzzInChild({ name }: Target): Promise<Done> {
  const last = join(scratch, name);
  const child = fork(fileURLToPath(new URL("child.ts", import.meta.url)), [], {
    execArgv: [...process.execArgv, "--max-old-space-size=1024"],
    env: {
      ...process.env,
      FUZZ: JSON.stringify({ name, seconds, seed, last, replay: values.replay }),
    },
  });
  return new Promise((resolve) => {
    let cases = 0;
    let timer = setTimeout(hang, startMs, startMs);
    let why = "the process ended";
    function hang(ms: number): void {
      why = `nothing for ${ms / 1000} s`;
      child.kill("SIGKILL");
    }
    let done: Done | undefined;
    child.on("message", (message: Done | { alive: number }) => {
      clearTimeout(timer);
      timer = setTimeout(hang, silentMs, silentMs);
      if ("alive" in message) cases = message.alive;
      else done = message;
    });
    child.once("exit", (code) => {
      clearTimeout(timer);
      resolve(done ?? lost(child, { cases, last, why: `${why} (${code})` }));
    });
  });
}

function lost(_child: ChildProcess, facts: { cases: number; last: string; why: string }): Done {
  const { cases, last, why } = facts;
  const [index, input] = readLast(last);
  return { cases, worst: 0, finds: [{ input, index, faults: [why] }] };
}

function readLast(path: string): [index: number | undefined, input: string] {
  try {
    const { index, input } = JSON.parse(readFileSync(path, "utf8")) as {
      index: number;
      input: string;
    };
    return [index < 0 ? undefined : index, input];
  } catch {
    // It ended before its first input.
    return [undefined, ""];
  }
}
