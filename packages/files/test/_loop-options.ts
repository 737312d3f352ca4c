/** What the parent asks for. */
export type LoopQuestion = "begin" | "end";

/** What it is told. */
export type LoopAnswer = { readonly url: string } | Work | "begun";

/** Times at work, in ms. */
export interface Work {
  /** Of the event loop's thread. */
  readonly loopMs: number;
  /** Of all other threads. */
  readonly otherMs: number;
  /** What one turn of the event loop in a hundred exceeds. */
  readonly p99Ms: number;
  /** The longest turn. */
  readonly longestMs: number;
}
