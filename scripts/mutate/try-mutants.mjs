// Runs one test file on many mutants, in a process that is ended when a mutant never ends.
import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { childEnv } from "../lib/process.mjs";
import { bin, root } from "../lib/workspace.mjs";

// A mutant that never ends waits or works. It has this long to wait, as has the run without a mutant; how long it may
// work is the time of its process alone, which a busy machine does not change.
const waitMs = 600_000;

/**
 * Calls `onOutcome(id, { outcome, by })` for each of the mutants: killed, survived, unreached, or unsure when the test
 * file takes too long without it as well. Throws when the file fails without a mutant.
 */
export async function tryMutants({ area, test, mutants, onOutcome }) {
  let left = mutants;
  while (left.length > 0) {
    const done = new Set();
    const hung = await tryOnce({
      job: { area, test, mutants: left },
      onOutcome(id, outcome) {
        done.add(id);
        onOutcome(id, outcome);
      },
    });
    if (hung !== undefined) {
      done.add(hung);
      onOutcome(hung, { outcome: "killed", by: "It never ends." });
    }
    if (done.size === 0) throw new Error(`${test} ended before it tried a mutant.`);
    left = left.filter((id) => !done.has(id));
  }
}

// Returns the mutant that was tried when the process had to be ended; undefined when it ended by itself.
async function tryOnce({ job, onOutcome }) {
  const folder = mkdtempSync(join(tmpdir(), "holodeck-mutants-"));
  const results = join(folder, "results.jsonl");
  const file = join(folder, "job.json");
  writeFileSync(results, "");
  writeFileSync(file, JSON.stringify({ ...job, results }));
  const vitest = start(file);
  let read = 0;
  let current;
  let deadline = Date.now() + waitMs;
  let working = { pid: undefined, until: Infinity };
  let isHung = false;
  let broken = "";
  const look = () => {
    const lines = readFileSync(results, "utf8").split("\n").slice(0, -1);
    for (const line of lines.slice(read)) {
      const { id, pid, workMs, outcome, by, broken: reason } = JSON.parse(line);
      if (reason !== undefined) broken = reason;
      deadline = Date.now() + waitMs;
      if (workMs !== undefined) {
        current = id;
        working = { pid, until: workedMs(pid) + workMs };
      } else if (outcome !== undefined) {
        current = undefined;
        working = { pid, until: Infinity };
        onOutcome(id, { outcome, by });
      }
    }
    read = lines.length;
    const isOver = Date.now() > deadline || workedMs(working.pid) > working.until;
    if (isOver && !isHung) {
      isHung = true;
      vitest.end();
    }
  };
  const timer = setInterval(look, 200);
  const output = await vitest.ended;
  clearInterval(timer);
  look();
  rmSync(folder, { recursive: true, force: true });
  if (broken !== "") throw new Error(`${job.test} fails without a mutant: ${broken}`);
  if (read === 0) throw new Error(`${job.test} did not run:\n${output}`);
  // A mutant that ended the process is as dead as one that never ends.
  return current;
}

// How long a process has been at work. Where the system does not show it, the time that has passed.
function workedMs(pid) {
  if (process.platform !== "linux") return Date.now();
  try {
    const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1].split(" ");
    // Its threads', in hundredths of a second.
    return (Number(fields[11]) + Number(fields[12])) * 10;
  } catch {
    return 0;
  }
}

// Properties are tried on few cases: the same for each mutant, and enough for a fault that is common.
const fewCases = { GUARD_RUNS: "25", FORGED_RUNS: "10", SERVER_RUNS: "5" };

// In a process group of its own, with the servers that the tests start.
function start(file) {
  const config = join("scripts", "mutate", "vitest.config.mjs");
  const [command, ...args] = [...bin("vitest", "vitest.mjs"), "run", "--config", config];
  const child = spawn(command, args, {
    cwd: root,
    env: childEnv({ ...fewCases, MUTATE_JOB: file, NO_COLOR: "1", FORCE_COLOR: undefined }),
    stdio: ["ignore", "pipe", "pipe"],
    detached: true,
  });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.on("data", (chunk) => (output = (output + chunk).slice(-20_000)));
  }
  const end = () => {
    try {
      if (child.pid !== undefined) process.kill(-child.pid, "SIGKILL");
    } catch {
      // It has ended.
    }
  };
  process.once("exit", end);
  const ended = new Promise((resolve) => {
    child.on("close", () => {
      process.off("exit", end);
      end();
      resolve(output);
    });
  });
  return { ended, end };
}
