import { flattenText } from "../../base/text-and-bytes.ts";
import { EventType, mergeMetadata } from "@ag-ui/core";
import type {
  BaseEvent,
  Event,
  Message,
  Metadata,
  ReasoningEncryptedValueEvent,
  ReasoningMessageStartEvent,
  TextMessageContentEvent,
  TextMessageStartEvent,
  ToolCall,
  ToolCallArgsEvent,
} from "@ag-ui/core";
import { patchActivity, showActivity } from "./activities.ts";
import { addResult, mergeCallMetadata, startCall } from "./calls.ts";
import { bytesPerMessage, tag, truncate } from "./fold-target.ts";
import type { FoldTarget } from "./fold-target.ts";
import { takeSnapshot } from "./messages-snapshot.ts";
import { MessageList } from "../message-list.ts";
import type { Slot } from "../message-list.ts";
import { OpenParts } from "../open-parts.ts";
import type { OpenPart } from "../open-parts.ts";
import type { Reducer } from "../reducer.ts";
import { sizeOf } from "../../json/size.ts";

// Looked up once: these are compared for every token.
const textContent = EventType.TEXT_MESSAGE_CONTENT;
const reasoningContent = EventType.REASONING_MESSAGE_CONTENT;
const callArgs = EventType.TOOL_CALL_ARGS;

/** What a delta of text is added to. */
interface TextTarget {
  content: string;
  metadata?: Metadata;
}

/** What may have a value that only the agent can read. */
interface Encrypted {
  encryptedValue?: string;
  encryptedValueType?: string;
}

/** The fold of one run: texts here, the other rules beside. One object with its methods on the prototype, as there is one per run. */
export class Fold implements Reducer, FoldTarget {
  readonly list: MessageList;
  readonly #parts = new OpenParts();
  readonly #maxBytes: number;
  bytes = 0;
  isReordered = false;
  #messages: readonly Message[] | undefined = undefined;

  // Where the last deltas went: the next ones nearly always go there too.
  #textId: string | undefined = undefined;
  #text: TextTarget | undefined = undefined;
  #callId: string | undefined = undefined;
  #call: ToolCall | undefined = undefined;
  /** How many deltas were added since the last text was over. */
  #joins = 0;

  constructor(initial: readonly Message[], maxBytes: number) {
    this.list = new MessageList(initial);
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
    // The next change copies what it touches, so the last targets must not be changed.
    this.#forgetTargets();
    return (this.#messages ??= this.list.read());
  }

  #appendText(event: TextMessageContentEvent): void {
    const { messageId, delta, metadata } = event;
    if (messageId !== this.#textId) this.#findText(messageId);
    const text = this.#text;
    if (text !== undefined) {
      if (this.charge(delta.length)) {
        text.content += delta;
        this.#joins++;
      } else truncate(text);
    }
    if (metadata !== undefined) this.#describeText(event);
  }

  #appendArgs(event: ToolCallArgsEvent): void {
    const { toolCallId, delta, metadata } = event;
    if (toolCallId !== this.#callId) {
      this.#call = this.list.writeCall(toolCallId);
      this.#callId = toolCallId;
    }
    const call = this.#call;
    if (call === undefined) return;
    if (this.charge(delta.length)) {
      call.function.arguments += delta;
    } else {
      truncate(call);
      truncate(this.list.ownerOf(toolCallId)!.message);
    }
    if (metadata !== undefined) this.merge(call, metadata);
  }

  #findText(id: string): void {
    const slot = this.list.find(id);
    this.#textId = id;
    this.#text = undefined;
    if (!slot || slot.message.role === "activity") return;
    const message = this.list.write(slot) as { content?: unknown };
    if (typeof message.content !== "string") message.content = "";
    this.#text = message as TextTarget;
  }

  #forgetTargets(): void {
    this.#textId = undefined;
    this.#text = undefined;
    this.#callId = undefined;
    this.#call = undefined;
  }

  charge(size: number): boolean {
    if (this.bytes > this.#maxBytes) return false;
    this.bytes += size;
    return true;
  }

  merge(target: { metadata?: Metadata }, metadata: Metadata | undefined): void {
    if (metadata === undefined || !this.charge(sizeOf(metadata))) return;
    target.metadata = mergeMetadata(target.metadata, metadata)!;
  }

  isFull(): boolean {
    return this.bytes > 2 * this.#maxBytes;
  }

  begin(message: Message): Slot {
    this.bytes += bytesPerMessage + message.id.length;
    return this.list.append(message);
  }

  #startText(event: TextMessageStartEvent | ReasoningMessageStartEvent): void {
    let slot = this.list.find(event.messageId);
    if (slot?.message.role === "activity") return;
    if (!slot) {
      if (this.isFull()) return;
      const { messageId: id, role = "assistant" } = event;
      const message: { name?: string } & Message = { id, role, content: "" };
      if (event.type === EventType.TEXT_MESSAGE_START && event.name !== undefined) {
        message.name = event.name;
      }
      tag(message, event);
      slot = this.begin(message);
    }
    this.describe(slot, event.metadata);
  }

  describe(slot: Slot | undefined, metadata: Metadata | undefined): void {
    if (slot && metadata !== undefined) this.merge(this.list.write(slot), metadata);
  }

  #describeText({ messageId, metadata }: { messageId: string; metadata?: Metadata }): void {
    if (metadata === undefined) return;
    const slot = this.list.find(messageId);
    if (slot?.message.role !== "activity") this.describe(slot, metadata);
  }

  #endText(event: { messageId: string; metadata?: Metadata }): void {
    const content = this.list.find(event.messageId)?.message.content;
    const isSmall = typeof content === "string" && content.length < this.#joins * 256;
    if (isSmall && content.length < flatChars) flattenText(content);
    this.#joins = 0;
    this.#describeText(event);
  }

  #encrypt(event: ReasoningEncryptedValueEvent & Encrypted): void {
    const { subtype, entityId, encryptedValue, encryptedValueType: type } = event;
    if (!this.charge(encryptedValue.length + (type?.length ?? 0))) return;
    const target: Encrypted | undefined =
      subtype === "tool-call" ? this.list.writeCall(entityId) : this.#message(entityId);
    if (!target) return;
    target.encryptedValue = encryptedValue;
    // The type is that of one value and goes with it.
    if (type === undefined) delete target.encryptedValueType;
    else target.encryptedValueType = type;
  }

  #message(id: string): Encrypted | undefined {
    const slot = this.list.find(id);
    return slot && slot.message.role !== "activity"
      ? (this.list.write(slot) as Encrypted)
      : undefined;
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
        return startCall(this, event);
      case EventType.TOOL_CALL_END:
        return mergeCallMetadata(this, event);
      case EventType.TOOL_CALL_RESULT:
        return addResult(this, event);
      case EventType.ACTIVITY_SNAPSHOT:
        return showActivity(this, event);
      case EventType.ACTIVITY_DELTA:
        return patchActivity(this, event);
      case EventType.MESSAGES_SNAPSHOT:
        return takeSnapshot(this, event);
      case EventType.REASONING_ENCRYPTED_VALUE:
        return this.#encrypt(event);
      case EventType.RUN_STARTED:
        for (const message of event.input?.messages ?? []) {
          if (!this.list.find(message.id)) this.list.append(message);
        }
        return;
      default:
    }
  }
}

// Longer text than this is better shared with the deltas it was put together from, which the log has; and
// so is text of long ones, as those of a turn are when they come here.
const flatChars = 64 * 1024;
