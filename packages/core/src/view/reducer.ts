import type { BaseEvent, Message } from "@ag-ui/core";
import { Fold } from "./fold/fold.ts";
import type { OpenPart } from "./open-parts.ts";

export interface ReducerOptions {
  /**
   * Once a run has sent more than this, deltas are dropped and their messages get
   * `metadata.truncated`; from twice as much on, no new message is started. By default there is no
   * limit.
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
  /**
   * True once a message was placed before an older one, or a message or one of its calls was removed.
   */
  readonly isReordered: boolean;
  /** The open parts, in the order in which a late client must receive them. */
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
  // The caller may keep using the list.
  return foldOver(initial.slice(), options);
}

/** The same over a list that is not changed afterwards. */
export function foldOver(
  initial: readonly Message[],
  { maxBytes = Infinity, open }: ReducerOptions,
): Reducer {
  const fold = new Fold(initial, maxBytes);
  if (open) fold.resume(open);
  return fold;
}
