// Longer than our usual file: the rules of one fold, which share its list, its budget and its last target.
import { EventType, mergeMetadata } from "@ag-ui/core";
import type {
  ActivityDeltaEvent,
  ActivityMessage,
  ActivitySnapshotEvent,
  BaseEvent,
  Event,
  Message,
  MessagesSnapshotEvent,
  Metadata,
  ReasoningEncryptedValueEvent,
  ReasoningMessageStartEvent,
  TextMessageStartEvent,
  ToolCall,
  ToolCallResultEvent,
  ToolCallStartEvent,
} from "@ag-ui/core";
import { isRecord } from "./guard-check.ts";
import { createMessageList } from "./message-list.ts";
import type { Slot } from "./message-list.ts";
import { mergeSnapshot } from "./messages-snapshot.ts";
import { createOpenParts } from "./open-parts.ts";
import type { OpenPart } from "./open-parts.ts";
import { applyPatch, PatchError } from "./patch.ts";
import { sizeOf } from "./size.ts";

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

// A message without content still costs its id, its role and its place.
const bytesPerMessage = 64;

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
  { maxBytes = Infinity, open = [] }: ReducerOptions = {},
): Reducer {
  const list = createMessageList(initial);
  const parts = createOpenParts();
  for (const event of open) parts.apply(event);
  let bytes = 0;
  let isReordered = false;
  let cached: readonly Message[] | undefined;

  // Where the last delta went: the next one nearly always goes there too.
  let lastId: string | undefined;
  let lastKind: "text" | "args" = "text";
  let append: (delta: string) => void = ignore;

  function charge(size: number): boolean {
    if (bytes > maxBytes) return false;
    bytes += size;
    return true;
  }

  function merge(target: { metadata?: Metadata }, metadata: Metadata | undefined): void {
    if (metadata === undefined || !charge(sizeOf(metadata))) return;
    target.metadata = mergeMetadata(target.metadata, metadata)!;
  }

  function isFull(): boolean {
    return bytes > 2 * maxBytes;
  }

  function begin(message: Message): Slot {
    bytes += bytesPerMessage + message.id.length;
    return list.append(message);
  }

  function startText(event: TextMessageStartEvent | ReasoningMessageStartEvent): void {
    let slot = list.find(event.messageId);
    if (slot?.message.role === "activity") return;
    if (!slot) {
      if (isFull()) return;
      const { messageId: id, role = "assistant" } = event;
      const name = event.type === EventType.TEXT_MESSAGE_START ? event.name : undefined;
      slot = begin({
        id,
        role,
        content: "",
        ...(name !== undefined && { name }),
        ...owner(event),
      });
    }
    describe(slot, event.metadata);
  }

  function describe(slot: Slot | undefined, metadata: Metadata | undefined): void {
    if (slot && metadata !== undefined) merge(list.write(slot), metadata);
  }

  function describeText({ messageId, metadata }: { messageId: string; metadata?: Metadata }): void {
    if (metadata === undefined) return;
    const slot = list.find(messageId);
    if (slot?.message.role !== "activity") describe(slot, metadata);
  }

  function endText(event: { messageId: string; metadata?: Metadata }): void {
    const content = list.find(event.messageId)?.message.content;
    if (typeof content === "string" && content.length < flatChars) flatten(content);
    describeText(event);
  }

  function describeCall({
    toolCallId,
    metadata,
  }: {
    toolCallId: string;
    metadata?: Metadata;
  }): void {
    const call = metadata && list.writeCall(toolCallId);
    if (call) merge(call, metadata);
  }

  function textTarget(id: string): (delta: string) => void {
    const slot = list.find(id);
    if (!slot || slot.message.role === "activity") return ignore;
    const message = list.write(slot) as { content?: unknown; metadata?: Metadata };
    if (typeof message.content !== "string") message.content = "";
    return (delta) => {
      if (charge(delta.length)) (message.content as string) += delta;
      else truncate(message);
    };
  }

  function argsTarget(id: string): (delta: string) => void {
    const call = list.writeCall(id);
    if (!call) return ignore;
    const slot = list.ownerOf(id)!;
    return (delta) => {
      if (charge(delta.length)) {
        call.function.arguments += delta;
      } else {
        truncate(call);
        truncate(slot.message);
      }
    };
  }

  function delta(kind: "text" | "args", id: string, text: string): void {
    if (id !== lastId || kind !== lastKind) {
      append = kind === "text" ? textTarget(id) : argsTarget(id);
      lastId = id;
      lastKind = kind;
    }
    append(text);
  }

  function startCall(event: ToolCallStartEvent): void {
    const { toolCallId: id, toolCallName: name, parentMessageId } = event;
    const known = list.writeCall(id);
    if (known) {
      known.function.name = name;
      merge(known, event.metadata);
      return;
    }
    if (isFull()) return;
    let slot = parentMessageId ? list.find(parentMessageId) : undefined;
    if (slot?.message.role !== "assistant") {
      // A parent of another role keeps its id to itself.
      const messageId = (slot ? undefined : parentMessageId) || id;
      const tag = list.find(messageId) ? {} : owner(event);
      slot = begin({ id: messageId, role: "assistant", toolCalls: [], ...tag });
    }
    bytes += bytesPerMessage + id.length + name.length;
    const call: ToolCall = { id, type: "function", function: { name, arguments: "" } };
    list.appendCall(slot, call);
    merge(call, event.metadata);
  }

  function addResult(event: ToolCallResultEvent): void {
    if (isFull()) return;
    const { messageId: id, toolCallId, content } = event;
    const message: Message = { id, toolCallId, role: "tool", content, ...owner(event) };
    if (!charge(bytesPerMessage + sizeOf(content))) {
      // The call stays answered, though with less.
      bytes += bytesPerMessage;
      message.content = "";
      truncate(message);
    }
    merge(message, event.metadata);
    const slot = list.ownerOf(toolCallId);
    if (slot?.message.role !== "assistant") list.append(message);
    else if (list.insertAfter(slot, message)) isReordered = true;
  }

  function showActivity(event: ActivitySnapshotEvent): void {
    const { messageId: id, activityType, content, replace = true } = event;
    let slot = list.find(id);
    const isActivity = slot?.message.role === "activity";
    if (slot && !replace) {
      if (isActivity) describe(slot, event.metadata);
      return;
    }
    if (!slot && isFull()) return;
    const message: ActivityMessage = {
      id,
      role: "activity",
      activityType,
      content,
      ...owner(event),
    };
    if (isActivity && slot!.message.metadata) message.metadata = slot!.message.metadata;
    bytes -= slot ? activityBytes(slot) : 0;
    if (!charge(sizeOf(content))) {
      message.content = {};
      truncate(message);
    }
    if (!slot) slot = begin(message);
    else list.replace(slot, message);
    describe(slot, event.metadata);
  }

  function patchActivity(event: ActivityDeltaEvent): void {
    const slot = list.find(event.messageId);
    if (slot?.message.role !== "activity") return;
    describe(slot, event.metadata);
    const message = slot.message;
    try {
      const patched = applyPatch(message.content ?? {}, event.patch);
      // Content is an object: a message with anything else would be refused by every store and client.
      if (!isRecord(patched)) return;
      const content = patched as ActivityMessage["content"];
      const growth = sizeOf(content) - activityBytes(slot);
      if (growth > 0 && !charge(growth)) return truncate(list.write(slot));
      if (growth < 0) bytes += growth;
      list.replace(slot, { ...message, activityType: event.activityType, content });
    } catch (error) {
      // A client keeps what it has when a patch does not apply, and so do we.
      if (!(error instanceof PatchError)) throw error;
    }
  }

  function takeSnapshot(event: MessagesSnapshotEvent): void {
    const merged = mergeSnapshot(list.slots(), event);
    const stayed = new Set(merged.flatMap(namesIn));
    isReordered ||= list
      .slots()
      .flatMap(namesIn)
      .some((name) => !stayed.has(name));
    list.reset(merged);
    bytes = 0;
    for (const { message, isHistory } of list.slots()) if (!isHistory) bytes += sizeOf(message);
  }

  function encrypt({ subtype, entityId, encryptedValue }: ReasoningEncryptedValueEvent): void {
    if (!charge(encryptedValue.length)) return;
    if (subtype === "tool-call") {
      const call = list.writeCall(entityId);
      if (call) call.encryptedValue = encryptedValue;
      return;
    }
    const slot = list.find(entityId);
    if (!slot || slot.message.role === "activity") return;
    (list.write(slot) as { encryptedValue?: string }).encryptedValue = encryptedValue;
  }

  function apply(event: Event): void {
    cached = undefined;
    switch (event.type) {
      case EventType.TEXT_MESSAGE_CONTENT:
      case EventType.REASONING_MESSAGE_CONTENT:
        delta("text", event.messageId, event.delta);
        return describeText(event);
      case EventType.TOOL_CALL_ARGS:
        delta("args", event.toolCallId, event.delta);
        return describeCall(event);
      default:
        lastId = undefined;
        parts.apply(event);
    }
    switch (event.type) {
      case EventType.TEXT_MESSAGE_START:
      case EventType.REASONING_MESSAGE_START:
        return startText(event);
      case EventType.TEXT_MESSAGE_END:
      case EventType.REASONING_MESSAGE_END:
        return endText(event);
      case EventType.TOOL_CALL_START:
        return startCall(event);
      case EventType.TOOL_CALL_END:
        return describeCall(event);
      case EventType.TOOL_CALL_RESULT:
        return addResult(event);
      case EventType.ACTIVITY_SNAPSHOT:
        return showActivity(event);
      case EventType.ACTIVITY_DELTA:
        return patchActivity(event);
      case EventType.MESSAGES_SNAPSHOT:
        return takeSnapshot(event);
      case EventType.REASONING_ENCRYPTED_VALUE:
        return encrypt(event);
      case EventType.RUN_STARTED:
        for (const message of event.input?.messages ?? []) {
          if (!list.find(message.id)) list.append(message);
        }
        return;
      default:
    }
  }

  function read(): readonly Message[] {
    // The next change copies what it touches, so the last target is no longer ours to change.
    lastId = undefined;
    return (cached ??= list.read());
  }

  return new Fold({
    apply,
    read,
    bytes: () => bytes,
    isReordered: () => isReordered,
    open: parts.list,
  });
}

interface FoldParts {
  apply(event: Event): void;
  read(): readonly Message[];
  bytes(): number;
  isReordered(): boolean;
  open(): readonly OpenPart[];
}

// A class for the reason that guard.ts gives.
class Fold implements Reducer {
  readonly #parts: FoldParts;

  constructor(parts: FoldParts) {
    this.#parts = parts;
  }

  apply(event: BaseEvent): void {
    this.#parts.apply(event as Event);
  }

  open(): readonly OpenPart[] {
    return this.#parts.open();
  }

  get messages(): readonly Message[] {
    return this.#parts.read();
  }

  get bytes(): number {
    return this.#parts.bytes();
  }

  get isReordered(): boolean {
    return this.#parts.isReordered();
  }
}

function ignore(): void {}

// Longer text than this is better shared with the deltas it was put together from, which the log has.
const flatChars = 64 * 1024;

// Text put together from deltas is a tree of them until somebody looks inside: of 20 characters each
// that is three times the memory, in objects that every collection has to visit.
function flatten(text: string): void {
  if (text.charCodeAt(0) === -1) throw new Error("Never, but looked at.");
}

/** The ids of a message and of its calls. */
function namesIn({ message }: Slot): string[] {
  const calls = message.role === "assistant" ? (message.toolCalls ?? []) : [];
  return [message.id, ...calls.map(({ id }) => id)];
}

function truncate(target: { metadata?: Metadata }): void {
  if (target.metadata?.truncated !== true)
    target.metadata = { ...target.metadata, truncated: true };
}

function owner({ subagentRunId }: { subagentRunId?: string }): { subagentRunId?: string } {
  return subagentRunId === undefined ? {} : { subagentRunId };
}

/** What a run was charged for an activity: nothing for one that was there before. */
function activityBytes({ message, isHistory }: Slot): number {
  return message.role === "activity" && !isHistory ? sizeOf(message.content) : 0;
}
