import type { Message } from "@ag-ui/core";
import { callsIn } from "../../base/calls-in.ts";

/** A call under the id that clients know, and the message that it is in. */
export interface NamedCall {
  readonly id: string;
  readonly messageId: string;
}

/** The calls of a thread and of its run, by the ids that the agent gives them. */
export interface CallBook {
  /** In order. */
  callsOf(agentId: string): readonly NamedCall[];
  /** Whether one of them has another id than the agent gave it. */
  isRenamed(agentId: string): boolean;
  /** Takes a call that only a snapshot has. Returns its id. */
  add(agentId: string, messageId: string): string;
}

/** The messages that the calls of one id are in, in order. */
type Places = ReadonlyMap<string, readonly string[]>;

/**
 * The messages of a snapshot with the ids that their calls have in the thread. An agent that keeps its own
 * conversation has several calls under one id in it. A result belongs to the call of its id before it.
 */
export function restate(messages: readonly Message[], book: CallBook): readonly Message[] {
  const names = namesIn(messages, book);
  if (names.size === 0) return messages;
  const now = new Map<string, string>();
  const next = (id: string): string => {
    const name = names.get(id)?.shift() ?? id;
    now.set(id, name);
    return name;
  };
  return messages.map((message): Message => {
    if (message.role === "tool") {
      const toolCallId = now.get(message.toolCallId) ?? message.toolCallId;
      return toolCallId === message.toolCallId ? message : { ...message, toolCallId };
    }
    if (message.role !== "assistant" || !message.toolCalls?.some(({ id }) => names.has(id))) {
      return message;
    }
    const toolCalls = message.toolCalls.map((call) => ({ ...call, id: next(call.id) }));
    return { ...message, toolCalls };
  });
}

/** For each id that does not name one call, the ids of its calls in order. */
function namesIn(messages: readonly Message[], book: CallBook): Map<string, string[]> {
  const places = placesIn(messages);
  const names = new Map<string, string[]>();
  for (const [id, messageIds] of places) {
    if (messageIds.length === 1 && !book.isRenamed(id)) continue;
    const given = assign(id, places, book);
    if (given.some((name) => name !== id)) names.set(id, given);
  }
  return names;
}

function placesIn(messages: readonly Message[]): Places {
  const places = new Map<string, string[]>();
  for (const message of messages) {
    for (const { id } of callsIn(message)) {
      const found = places.get(id);
      if (found) found.push(message.id);
      else places.set(id, [message.id]);
    }
  }
  return places;
}

// By the message that a call is in. Agents may give their messages new ids in a snapshot: then the calls are in
// their order, the oldest may be missing, and what is left over is new.
function assign(id: string, places: Places, book: CallBook): string[] {
  const free = book.callsOf(id).filter((call) => call.id === id || !places.has(call.id));
  const found = places.get(id)!.map((messageId) => {
    const at = free.findIndex((call) => call.messageId === messageId);
    return { messageId, name: at === -1 ? undefined : free.splice(at, 1)[0]!.id };
  });
  const missing = found.filter(({ name }) => name === undefined).length;
  const rest = free.slice(Math.max(0, free.length - missing));
  return found.map(({ name, messageId }) => name ?? rest.shift()?.id ?? book.add(id, messageId));
}
