import type { BaseEvent, Message } from "@ag-ui/core";
import { Fold } from "./fold/fold.ts";
import type { OpenPart } from "./open-parts.ts";

export interface ReducerOptions {
  /**
   * Once a run has told more than this, deltas are no longer kept, and what they belong to gets
   * `metadata.truncated`; from twice as much on, nothing new is begun. By default there is no limit.
   */
  maxBytes?: number;
  /** The STARTs of what is open already; the messages know of it. */
  open?: readonly BaseEvent[];
}

/** Folds the events of a run into messages. */
export interface Reducer {
  /** Takes the next event of a guarded run. Unknown types are ignored. */
  apply(event: BaseEvent): void;
  /** The conversation now. What was read never changes. */
  readonly messages: readonly Message[];
  /** Roughly what the run has added. */
  readonly bytes: number;
  /** True once a message came to stand before an older one, or one or a call of one was taken away. */
  readonly isReordered: boolean;
  /** What is open, in the order in which a late client must be told. */
  open(): readonly OpenPart[];
}

/**
 * Folds events into messages exactly as AG-UI's own client does.
 *
 * @example
 * ```ts
 * const reducer = createReducer(input.messages);
 * for (const event of events) reducer.apply(event);
 * reducer.messages;
 * ```
 */
export function createReducer(
  initial: readonly Message[] = [],
  options: ReducerOptions = {},
): Reducer {
  // Who gave the list may go on with it.
  return foldOver(initial.slice(), options);
}

/** The same over a list that nobody changes any more. */
export function foldOver(
  initial: readonly Message[],
  { maxBytes = Infinity, open }: ReducerOptions,
): Reducer {
  const fold = new Fold(initial, maxBytes);
  if (open) fold.resume(open);
  return fold;
}
