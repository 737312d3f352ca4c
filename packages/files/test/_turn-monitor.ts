import { openSync, readSync } from "node:fs";
import type { Work } from "./_loop-options.ts";

/** How much this process works, between two moments. */
export interface TurnMonitor {
  begin(): void;
  end(): Work;
}

export function createTurnMonitor(): TurnMonitor {
  const now = createThreadClock();
  let turns: number[] = [];
  let began = { thread: 0, process: process.cpuUsage() };
  let last = 0;
  let timer: NodeJS.Timeout | undefined;
  const look = (): void => {
    const at = now();
    turns.push(at - last);
    last = at;
  };
  return {
    begin() {
      turns = [];
      last = now();
      began = { thread: last, process: process.cpuUsage() };
      timer = setInterval(look, 1);
    },
    end() {
      clearInterval(timer);
      const thread = now() - began.thread;
      const { user, system } = process.cpuUsage(began.process);
      const otherMs = (user + system) / 1_000 - thread;
      turns.sort((one, other) => one - other);
      const p99Ms = turns[Math.floor(turns.length * 0.99)] ?? 0;
      return { loopMs: thread, otherMs, p99Ms, longestMs: turns.at(-1) ?? 0 };
    },
  };
}

/**
 * The time that the main thread has been at work, in ms: it does not depend on what else the machine does. Where the
 * system does not show it, the time that has passed.
 */
function createThreadClock(): () => number {
  if (process.platform !== "linux") return () => performance.now();
  const file = openSync(`/proc/self/task/${process.pid}/schedstat`, "r");
  const bytes = Buffer.alloc(100);
  return () => {
    const length = readSync(file, bytes, 0, bytes.length, 0);
    return Number(bytes.toString("latin1", 0, length).split(" ", 1)[0]) / 1e6;
  };
}
