import type { Random } from "./random.ts";

/** Something that reads what others write. */
export interface Target {
  readonly name: string;
  /** Of its files in the corpus. */
  readonly extension: string;
  open(): Promise<Opened>;
}

/** A target that is ready to be fed. */
export interface Opened {
  /** A new input; `corpus` has known ones to start from. */
  generate(random: Random, corpus: readonly Uint8Array[]): Uint8Array;
  /** Feeds one input, and returns what is wrong with what came of it. */
  feed(input: Uint8Array): Promise<readonly string[]>;
  close(): Promise<void>;
}
