import { readFileSync } from "node:fs";

/**
 * The processor time of this process and of those that it has started (files are read in one), in ms: how busy the
 * machine is does not count. Other systems than Linux show that of this process only.
 */
export function cpuTime(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000 + startedTime();
}

// The system counts it in hundredths of a second.
const tickMs = 10;

function startedTime(): number {
  if (process.platform !== "linux") return 0;
  // Processes belong to the thread that has started them.
  const started = readText(`/proc/self/task/${process.pid}/children`).split(" ").filter(Boolean);
  return started.reduce((sum, pid) => sum + ticksOf(pid) * tickMs, 0);
}

function ticksOf(pid: string): number {
  // The second member is the name of the program, which may have blanks in it.
  const members = readText(`/proc/${pid}/stat`).split(") ").at(-1)!.split(" ");
  return Number(members[11] ?? 0) + Number(members[12] ?? 0);
}

function readText(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    // It has ended.
    return "";
  }
}
