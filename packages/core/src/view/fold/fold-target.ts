import type { Message, Metadata } from "@ag-ui/core";
import type { MessageList, Slot } from "../message-list.ts";

/** A message without content still costs its id, its role and its place. */
export const bytesPerMessage = 64;

/** What the rules of a fold share: its list and its budget. */
export interface FoldTarget {
  readonly list: MessageList;
  /** What was charged for. */
  bytes: number;
  /** A message came to stand before an older one, or one or a call of one was taken away. */
  isReordered: boolean;
  /** False when the budget is used up; then nothing is charged. */
  charge(size: number): boolean;
  /** Nothing new is begun. */
  isFull(): boolean;
  /** Adds a message. */
  begin(message: Message): Slot;
  merge(target: { metadata?: Metadata }, metadata: Metadata | undefined): void;
  describe(slot: Slot | undefined, metadata: Metadata | undefined): void;
}

/** Marks what has lost some of its content to the budget. */
export function truncate(target: { metadata?: Metadata }): void {
  if (target.metadata?.truncated !== true)
    target.metadata = { ...target.metadata, truncated: true };
}

/** Attributes a message to the subagent of its event. */
export function tag(message: Message, { subagentRunId }: { subagentRunId?: string }): void {
  if (subagentRunId !== undefined) message.subagentRunId = subagentRunId;
}
