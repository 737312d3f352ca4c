import { isRecord, own } from "../../json/record.ts";
import type { Message, MessagesSnapshotEvent } from "@ag-ui/core";
import type { FoldTarget } from "./fold-target.ts";
import type { Slot } from "../message-list.ts";
import { callsIn } from "../../base/calls-in.ts";
import { sizeOf } from "../../json/size.ts";

/** Takes the messages of a snapshot, and charges for those of the run again. */
export function takeSnapshot(fold: FoldTarget, event: MessagesSnapshotEvent): void {
  const merged = mergeSnapshot(fold.list.slots, event);
  const stayed = new Set(merged.flatMap(namesIn));
  fold.isReordered ||= fold.list.slots.flatMap(namesIn).some((name) => !stayed.has(name));
  fold.list.reset(merged);
  fold.bytes = 0;
  for (const { message, isHistory } of fold.list.slots)
    if (!isHistory) fold.bytes += sizeOf(message);
}

/**
 * Applies MESSAGES_SNAPSHOT: known ids are replaced in place, unknown ones are appended, absent
 * ones are removed. Reasoning and activities stay unless the snapshot includes them.
 */
function mergeSnapshot(slots: readonly Slot[], event: MessagesSnapshotEvent): Slot[] {
  const snapshot = new Map(event.messages.map((message) => [message.id, message]));
  const ownsReasoning = event.messages.some(({ role }) => role === "reasoning");
  const ownsActivity = ownedActivities(event);
  const known = new Set<string>();
  const merged: Slot[] = [];
  for (const slot of slots) {
    const { message, isHistory } = slot;
    const next = snapshot.get(message.id);
    const stays =
      (message.role === "reasoning" && !ownsReasoning) ||
      (message.role === "activity" && !ownsActivity(message.activityType));
    if (!next && !stays) continue;
    known.add(message.id);
    merged.push(next ? toSlot(next, isHistory) : slot);
  }
  for (const message of event.messages) {
    if (!known.has(message.id)) merged.push(toSlot(message, false));
  }
  return merged;
}

// The messages belong to the event: the first change must copy them.
function toSlot(message: Message, isHistory: boolean): Slot {
  return { message, generation: -1, isHistory };
}

/** Which absent activities a snapshot removes; a producer may list them in its metadata. */
function ownedActivities({ messages, metadata }: MessagesSnapshotEvent): (type: string) => boolean {
  const note = isRecord(metadata) ? own(metadata, "@ag-ui/client") : undefined;
  const types = isRecord(note) ? own(note, "authoritativeActivityTypes") : undefined;
  if (types === null) return () => true;
  if (note === undefined || (types === undefined && isRecord(note))) {
    const hasActivity = messages.some(({ role }) => role === "activity");
    return () => hasActivity;
  }
  const isList = Array.isArray(types) && types.every((type) => typeof type === "string");
  return (type) => isList && types.includes(type);
}

/** The ids of a message and of its calls. */
function namesIn({ message }: Slot): string[] {
  return [message.id, ...callsIn(message).map(({ id }) => id)];
}
