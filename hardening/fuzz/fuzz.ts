import { createHash } from "node:crypto";
import { cpuTime } from "./cpu-time.ts";
import { createRandom, seedOf } from "./random.ts";
import type { Opened, Target } from "./target.ts";

export interface FuzzOptions {
  readonly seconds: number;
  readonly seed: number;
  /** Known inputs; all are fed first. */
  readonly corpus: readonly Uint8Array[];
  /** Called before an input is fed: if the process ends, this was the last. */
  readonly onInput?: (input: Uint8Array, index: number) => void;
  /** Stops after so many kinds of faults. By default 5. */
  readonly maxFinds?: number;
}

interface Find {
  readonly input: Uint8Array;
  /** Its number with this seed; undefined for one of the corpus. */
  readonly index: number | undefined;
  readonly faults: readonly string[];
}

export interface FuzzReport {
  readonly target: string;
  readonly cases: number;
  /** The most CPU time that an input took, as a multiple of its share. */
  readonly worst: number;
  readonly finds: readonly Find[];
}

// An input may take this many times what the usual inputs of its target take, and as much for each of its bytes.
const proportion = 50;
const leastMs = 250;

/** Feeds a target until the time is over, or until it has failed often enough. */
export async function fuzz(target: Target, options: FuzzOptions): Promise<FuzzReport> {
  const { seconds, seed, corpus, onInput, maxFinds = 5 } = options;
  const opened = await target.open();
  const uncaught: string[] = [];
  const listen = (reason: unknown): void => void uncaught.push(`uncaught: ${describe(reason)}`);
  process.on("unhandledRejection", listen).on("uncaughtException", listen);
  const finds: Find[] = [];
  const known = new Set<string>();
  const usual = createUsual();
  let cases = 0;
  let worst = 0;

  async function feed(input: Uint8Array, index: number | undefined): Promise<void> {
    onInput?.(input, index ?? -1);
    uncaught.length = 0;
    const outcome = await attempt(opened, input);
    cases++;
    // Rejections are reported a turn later.
    await new Promise((resolve) => setImmediate(resolve));
    const faults = [...outcome.faults, ...uncaught];
    let ms = outcome.ms;
    const share = usual.shareOf(input.length);
    if (ms > share) {
      // A collection of garbage falls on one input by chance, and not on the same one three times.
      for (let again = 0; again < 2; again++) ms = Math.min(ms, (await attempt(opened, input)).ms);
      if (ms > share) faults.push(`${Math.round(ms)} ms of CPU for ${input.length} bytes`);
    }
    worst = Math.max(worst, ms / share);
    usual.add(ms);
    const kind = faults
      .join("\n")
      .replaceAll(/\d+|"[^"]*"/g, "")
      .slice(0, 160);
    if (faults.length === 0 || known.has(kind)) return;
    known.add(kind);
    finds.push({ input, index, faults });
  }

  try {
    for (const input of corpus) await feed(input, undefined);
    const end = performance.now() + seconds * 1000;
    for (let index = 0; performance.now() < end && finds.length < maxFinds; index++) {
      await feed(opened.generate(createRandom(seedOf(seed, index)), corpus), index);
    }
  } finally {
    process.off("unhandledRejection", listen).off("uncaughtException", listen);
    await opened.close();
  }
  return { target: target.name, cases, worst, finds };
}

async function attempt(
  opened: Opened,
  input: Uint8Array,
): Promise<{ faults: readonly string[]; ms: number }> {
  const begun = cpuTime();
  let faults: readonly string[];
  try {
    faults = await opened.feed(input);
  } catch (error) {
    faults = [`thrown: ${describe(error)}`];
  }
  return { faults, ms: cpuTime() - begun };
}

// What inputs usually take, by the median of the last ones.
function createUsual(): { add(ms: number): void; shareOf(bytes: number): number } {
  const last: number[] = [];
  return {
    add(ms) {
      last.push(ms);
      if (last.length > 200) last.shift();
    },
    shareOf(bytes) {
      // The first ones compile what they use.
      if (last.length < 20) return Infinity;
      const median = last.toSorted((a, b) => a - b)[last.length >> 1]!;
      return Math.max(leastMs, proportion * median * Math.max(1, bytes / 4_096));
    },
  };
}

/** The name of an input in the corpus. */
export function nameOf(input: Uint8Array): string {
  return `find-${createHash("sha256").update(input).digest("hex").slice(0, 12)}`;
}

function describe(reason: unknown): string {
  return reason instanceof Error ? (reason.stack ?? reason.message).slice(0, 600) : String(reason);
}
