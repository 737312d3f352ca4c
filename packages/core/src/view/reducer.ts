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
  TextMessageContentEvent,
  TextMessageStartEvent,
  ToolCall,
  ToolCallArgsEvent,
  ToolCallResultEvent,
  ToolCallStartEvent,
} from "@ag-ui/core";
import { isRecord } from "../guard/fields.ts";
import { MessageList } from "./message-list.ts";
import type { Slot } from "./message-list.ts";
import { mergeSnapshot } from "./messages-snapshot.ts";
import { OpenParts } from "./open-parts.ts";
import type { OpenPart } from "./open-parts.ts";
import { applyPatch, PatchError } from "../json/patch.ts";
import { sizeOf } from "../json/size.ts";

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

// A message without content still costs its id, its role and its place.
const bytesPerMessage = 64;

// Looked up once: these are compared for every token.
const textContent = EventType.TEXT_MESSAGE_CONTENT;
const reasoningContent = EventType.REASONING_MESSAGE_CONTENT;
const callArgs = EventType.TOOL_CALL_ARGS;

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

/** What a delta of text is added to. */
interface TextTarget {
  content: string;
  metadata?: Metadata;
}

// One object with its methods on the prototype: there is one of these per run.
class Fold implements Reducer {
  readonly #list: MessageList;
  readonly #parts = new OpenParts();
  readonly #maxBytes: number;
  #bytes = 0;
  #isReordered = false;
  #messages: readonly Message[] | undefined = undefined;

  // Where the last deltas went: the next ones nearly always go there too.
  #textId: string | undefined = undefined;
  #text: TextTarget | undefined = undefined;
  #callId: string | undefined = undefined;
  #call: ToolCall | undefined = undefined;
  /** How many deltas were added since the last text was over. */
  #joins = 0;

  constructor(initial: readonly Message[], maxBytes: number) {
    this.#list = new MessageList(initial);
    this.#maxBytes = maxBytes;
  }

  /** Takes the STARTs of what is open already. */
  resume(open: readonly BaseEvent[]): void {
    for (const event of open) this.#parts.apply(event);
  }

  apply(event: BaseEvent): void {
    this.#messages = undefined;
    const { type } = event;
    if (type === textContent || type === reasoningContent) {
      this.#appendText(event as TextMessageContentEvent);
    } else if (type === callArgs) {
      this.#appendArgs(event as ToolCallArgsEvent);
    } else {
      this.#forgetTargets();
      this.#parts.apply(event);
      this.#applyRest(event as Event);
    }
  }

  open(): readonly OpenPart[] {
    return this.#parts.list();
  }

  get messages(): readonly Message[] {
    // The next change copies what it touches, so the last targets must not be changed in place.
    this.#forgetTargets();
    return (this.#messages ??= this.#list.read());
  }

  get bytes(): number {
    return this.#bytes;
  }

  get isReordered(): boolean {
    return this.#isReordered;
  }

  #appendText(event: TextMessageContentEvent): void {
    const { messageId, delta, metadata } = event;
    if (messageId !== this.#textId) this.#findText(messageId);
    const text = this.#text;
    if (text !== undefined) {
      if (this.#charge(delta.length)) {
        text.content += delta;
        this.#joins++;
      } else truncate(text);
    }
    if (metadata !== undefined) this.#describeText(event);
  }

  #appendArgs(event: ToolCallArgsEvent): void {
    const { toolCallId, delta, metadata } = event;
    if (toolCallId !== this.#callId) {
      this.#call = this.#list.writeCall(toolCallId);
      this.#callId = toolCallId;
    }
    const call = this.#call;
    if (call === undefined) return;
    if (this.#charge(delta.length)) {
      call.function.arguments += delta;
    } else {
      truncate(call);
      truncate(this.#list.ownerOf(toolCallId)!.message);
    }
    if (metadata !== undefined) this.#merge(call, metadata);
  }

  #findText(id: string): void {
    const slot = this.#list.find(id);
    this.#textId = id;
    this.#text = undefined;
    if (!slot || slot.message.role === "activity") return;
    const message = this.#list.write(slot) as { content?: unknown };
    if (typeof message.content !== "string") message.content = "";
    this.#text = message as TextTarget;
  }

  #forgetTargets(): void {
    this.#textId = undefined;
    this.#text = undefined;
    this.#callId = undefined;
    this.#call = undefined;
  }

  #charge(size: number): boolean {
    if (this.#bytes > this.#maxBytes) return false;
    this.#bytes += size;
    return true;
  }

  #merge(target: { metadata?: Metadata }, metadata: Metadata | undefined): void {
    if (metadata === undefined || !this.#charge(sizeOf(metadata))) return;
    target.metadata = mergeMetadata(target.metadata, metadata)!;
  }

  #isFull(): boolean {
    return this.#bytes > 2 * this.#maxBytes;
  }

  #begin(message: Message): Slot {
    this.#bytes += bytesPerMessage + message.id.length;
    return this.#list.append(message);
  }

  #startText(event: TextMessageStartEvent | ReasoningMessageStartEvent): void {
    let slot = this.#list.find(event.messageId);
    if (slot?.message.role === "activity") return;
    if (!slot) {
      if (this.#isFull()) return;
      const { messageId: id, role = "assistant" } = event;
      const message: { name?: string } & Message = { id, role, content: "" };
      if (event.type === EventType.TEXT_MESSAGE_START && event.name !== undefined) {
        message.name = event.name;
      }
      tag(message, event);
      slot = this.#begin(message);
    }
    this.#describe(slot, event.metadata);
  }

  #describe(slot: Slot | undefined, metadata: Metadata | undefined): void {
    if (slot && metadata !== undefined) this.#merge(this.#list.write(slot), metadata);
  }

  #describeText({ messageId, metadata }: { messageId: string; metadata?: Metadata }): void {
    if (metadata === undefined) return;
    const slot = this.#list.find(messageId);
    if (slot?.message.role !== "activity") this.#describe(slot, metadata);
  }

  #endText(event: { messageId: string; metadata?: Metadata }): void {
    const content = this.#list.find(event.messageId)?.message.content;
    const isSmall = typeof content === "string" && content.length < this.#joins * 256;
    if (isSmall && content.length < flatChars) flatten(content);
    this.#joins = 0;
    this.#describeText(event);
  }

  #describeCall({ toolCallId, metadata }: { toolCallId: string; metadata?: Metadata }): void {
    const call = metadata && this.#list.writeCall(toolCallId);
    if (call) this.#merge(call, metadata);
  }

  #startCall(event: ToolCallStartEvent): void {
    const { toolCallId: id, toolCallName: name, parentMessageId } = event;
    const known = this.#list.writeCall(id);
    if (known) {
      known.function.name = name;
      this.#merge(known, event.metadata);
      return;
    }
    if (this.#isFull()) return;
    let slot = parentMessageId ? this.#list.find(parentMessageId) : undefined;
    if (slot?.message.role !== "assistant") {
      // A parent of another role keeps its id to itself.
      const messageId = (slot ? undefined : parentMessageId) || id;
      const message: Message = { id: messageId, role: "assistant", toolCalls: [] };
      if (!this.#list.find(messageId)) tag(message, event);
      slot = this.#begin(message);
    }
    this.#bytes += bytesPerMessage + id.length + name.length;
    const call: ToolCall = { id, type: "function", function: { name, arguments: "" } };
    this.#list.appendCall(slot, call);
    this.#merge(call, event.metadata);
  }

  #addResult(event: ToolCallResultEvent): void {
    if (this.#isFull()) return;
    const { messageId: id, toolCallId, content } = event;
    const message: Message = { id, toolCallId, role: "tool", content };
    tag(message, event);
    if (!this.#charge(bytesPerMessage + sizeOf(content))) {
      // The call stays answered, though with less.
      this.#bytes += bytesPerMessage;
      message.content = "";
      truncate(message);
    }
    this.#merge(message, event.metadata);
    const slot = this.#list.ownerOf(toolCallId);
    if (slot?.message.role !== "assistant") this.#list.append(message);
    else if (this.#list.insertAfter(slot, message)) this.#isReordered = true;
  }

  #showActivity(event: ActivitySnapshotEvent): void {
    const { messageId: id, activityType, content, replace = true } = event;
    let slot = this.#list.find(id);
    const isActivity = slot?.message.role === "activity";
    if (slot && !replace) {
      if (isActivity) this.#describe(slot, event.metadata);
      return;
    }
    if (!slot && this.#isFull()) return;
    const message: ActivityMessage = { id, role: "activity", activityType, content };
    tag(message, event);
    if (isActivity && slot!.message.metadata) message.metadata = slot!.message.metadata;
    this.#bytes -= slot ? activityBytes(slot) : 0;
    if (!this.#charge(sizeOf(content))) {
      message.content = {};
      truncate(message);
    }
    if (!slot) slot = this.#begin(message);
    else this.#list.replace(slot, message);
    this.#describe(slot, event.metadata);
  }

  #patchActivity(event: ActivityDeltaEvent): void {
    const slot = this.#list.find(event.messageId);
    if (slot?.message.role !== "activity") return;
    this.#describe(slot, event.metadata);
    const message = slot.message;
    try {
      const patched = applyPatch(message.content ?? {}, event.patch);
      // Content is an object: a message with anything else would be refused by every store and client.
      if (!isRecord(patched)) return;
      const content = patched as ActivityMessage["content"];
      const growth = sizeOf(content) - activityBytes(slot);
      if (growth > 0 && !this.#charge(growth)) return truncate(this.#list.write(slot));
      if (growth < 0) this.#bytes += growth;
      this.#list.replace(slot, { ...message, activityType: event.activityType, content });
    } catch (error) {
      // A client keeps what it has when a patch does not apply, and so do we.
      if (!(error instanceof PatchError)) throw error;
    }
  }

  #takeSnapshot(event: MessagesSnapshotEvent): void {
    const merged = mergeSnapshot(this.#list.slots, event);
    const stayed = new Set(merged.flatMap(namesIn));
    this.#isReordered ||= this.#list.slots.flatMap(namesIn).some((name) => !stayed.has(name));
    this.#list.reset(merged);
    this.#bytes = 0;
    for (const { message, isHistory } of this.#list.slots)
      if (!isHistory) this.#bytes += sizeOf(message);
  }

  #encrypt({ subtype, entityId, encryptedValue }: ReasoningEncryptedValueEvent): void {
    if (!this.#charge(encryptedValue.length)) return;
    if (subtype === "tool-call") {
      const call = this.#list.writeCall(entityId);
      if (call) call.encryptedValue = encryptedValue;
      return;
    }
    const slot = this.#list.find(entityId);
    if (!slot || slot.message.role === "activity") return;
    (this.#list.write(slot) as { encryptedValue?: string }).encryptedValue = encryptedValue;
  }

  #applyRest(event: Event): void {
    switch (event.type) {
      case EventType.TEXT_MESSAGE_START:
      case EventType.REASONING_MESSAGE_START:
        return this.#startText(event);
      case EventType.TEXT_MESSAGE_END:
      case EventType.REASONING_MESSAGE_END:
        return this.#endText(event);
      case EventType.TOOL_CALL_START:
        return this.#startCall(event);
      case EventType.TOOL_CALL_END:
        return this.#describeCall(event);
      case EventType.TOOL_CALL_RESULT:
        return this.#addResult(event);
      case EventType.ACTIVITY_SNAPSHOT:
        return this.#showActivity(event);
      case EventType.ACTIVITY_DELTA:
        return this.#patchActivity(event);
      case EventType.MESSAGES_SNAPSHOT:
        return this.#takeSnapshot(event);
      case EventType.REASONING_ENCRYPTED_VALUE:
        return this.#encrypt(event);
      case EventType.RUN_STARTED:
        for (const message of event.input?.messages ?? []) {
          if (!this.#list.find(message.id)) this.#list.append(message);
        }
        return;
      default:
    }
  }
}

// Longer text than this is better shared with the deltas it was put together from, which the log has; and
// so is text of long ones, as those of a turn are when they come here.
const flatChars = 64 * 1024;

// Text concatenated from deltas is a rope until it is read: for short deltas it takes several times
// the memory, in objects that every collection has to visit.
function flatten(text: string): void {
  if (text.charCodeAt(0) === -1) throw new Error("Unreachable: a char code is never -1.");
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

function tag(message: Message, { subagentRunId }: { subagentRunId?: string }): void {
  if (subagentRunId !== undefined) message.subagentRunId = subagentRunId;
}

/** What a run was charged for an activity: nothing for one that was there before. */
function activityBytes({ message, isHistory }: Slot): number {
  return message.role === "activity" && !isHistory ? sizeOf(message.content) : 0;
}
