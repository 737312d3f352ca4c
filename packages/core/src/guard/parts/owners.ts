import type { EventSink, LooseEvent } from "../shapes.ts";
import type { Owner } from "./known.ts";
import type { PartRecords } from "./part-records.ts";

/**
 * The start of a call without a parent of another owner: a call lives in the message that carries it, so both
 * must have one owner.
 */
export function settleParent(event: LooseEvent, records: PartRecords, exit: EventSink): LooseEvent {
  const parent = event.parentMessageId;
  if (parent === undefined) return event;
  const carrier = records.ownerOf("messageOwner", parent);
  if (carrier === null) return event;
  const owner = event.subagentRunId ?? records.ownerOf("toolOwner", event.toolCallId!);
  if (owner === null || owner === carrier) return event;
  exit.repair("wrong-owner");
  const { parentMessageId: _, ...rest } = event;
  return rest;
}

/** The event attributed to `owner`, on a copy unless it is already. */
export function withTag(event: LooseEvent, owner: Owner): LooseEvent {
  if (event.subagentRunId === owner) return event;
  if (owner === undefined) {
    const { subagentRunId: _, ...rest } = event;
    return rest;
  }
  // Added to the copy, not in the same literal: some engines make a new shape for each of those.
  const tagged: LooseEvent = { ...event };
  tagged.subagentRunId = owner;
  return tagged;
}
