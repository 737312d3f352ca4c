/** What the parent asks for. */
export type LoopQuestion = "begin" | "end";

/** What it is told. */
export type LoopAnswer = { readonly url: string } | { readonly p99: number } | "begun";

/** The finest that Node's histogram counts in; it is part of every value. */
export const resolutionMs = 1;
