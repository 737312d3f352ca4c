import { EventType } from "@ag-ui/core";
import { isRecord } from "./guard-check.ts";
import type { LooseEvent } from "./guard-events.ts";
import type { Owner } from "./guard-parts.ts";
import type { Json } from "./types.ts";

/**
 * Remembers what the next token most likely continues, so that it passes without a look at anything
 * else. Whoever changes what is open has to `cool` it.
 */
export interface Hot {
  /** True for a delta of what is open that has nothing else in it. */
  isNext(event: unknown): event is LooseEvent;
  /** The event that a string or a bare chunk stands for. */
  expand(value: unknown): LooseEvent | undefined;
  text(id: string, owner: Owner): void;
  call(id: string, owner: Owner): void;
  stream(kind: "text" | "reasoning", id: string, owner: Owner): void;
  /** Forgets the stream of chunks. */
  coolStream(): void;
  cool(): void;
}

// Looked up once: these are compared for every token.
const content = EventType.TEXT_MESSAGE_CONTENT;
const args = EventType.TOOL_CALL_ARGS;
const reasoning = EventType.REASONING_MESSAGE_CONTENT;
const textChunk = EventType.TEXT_MESSAGE_CHUNK;
const reasoningChunk = EventType.REASONING_MESSAGE_CHUNK;

/** Plain variables and no objects on purpose: this is what a token costs. */
export function createHot(): Hot {
  let textId: string | undefined;
  let textOwner: Owner;
  let callId: string | undefined;
  let callOwner: Owner;
  let streamId: string | undefined;
  let streamOwner: Owner;
  let streamIsText = true;

  function isNext(event: unknown): event is LooseEvent {
    try {
      if (!isRecord(event)) return false;
      if (event.type === content) {
        return textId !== undefined && event.messageId === textId && isBare(event, textOwner);
      }
      if (event.type !== args) return false;
      return callId !== undefined && event.toolCallId === callId && isBare(event, callOwner);
    } catch {
      // A getter that throws: the slow way deals with it.
      return false;
    }
  }

  function expand(value: unknown): LooseEvent | undefined {
    if (streamId === undefined) return undefined;
    let delta: unknown = value;
    if (typeof value !== "string") {
      if (!isNextChunk(value)) return undefined;
      delta = value.delta;
    } else if (value === "" || !streamIsText || streamOwner !== undefined) {
      return undefined;
    }
    const event: LooseEvent = {
      type: streamIsText ? content : reasoning,
      messageId: streamId,
      delta,
    };
    if (streamOwner !== undefined) event.subagentRunId = streamOwner;
    return event;
  }

  function isNextChunk(event: unknown): event is LooseEvent {
    try {
      if (!isRecord(event)) return false;
      if (event.type !== (streamIsText ? textChunk : reasoningChunk)) return false;
      if (event.subagentRunId !== streamOwner) return false;
      let keys = streamOwner === undefined ? 2 : 3;
      if (event.messageId !== undefined) {
        if (event.messageId !== streamId) return false;
        keys++;
      }
      return typeof event.delta === "string" && event.delta !== "" && hasKeys(event, keys);
    } catch {
      // As above.
      return false;
    }
  }

  return {
    isNext,
    expand,
    text(id, owner) {
      textId = id;
      textOwner = owner;
    },
    call(id, owner) {
      callId = id;
      callOwner = owner;
    },
    stream(kind, id, owner) {
      streamId = id;
      streamOwner = owner;
      streamIsText = kind === "text";
    },
    coolStream() {
      streamId = undefined;
    },
    cool() {
      textId = undefined;
      callId = undefined;
      streamId = undefined;
    },
  };
}

// Nothing in it but a delta, an id and what needs no check. Counting is the cheapest way to know.
function isBare(event: Json, owner: Owner): boolean {
  if (typeof event.delta !== "string") return false;
  let keys = 3;
  if (event.timestamp !== undefined) {
    if (!Number.isSafeInteger(event.timestamp)) return false;
    keys++;
  }
  if (event.subagentRunId !== undefined) {
    if (event.subagentRunId !== owner) return false;
    keys++;
  }
  return hasKeys(event, keys);
}

function hasKeys(event: Json, count: number): boolean {
  let rest = count;
  for (const _ in event) rest--;
  return rest === 0;
}
