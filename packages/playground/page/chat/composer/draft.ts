import { signal } from "@preact/signals";
import type { Signal } from "@preact/signals";

/** What is to be written into the box: a question to be edited. */
export interface Draft {
  readonly text: string;
  readonly files: readonly File[];
  /** The message that it takes the place of. */
  readonly replaces: string;
}

export const draft: Signal<Draft | undefined> = signal(undefined);
