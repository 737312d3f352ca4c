import { EventType } from "@ag-ui/core";
import type { BaseEvent, Message } from "@ag-ui/core";
import { PROTOCOL_VERSION } from "../base/protocol-version.ts";
import { noOffset } from "../delta/merged-entry.ts";
import type { SizedEntry } from "../delta/merged-entry.ts";
import { sizeOfEvent } from "../delta/event-size.ts";
import type { RunView } from "./run-view.ts";

/**
 * What a client receives that joins in the middle: a valid beginning, snapshots of the past, and STARTs of
 * the parts that are still open. Re-streaming the past would append it to what the client has.
 * Only the last entry has an offset: a client that resumes from a cut prelude starts over.
 */
export function toPrelude(
  { threadId, runId }: { threadId: string; runId: string },
  view: Pick<RunView, "messages" | "state" | "open" | "isReordered">,
  place: { offset: number; at: number },
): SizedEntry[] {
  const begin = {
    type: EventType.RUN_STARTED,
    threadId,
    runId,
    protocolVersion: PROTOCOL_VERSION,
  };
  const open = view.open().map(withoutMetadata);
  const past: BaseEvent[] = [
    { type: EventType.MESSAGES_SNAPSHOT, messages: view.messages },
    { type: EventType.STATE_SNAPSHOT, snapshot: view.state ?? null },
    ...view.messages.flatMap(toActivity),
  ];
  // An open part may have been removed from the messages: then its START must not add it again.
  const events: BaseEvent[] = view.isReordered
    ? [begin, ...open, toClearing(view.messages), ...past]
    : [begin, ...past, ...open];
  const { offset, at } = place;
  return events.map((event, index) => {
    const to = index === events.length - 1 ? offset : noOffset;
    return { from: to, to, at, event, size: sizeOfEvent(event) };
  });
}

// A client updates the messages it has in place and appends the others. One that may have them in another
// order has to drop them first. Reasoning and activities are only dropped for others of their kind; those
// are replaced by the next snapshot, which has the real ones.
function toClearing(messages: readonly Message[]): BaseEvent {
  const has = (role: Message["role"]): boolean => messages.some((message) => message.role === role);
  const instead: Message[] = [];
  if (has("reasoning")) instead.push({ id: "join-reasoning", role: "reasoning", content: "" });
  if (has("activity")) {
    instead.push({ id: "join-activity", role: "activity", activityType: "join", content: {} });
  }
  return { type: EventType.MESSAGES_SNAPSHOT, messages: instead };
}

// The metadata is in the snapshot, together with later changes of it.
function withoutMetadata(event: BaseEvent): BaseEvent {
  const { metadata: _metadata, ...rest } = event;
  return rest;
}

// For clients that keep their activities over a snapshot: the newest content of each. An activity of a
// subagent would lose its owner, which may have ended.
function toActivity(message: Message): BaseEvent[] {
  if (message.role !== "activity" || message.subagentRunId !== undefined) return [];
  const { id, activityType, content } = message;
  return [
    { type: EventType.ACTIVITY_SNAPSHOT, messageId: id, activityType, content, replace: true },
  ];
}
