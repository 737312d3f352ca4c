import { isRecord } from "../json/record.ts";
import { EventType } from "@ag-ui/core";
import { hasMembers, hasOnlyText } from "../delta/bare-delta.ts";
import type { LooseEvent } from "./shapes.ts";
import type { Owner } from "./parts/known.ts";
import type { Json } from "../contract/agent.ts";

// Looked up once: these are compared for every token.
const content = EventType.TEXT_MESSAGE_CONTENT;
const args = EventType.TOOL_CALL_ARGS;
const reasoning = EventType.REASONING_MESSAGE_CONTENT;
const textChunk = EventType.TEXT_MESSAGE_CHUNK;
const reasoningChunk = EventType.REASONING_MESSAGE_CHUNK;

/**
 * Remembers what the next token most likely continues, so that it passes without any other
 * check. Code that changes what is open must call `invalidate`. Plain fields on purpose: they are all that a
 * token costs.
 */
export class FastPath {
  #messageType: EventType = content;
  #messageId: string | undefined;
  #messageOwner: Owner;
  #callId: string | undefined;
  #callOwner: Owner;
  #streamId: string | undefined;
  #streamOwner: Owner;
  #streamIsText = true;

  /** True for a delta of what is open that has nothing else in it but labels. */
  isNext(event: unknown): event is LooseEvent {
    try {
      if (!isRecord(event)) return false;
      if (event.type === this.#messageType) {
        const id = this.#messageId;
        return id !== undefined && event.messageId === id && isPlain(event, this.#messageOwner);
      }
      if (event.type !== args) return false;
      const id = this.#callId;
      return id !== undefined && event.toolCallId === id && isPlain(event, this.#callOwner);
    } catch {
      // A getter that throws: the slow way deals with it.
      return false;
    }
  }

  /** The message of the agent itself that a string is added to. */
  get textId(): string | undefined {
    return this.#streamIsText && this.#streamOwner === undefined ? this.#streamId : undefined;
  }

  /** The event that a string stands for. */
  expandText(delta: string): LooseEvent | undefined {
    const messageId = this.textId;
    if (messageId === undefined || delta === "") return undefined;
    return { type: content, messageId, delta };
  }

  /** The event that a bare chunk stands for. */
  expandChunk(chunk: unknown): LooseEvent | undefined {
    const messageId = this.#streamId;
    if (messageId === undefined || !this.#isNextChunk(chunk)) return undefined;
    const type = this.#streamIsText ? content : reasoning;
    const subagentRunId = this.#streamOwner;
    const { delta } = chunk;
    if (subagentRunId === undefined) return { type, messageId, delta };
    return { type, messageId, delta, subagentRunId };
  }

  text(id: string, owner: Owner): void {
    this.#messageType = content;
    this.#messageId = id;
    this.#messageOwner = owner;
  }

  /** Only for thoughts of the agent itself. It speaks or it thinks: the two take turns. */
  thought(id: string): void {
    this.#messageType = reasoning;
    this.#messageId = id;
    this.#messageOwner = undefined;
  }

  call(id: string, owner: Owner): void {
    this.#callId = id;
    this.#callOwner = owner;
  }

  stream(kind: "text" | "reasoning", id: string, owner: Owner): void {
    this.#streamId = id;
    this.#streamOwner = owner;
    this.#streamIsText = kind === "text";
  }

  /** Forgets the stream of chunks. */
  coolStream(): void {
    this.#streamId = undefined;
  }

  invalidate(): void {
    this.#messageId = undefined;
    this.#callId = undefined;
    this.#streamId = undefined;
  }

  #isNextChunk(event: unknown): event is LooseEvent {
    try {
      if (!isRecord(event)) return false;
      if (event.type !== (this.#streamIsText ? textChunk : reasoningChunk)) return false;
      if (event.subagentRunId !== this.#streamOwner) return false;
      let members = this.#streamOwner === undefined ? 2 : 3;
      if (event.messageId !== undefined) {
        if (event.messageId !== this.#streamId) return false;
        members++;
      }
      return typeof event.delta === "string" && event.delta !== "" && hasMembers(event, members);
    } catch {
      // As above.
      return false;
    }
  }
}

// An owner or a time that needs no check.
function isPlain(event: Json, owner: Owner): boolean {
  const { timestamp, subagentRunId } = event;
  if (timestamp !== undefined && !Number.isSafeInteger(timestamp)) return false;
  if (subagentRunId !== undefined && subagentRunId !== owner) return false;
  return hasOnlyText(event);
}
