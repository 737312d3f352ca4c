import type {
  Message,
  Metadata,
  ToolCall,
  ToolCallResultEvent,
  ToolCallStartEvent,
} from "@ag-ui/core";
import { bytesPerMessage, tag, truncate } from "./fold-target.ts";
import type { FoldTarget } from "./fold-target.ts";
import { sizeOf } from "../../json/size.ts";

export function startCall(fold: FoldTarget, event: ToolCallStartEvent): void {
  const { toolCallId: id, toolCallName: name, parentMessageId } = event;
  const known = fold.list.writeCall(id);
  if (known) {
    known.function.name = name;
    fold.merge(known, event.metadata);
    return;
  }
  if (fold.isFull()) return;
  let slot = parentMessageId ? fold.list.find(parentMessageId) : undefined;
  if (slot?.message.role !== "assistant") {
    // A parent of another role keeps its id to itself.
    const messageId = (slot ? undefined : parentMessageId) || id;
    const message: Message = { id: messageId, role: "assistant", toolCalls: [] };
    if (!fold.list.find(messageId)) tag(message, event);
    slot = fold.begin(message);
  }
  fold.bytes += bytesPerMessage + id.length + name.length;
  const call: ToolCall = { id, type: "function", function: { name, arguments: "" } };
  fold.list.appendCall(slot, call);
  fold.merge(call, event.metadata);
}

export function mergeCallMetadata(
  fold: FoldTarget,
  { toolCallId, metadata }: { toolCallId: string; metadata?: Metadata },
): void {
  const call = metadata && fold.list.writeCall(toolCallId);
  if (call) fold.merge(call, metadata);
}

export function addResult(fold: FoldTarget, event: ToolCallResultEvent): void {
  if (fold.isFull()) return;
  const { messageId: id, toolCallId, content } = event;
  const message: Message = { id, toolCallId, role: "tool", content };
  tag(message, event);
  if (!fold.charge(bytesPerMessage + sizeOf(content))) {
    // The call stays answered, though with less.
    fold.bytes += bytesPerMessage;
    message.content = "";
    truncate(message);
  }
  fold.merge(message, event.metadata);
  const slot = fold.list.ownerOf(toolCallId);
  if (slot?.message.role !== "assistant") fold.list.append(message);
  else if (fold.list.insertAfter(slot, message)) fold.isReordered = true;
}
