import type { Answer } from "./ask.ts";

// A run that is over sooner than this may have been sent in one go for good reasons.
const slowMs = 250;

export type Pace = "streamed" | "buffered" | "too quick";

/** What the events of a run tell of when they were made. */
export interface Made {
  /** Their own timestamps. */
  readonly times: readonly number[];
  readonly deltas: number;
}

/** Whether the events of a run came as they were made. */
export function paceOf({ pieces, endedAt }: Answer, { times, deltas }: Made): Pace {
  const first = pieces[0]?.at ?? 0;
  const last = pieces.at(-1)?.at ?? 0;
  const made = times.length > 1 ? Math.max(...times) - Math.min(...times) : 0;
  if (made >= slowMs) return last - first < made / 4 ? "buffered" : "streamed";
  if (endedAt < slowMs) return "too quick";
  if (last - first >= endedAt / 10) return "streamed";
  // All of it came after a long silence. An answer in one piece may have been made in one.
  return times.length > 1 || deltas < 3 ? "too quick" : "buffered";
}
