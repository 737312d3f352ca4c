import type { BindingBench } from "./_binding-bench.ts";

export const mebibyte: number = 1024 * 1024;

/** What the cases of a binding are made with. */
export interface BindingKit {
  /** Made before the first case. */
  readonly bench: BindingBench;
  readonly errors: "problem" | "host";
}
