import type { RecordedFrame } from "../../model.ts";
import { deltaOf } from "../events/entries.ts";
import type { Entry } from "../events/entries.ts";
import { outputTokens } from "../events/summary.ts";

const charsPerToken = 4;

/** How long an exchange took, and for what. Times are milliseconds since the request was sent. */
export interface Timing {
  readonly firstByte: number | undefined;
  readonly firstEvent: number | undefined;
  /** The first text, reasoning or arguments of a call. */
  readonly firstToken: number | undefined;
  /** When the last byte came, so far. */
  readonly lastByte: number | undefined;
  readonly tokens: number;
  /** The run reported no usage: a token was assumed to be four characters. */
  readonly isEstimate: boolean;
  readonly tokensPerSecond: number | undefined;
  readonly deltas: number;
  readonly deltasPerSecond: number | undefined;
  readonly longestGap: { readonly ms: number; readonly before: string } | undefined;
  readonly bytes: number;
  readonly events: number;
  /** How often each type came, most first. */
  readonly counts: readonly (readonly [type: string, count: number])[];
}

/** Measures an exchange by what came, and when; `dropped` are bytes that its frames have lost. */
export function measure(
  frames: readonly RecordedFrame[],
  entries: readonly Entry[],
  dropped = 0,
): Timing {
  const deltas = entries.filter(({ event }) => deltaOf(event));
  const chars = deltas.reduce((sum, { event }) => sum + deltaOf(event)!.length, 0);
  const reported = reportedTokens(entries);
  const tokens = reported ?? Math.ceil(chars / charsPerToken);
  const firstToken = deltas[0]?.at;
  // What came in one piece has no pace.
  const seconds = firstToken === undefined ? 0 : (deltas.at(-1)!.at - firstToken) / 1000;
  const perSecond = (count: number): number | undefined =>
    seconds > 0 ? count / seconds : undefined;
  return {
    firstByte: frames[0]?.at,
    firstEvent: entries[0]?.at,
    firstToken,
    lastByte: frames.at(-1)?.at,
    tokens,
    isEstimate: reported === undefined,
    tokensPerSecond: perSecond(tokens),
    deltas: deltas.length,
    deltasPerSecond: perSecond(deltas.length),
    longestGap: longestGap(entries),
    bytes: frames.reduce((sum, { bytes }) => sum + bytes.length, dropped),
    events: entries.length,
    counts: countTypes(entries),
  };
}

/** How many deltas came in each of `count` equal parts of the time from the request to the last byte. */
export function deltasOverTime(entries: readonly Entry[], end: number, count: number): number[] {
  const buckets = Array.from({ length: count }, () => 0);
  for (const { at, event } of entries) {
    if (!deltaOf(event)) continue;
    const place = end > 0 ? Math.floor((at / end) * count) : 0;
    buckets[Math.min(place, count - 1)]! += 1;
  }
  return buckets;
}

function reportedTokens(entries: readonly Entry[]): number | undefined {
  const end = entries.findLast(({ event }) => /^RUN_(?:FINISHED|ERROR)$/.test(event.type));
  return outputTokens((end?.event as { usage?: unknown } | undefined)?.usage);
}

function longestGap(entries: readonly Entry[]): Timing["longestGap"] {
  let longest: Timing["longestGap"];
  for (const { gap, event } of entries) {
    if (!longest || gap > longest.ms) longest = { ms: gap, before: event.type };
  }
  return longest;
}

function countTypes(entries: readonly Entry[]): [string, number][] {
  const counts = new Map<string, number>();
  for (const { event } of entries) counts.set(event.type, (counts.get(event.type) ?? 0) + 1);
  return [...counts].sort((one, other) => other[1] - one[1] || (one[0] < other[0] ? -1 : 1));
}
