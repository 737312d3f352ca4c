import type { ExtractJob } from "../job.ts";

/** What reading a file may take. */
export interface Allowance {
  readonly timeoutMs: number;
  /** What the process may grow by. */
  readonly memoryBytes: number;
}

const wholeBytes = 256 * 1024;
const leastTime = 1 / 4;
// With a quarter of the default, ten thousand pages could not be read on Node 24.
const leastMemory = 1 / 2;

/**
 * A PDF of a few kilobytes can claim a font with four billion characters, or a million pages, and the reader of PDFs
 * believes it: a small one has a part of time and memory only. The readers of Office files are linear and have a limit
 * for what they unpack.
 */
export function allowanceOf({ kind, from }: ExtractJob, whole: Allowance): Allowance {
  if (kind !== "pdf" || typeof from === "string") return whole;
  const size = Math.min(1, from.byteLength / wholeBytes);
  return {
    timeoutMs: whole.timeoutMs * Math.max(leastTime, size),
    memoryBytes: whole.memoryBytes * Math.max(leastMemory, size),
  };
}
