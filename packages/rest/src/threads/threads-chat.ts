import { AgentError, ulid } from "@holodeck/agui-core";
import { idHeader, isRecord } from "@holodeck/agui-core/internal";
import type { ActiveRun, Call, Json, ProtocolHost, Reply } from "@holodeck/agui-core";
import { createSuggested } from "../shared/suggested-questions.ts";
import { readChatBody } from "./threads-check.ts";
import { decodeThreadsChat, maxMetadata, toTool, tooMuchMetadata } from "./threads-decode.ts";
import { threadsEncoder } from "./threads-encoder.ts";
import { clientMetadata, toAnswer, toTokens } from "./threads-messages.ts";
import { invalid } from "./threads-settings.ts";
import type { ThreadsSettings } from "./threads-settings.ts";

/** `POST /chat`: a user message, answered by a stream or by one object. */
export async function answerChat(
  call: Call,
  host: ProtocolHost,
  settings: ThreadsSettings,
): Promise<Reply> {
  const body = decodeThreadsChat(call.body, readChatBody, settings);
  warnOfUnknown(call, host);
  const threadId = body.thread_id ?? crypto.randomUUID();
  const metadata = await toMetadata({ principal: principalOf(call), threadId }, body, host);
  if (JSON.stringify(metadata).length > maxMetadata) {
    throw invalid(tooMuchMetadata, settings.validationStatus);
  }
  const user = { id: ulid(), role: "user" as const, content: body.message };
  const active = await host.start(call, {
    agentId: body.agent_id ?? undefined,
    input: {
      threadId,
      runId: ulid(),
      messages: [user],
      tools: body.tools.map(toTool),
      context: [],
      state: {},
      forwardedProps: { metadata: body.metadata },
    },
    metadata,
    isNewThread: body.thread_id === undefined,
    maxMessages: settings.maxMessages,
    clientTools: body.stream ? "inline" : "halt",
  });
  // Headers carry ASCII only; every event and every answer has the id as well.
  const headers = {
    ...idHeader("x-run-id", active.record.runId),
    ...idHeader("x-thread-id", threadId),
  };
  if (!body.stream) return { status: 200, headers, body: await answer(active, host, user.id) };
  const { record } = active;
  const encoder = threadsEncoder({
    threadId: record.threadId,
    runId: record.runId,
    maxBytes: host.limits.runLogBytes,
  });
  return active.stream(encoder, "start", headers);
}

/** Whose threads a caller may see. */
export function principalOf({ principal }: Call): string {
  return principal?.id ?? "";
}

async function answer(active: ActiveRun, host: ProtocolHost, userId: string): Promise<Json> {
  const { record } = active;
  const suggested = createSuggested();
  const { messages, error, usage, ms } = await active.collect(suggested.note);
  if (error) throw error;
  const { status } = (await host.sessions.runs.find(record.principal, record.runId)) ?? record;
  if (status === "cancelled") {
    throw new AgentError("stopped", "The run was stopped.", { status: 409 });
  }
  // The end of a run is stored before it is sent.
  const session = await host.sessions.get(record);
  const since = messages.findIndex(({ id }) => id === userId) + 1;
  const otherwise = { id: record.runId, at: session?.lastActivity ?? 0 };
  const reply = toAnswer(messages.slice(since), session?.times ?? {}, otherwise);
  const message = { ...reply, metadata: { ...reply.metadata, ...suggested.fields } };
  return {
    thread_id: record.threadId,
    message_id: message.id,
    content: message.content,
    message,
    tool_calls: message.tool_calls,
    tokens_used: toTokens(usage),
    execution_time_ms: Math.round(ms),
  };
}

async function toMetadata(
  key: { principal: string; threadId: string },
  { metadata: given }: { metadata: Json },
  host: ProtocolHost,
): Promise<Json> {
  if (Object.keys(given).length === 0) return {};
  const before = (await host.sessions.get(key))?.metadata[clientMetadata];
  return { [clientMetadata]: { ...(isRecord(before) ? before : {}), ...given } };
}

const known = new Set(["message", "thread_id", "stream", "metadata", "agent_id", "tools"]);

function warnOfUnknown({ body, requestId }: Call, { logger }: ProtocolHost): void {
  const names: string[] = [];
  for (const name in body as Json) {
    if (!known.has(name)) names.push(name.slice(0, 40));
    if (names.length === 10) break;
  }
  if (names.length === 0) return;
  logger.warn({ requestId, names }, "Parts of the request were ignored.");
}
