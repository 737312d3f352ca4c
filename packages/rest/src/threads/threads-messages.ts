import { isRecord } from "@holodeck/agui-core/internal";
import type { Json, ListedSession, Message, RunResult, Session } from "@holodeck/agui-core";
import { plainTextOf, toArguments, toIso, toThreadsOutcome } from "./threads-events.ts";
import type { ThreadMessage, ThreadToolCall } from "./threads-events.ts";

/** A thread as its client sees it. */
export interface Thread {
  readonly thread_id: string;
  /** `created` until it has messages. */
  readonly status: "created" | "active";
  readonly created_at: string;
  readonly updated_at: string;
  readonly message_count: number;
  /** A quarter of the characters. */
  readonly token_estimate: number;
  readonly metadata: Json;
  readonly message_history: readonly ThreadMessage[];
}

type Times = NonNullable<Session["times"]>;

/** The key of the client's metadata in that of the session, separate from the agent's. */
export const clientMetadata = "client";

/** A session in the format of this dialect. */
export function toThread(session: Session): Thread {
  const { createdAt, messages, times } = session;
  const history = toHistory(messages, times ?? {}, createdAt);
  let characters = 0;
  for (const { content } of history) characters += content.length;
  return {
    ...toSummary(session, { messages: history.length, characters }),
    message_history: history,
  };
}

/** A session of a list in the format of this dialect. */
export function toListedThread(session: ListedSession): Omit<Thread, "message_history"> {
  const { size, messageCount } = session;
  return toSummary(session, size ?? { messages: messageCount, characters: 0 });
}

function toSummary(
  { threadId, createdAt, lastActivity, metadata }: ListedSession,
  { messages, characters }: { readonly messages: number; readonly characters: number },
): Omit<Thread, "message_history"> {
  const own = metadata[clientMetadata];
  return {
    thread_id: threadId,
    status: messages === 0 ? "created" : "active",
    created_at: toIso(createdAt),
    updated_at: toIso(Math.max(createdAt, lastActivity)),
    message_count: messages,
    token_estimate: Math.floor(characters / 4),
    metadata: isRecord(own) ? own : {},
  };
}

/** One message for all that the agent sent in a run. */
export function toAnswer(
  messages: readonly Message[],
  times: Times,
  otherwise: { id: string; at: number },
): ThreadMessage & { readonly tool_calls: readonly ThreadToolCall[] } {
  const replies = messages.filter(({ role }) => role === "assistant");
  const last = replies.at(-1);
  const at = (last && timeOf(times, last.id)) ?? otherwise.at;
  return {
    id: last?.id ?? otherwise.id,
    role: "assistant",
    content: replies.map(plainTextOf).join(""),
    timestamp: toIso(at),
    tool_calls: replies.flatMap((message) => toCalls(message, messages, times)),
    metadata: last?.metadata ?? {},
  };
}

/** Tokens under this dialect's names; undefined when the agent reported none. */
export function toTokens(usage: RunResult["usage"]): Record<string, number> | null {
  if (usage.length === 0) return null;
  let [prompt, completion, total] = [0, 0, 0];
  for (const { inputTokens = 0, outputTokens = 0, totalTokens } of usage) {
    prompt += inputTokens;
    completion += outputTokens;
    total += totalTokens ?? inputTokens + outputTokens;
  }
  return { prompt_tokens: prompt, completion_tokens: completion, total_tokens: total };
}

const roles: Partial<Record<Message["role"], ThreadMessage["role"]>> = {
  user: "user",
  assistant: "assistant",
  system: "system",
  developer: "system",
  tool: "tool",
};

// What a client of this dialect knows: thoughts and activities it does not.
function toHistory(messages: readonly Message[], times: Times, createdAt: number): ThreadMessage[] {
  let latest = createdAt;
  return messages.flatMap((message): ThreadMessage[] => {
    const role = roles[message.role];
    if (role === undefined) return [];
    // Results follow their calls, so a slow one may be newer than the messages after it.
    latest = Math.max(latest, timeOf(times, message.id) ?? latest);
    return [
      {
        id: message.id,
        role,
        content: plainTextOf(message),
        timestamp: toIso(latest),
        tool_calls: role === "assistant" ? toCalls(message, messages, times) : null,
        ...(message.role === "tool" ? { tool_call_id: message.toolCallId } : {}),
        metadata: message.metadata ?? {},
      },
    ];
  });
}

function toCalls(
  message: Message,
  messages: readonly Message[],
  times: Times,
): readonly ThreadToolCall[] {
  if (message.role !== "assistant") return [];
  return (message.toolCalls ?? []).map(({ id, function: called }) => {
    const answer = messages.find((one) => one.role === "tool" && one.toolCallId === id);
    return {
      id,
      tool_name: called.name,
      arguments: toArguments(called.arguments),
      ...(answer ? toThreadsOutcome(answer) : { result: null, error: null }),
      execution_time_ms: answer ? durationOf(answer, timeOf(times, id), times) : null,
    };
  });
}

function durationOf(answer: Message, since: number | undefined, times: Times): number | null {
  return toDuration(answer.metadata, since, timeOf(times, answer.id));
}

/**
 * The duration of a tool: as reported by the client that ran it, otherwise from its call to its
 * result.
 */
export function toDuration(
  metadata: unknown,
  since: number | undefined,
  at: number | undefined,
): number | null {
  const recorded = isRecord(metadata) ? metadata.executionTimeMs : undefined;
  if (typeof recorded === "number" && recorded >= 0) return recorded;
  return since === undefined || at === undefined ? null : Math.max(0, at - since);
}

function timeOf(times: Times, id: string): number | undefined {
  return Object.hasOwn(times, id) ? times[id] : undefined;
}
