import { isRecord } from "../../json/record.ts";
import type { ActivityDeltaEvent, ActivityMessage, ActivitySnapshotEvent } from "@ag-ui/core";
import { tag, truncate } from "./fold-target.ts";
import type { FoldTarget } from "./fold-target.ts";
import type { Slot } from "../message-list.ts";
import { applyPatch, PatchError } from "../../json/patch.ts";
import { sizeOf } from "../../json/size.ts";

export function showActivity(fold: FoldTarget, event: ActivitySnapshotEvent): void {
  const { messageId: id, activityType, content, replace = true } = event;
  let slot = fold.list.find(id);
  const isActivity = slot?.message.role === "activity";
  if (slot && !replace) {
    if (isActivity) fold.describe(slot, event.metadata);
    return;
  }
  if (!slot && fold.isFull()) return;
  const message: ActivityMessage = { id, role: "activity", activityType, content };
  tag(message, event);
  if (isActivity && slot!.message.metadata) message.metadata = slot!.message.metadata;
  fold.bytes -= slot ? activityBytes(slot) : 0;
  if (!fold.charge(sizeOf(content))) {
    message.content = {};
    truncate(message);
  }
  if (!slot) slot = fold.begin(message);
  else fold.list.replace(slot, message);
  fold.describe(slot, event.metadata);
}

export function patchActivity(fold: FoldTarget, event: ActivityDeltaEvent): void {
  const slot = fold.list.find(event.messageId);
  if (slot?.message.role !== "activity") return;
  fold.describe(slot, event.metadata);
  const message = slot.message;
  try {
    const patched = applyPatch(message.content ?? {}, event.patch);
    // Content is an object: a message with anything else would be refused by every store and client.
    if (!isRecord(patched)) return;
    const content = patched as ActivityMessage["content"];
    const growth = sizeOf(content) - activityBytes(slot);
    if (growth > 0 && !fold.charge(growth)) return truncate(fold.list.write(slot));
    if (growth < 0) fold.bytes += growth;
    fold.list.replace(slot, { ...message, activityType: event.activityType, content });
  } catch (error) {
    // A client keeps what it has when a patch does not apply, and so do we.
    if (!(error instanceof PatchError)) throw error;
  }
}

/** What a run was charged for an activity: nothing for one that was there before. */
function activityBytes({ message, isHistory }: Slot): number {
  return message.role === "activity" && !isHistory ? sizeOf(message.content) : 0;
}
