import type { Message } from "@ag-ui/core";
import type { LooseEvent } from "../shapes.ts";
import type { PartKind } from "./known.ts";

/** What a middleware took out of a run: the agent began it, and nothing of it came through. */
export interface TakenParts {
  isTaken(kind: PartKind, id: string): boolean;
}

/** The end of a run without the calls that were taken out. */
export function withoutTakenCalls(event: LooseEvent, parts: TakenParts): LooseEvent {
  const outcome = event.outcome as { pendingToolCallIds?: readonly string[] } | undefined;
  const ids = outcome?.pendingToolCallIds;
  if (!ids?.some((id) => parts.isTaken("tool", id))) return event;
  const pendingToolCallIds = ids.filter((id) => !parts.isTaken("tool", id));
  return { ...event, outcome: { ...outcome, pendingToolCallIds } };
}

/** A message of a snapshot without what was taken out; an empty list when nothing of it is left. */
export function withoutTakenParts(message: Message, parts: TakenParts): Message[] {
  const { id, role } = message;
  if (role === "tool") return parts.isTaken("tool", message.toolCallId) ? [] : [message];
  const kind = role === "reasoning" ? "reasoning" : "text";
  const isTaken = role !== "activity" && parts.isTaken(kind, id);
  if (role !== "assistant" || !message.toolCalls) return isTaken ? [] : [message];
  const calls = message.toolCalls.filter((call) => !parts.isTaken("tool", call.id));
  if (!isTaken && calls.length === message.toolCalls.length) return [message];
  const { toolCalls: _, content, ...rest } = message;
  const text = isTaken || content === undefined ? {} : { content };
  if (calls.length === 0 && !text.content) return [];
  return [{ ...rest, ...text, ...(calls.length > 0 && { toolCalls: calls }) }];
}
