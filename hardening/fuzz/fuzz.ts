import { createHash } from "node:crypto";
import { cpuTime } from "./cpu-time.ts";
import { createRandom, seedOf } from "./random.ts";
import type { Opened, Target } from "./target.ts";

export interface FuzzOptions {
  readonly seconds: number;
  readonly seed: number;
  /** Known inputs; all are fed first, and again when it is known what inputs usually take. The last is a usual one. */
  readonly corpus: readonly Uint8Array[];
  /** Those that new ones are made from. By default all of the corpus. */
  readonly parents?: readonly Uint8Array[];
  /** An input that is fed when it is known what inputs usually take. */
  readonly replay?: Uint8Array | undefined;
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
  const { seconds, seed, corpus, parents = corpus, replay, onInput, maxFinds = 5 } = options;
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
      // A collection of garbage falls on one input by chance, and not on the same one three times. What an input has
      // ended, such as the thread that read it, is started for another one.
      for (let again = 0; again < 2; again++) {
        for (const other of corpus.slice(-1)) await attempt(opened, other);
        ms = Math.min(ms, (await attempt(opened, input)).ms);
      }
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

  async function feedCorpus(): Promise<void> {
    for (const input of corpus) await feed(input, undefined);
  }

  try {
    await feedCorpus();
    if (replay) {
      while (!usual.isKnown() && corpus.length > 0) await feedCorpus();
      await feed(replay, undefined);
    }
    const end = performance.now() + seconds * 1000;
    let isTimed = usual.isKnown();
    for (let index = 0; performance.now() < end && finds.length < maxFinds; index++) {
      if (!isTimed && usual.isKnown()) {
        isTimed = true;
        await feedCorpus();
      }
      await feed(opened.generate(createRandom(seedOf(seed, index)), parents), index);
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

interface Usual {
  isKnown(): boolean;
  add(ms: number): void;
  shareOf(bytes: number): number;
}

// What inputs usually take, by the median of the last ones.
function createUsual(): Usual {
  const last: number[] = [];
  // The first ones compile what they use.
  const isKnown = (): boolean => last.length >= 20;
  return {
    isKnown,
    add(ms) {
      last.push(ms);
      if (last.length > 200) last.shift();
    },
    shareOf(bytes) {
      if (!isKnown()) return Infinity;
      const median = last.toSorted((a, b) => a - b)[last.length >> 1]!;
      return Math.max(leastMs, proportion * median * Math.max(1, bytes / 4_096));
    },
  };
}

/** The name of an input in the corpus. */
export function nameOf({ input, faults }: Pick<Find, "input" | "faults">): string {
  const kind = faults.some((fault) => fault.includes(" ms of CPU for ")) ? "slow" : "find";
  return `${kind}-${createHash("sha256").update(input).digest("hex").slice(0, 12)}`;
}

/** Whether new inputs are made from one of this name: those of slow ones would be slow, and only a few. */
export function isParent(name: string): boolean {
  return !name.startsWith("slow-");
}

function describe(reason: unknown): string {
  return reason instanceof Error ? (reason.stack ?? reason.message).slice(0, 600) : String(reason);
}
