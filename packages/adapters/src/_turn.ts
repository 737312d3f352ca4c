import { EventType, ulid } from "@holodeck/agui-core";
import type { AgentError, BaseEvent } from "@holodeck/agui-core";

/** A model's output as AG-UI events. Parts are identified by the model's own keys, which may be reused. */
export interface Turn {
  text(key: string, delta: string): BaseEvent[];
  endText(key: string): BaseEvent[];
  reasoning(key: string, delta: string): BaseEvent[];
  endReasoning(key: string): BaseEvent[];
  /** Without a parent it belongs to the last text of the step. */
  startCall(id: string, name: string, parentMessageId?: string): BaseEvent[];
  args(id: string, delta: string): BaseEvent[];
  endCall(id: string): BaseEvent[];
  /** A whole call at once, unless it was already sent in pieces. */
  call(id: string, name: string, args: string): BaseEvent[];
  result(id: string, content: unknown, messageId?: string): BaseEvent[];
  failure(id: string, error: AgentError): BaseEvent[];
  custom(name: string, value: unknown): BaseEvent[];
  /** Ends what is open, and the message that calls belong to. */
  endStep(): BaseEvent[];
}

interface OpenCall {
  isOpen: boolean;
  hasArgs: boolean;
}

/**
 * Keeps what is open, and gives each part an id that is unique in the thread: a new one, unless
 * `idOf` has a better one for the model's key.
 */
export function createTurn(idOf: (key: string) => string = () => ulid()): Turn {
  const texts = new Map<string, string>();
  const thoughts = new Map<string, string>();
  const calls = new Map<string, OpenCall>();
  let messageId: string | undefined;

  const turn: Turn = {
    text(key, delta) {
      if (delta === "") return [];
      const open = texts.get(key);
      if (open !== undefined) return [content(EventType.TEXT_MESSAGE_CONTENT, open, delta)];
      const id = idOf(key);
      messageId = id;
      texts.set(key, id);
      return [
        { type: EventType.TEXT_MESSAGE_START, messageId: id, role: "assistant" },
        content(EventType.TEXT_MESSAGE_CONTENT, id, delta),
      ];
    },
    endText(key) {
      const id = texts.get(key);
      if (id === undefined) return [];
      texts.delete(key);
      return [{ type: EventType.TEXT_MESSAGE_END, messageId: id }];
    },
    reasoning(key, delta) {
      if (delta === "") return [];
      const open = thoughts.get(key);
      if (open !== undefined) return [content(EventType.REASONING_MESSAGE_CONTENT, open, delta)];
      const id = idOf(key);
      thoughts.set(key, id);
      return [
        { type: EventType.REASONING_START, messageId: id },
        { type: EventType.REASONING_MESSAGE_START, messageId: id, role: "reasoning" },
        content(EventType.REASONING_MESSAGE_CONTENT, id, delta),
      ];
    },
    endReasoning(key) {
      const id = thoughts.get(key);
      if (id === undefined) return [];
      thoughts.delete(key);
      return [
        { type: EventType.REASONING_MESSAGE_END, messageId: id },
        { type: EventType.REASONING_END, messageId: id },
      ];
    },
    startCall(id, name, parent) {
      if (calls.has(id)) return [];
      calls.set(id, { isOpen: true, hasArgs: false });
      const parentMessageId = parent ?? (messageId ??= ulid());
      const type = EventType.TOOL_CALL_START;
      return [{ type, toolCallId: id, toolCallName: name, parentMessageId }];
    },
    args(id, delta) {
      const call = calls.get(id);
      if (!call?.isOpen || delta === "") return [];
      call.hasArgs = true;
      return [{ type: EventType.TOOL_CALL_ARGS, toolCallId: id, delta }];
    },
    endCall(id) {
      const call = calls.get(id);
      if (!call?.isOpen) return [];
      call.isOpen = false;
      return [{ type: EventType.TOOL_CALL_END, toolCallId: id }];
    },
    call(id, name, args) {
      const start = turn.startCall(id, name);
      const rest = calls.get(id)?.hasArgs ? [] : turn.args(id, args);
      return [...start, ...rest, ...turn.endCall(id)];
    },
    result(id, value, as) {
      return [...turn.endCall(id), toResult(id, value, as)];
    },
    failure(id, { code, message }) {
      const result = toResult(id, { error: { code, message } });
      return [...turn.endCall(id), { ...result, metadata: { error: code } }];
    },
    custom: (name, value) => [{ type: EventType.CUSTOM, name, value }],
    endStep() {
      messageId = undefined;
      return [
        ...[...thoughts.keys()].flatMap(turn.endReasoning),
        ...[...texts.keys()].flatMap(turn.endText),
        ...[...calls.keys()].flatMap(turn.endCall),
      ];
    },
  };
  return turn;
}

function content(type: EventType, messageId: string, delta: string): BaseEvent {
  return { type, messageId, delta };
}

function toResult(toolCallId: string, value: unknown, messageId: string = ulid()): BaseEvent {
  // A value without JSON, such as undefined, is not a result either.
  const text = typeof value === "string" ? value : (JSON.stringify(value) ?? "");
  const type = EventType.TOOL_CALL_RESULT;
  return { type, messageId, toolCallId, content: text, role: "tool" };
}
