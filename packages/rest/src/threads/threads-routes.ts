import { AgentError } from "@holodeck/agui-core";
import { runOfClientCall } from "@holodeck/agui-core/internal";
import type { Call, ProtocolHost, Reply } from "@holodeck/agui-core";
import { principalOf } from "./threads-chat.ts";
import { readToolResult } from "./threads-check.ts";
import { decodeThreadsChat } from "./threads-decode.ts";
import { toListedThread, toThread } from "./threads-messages.ts";
import { invalid, threadIn, toThreadId } from "./threads-settings.ts";
import type { ThreadsSettings } from "./threads-settings.ts";

const defaultLimit = 20;
const maxLimit = 100;

/** `GET /threads`: the caller's own, the latest first, page by page. */
export async function listThreads(
  call: Call,
  host: ProtocolHost,
  settings: ThreadsSettings,
): Promise<Reply> {
  if (!call.principal) {
    throw new AgentError(
      "authentication-required",
      "Listing threads requires authentication, which this server does not have.",
      { status: 403 },
    );
  }
  const limit = toLimit(call.query.get("limit"), settings);
  const cursor = call.query.get("cursor");
  const query = { principal: call.principal.id, limit };
  const page = await host.sessions.list(cursor ? { ...query, cursor } : query);
  // Those that other protocols have named otherwise could not be asked for here.
  const { idFormat } = settings;
  const own = page.items.filter(({ threadId: id }) => toThreadId(id, idFormat) === id);
  return {
    status: 200,
    body: { threads: own.map(toListedThread), next_cursor: page.next ?? null },
  };
}

/** `GET /threads/:id` */
export async function getThread(
  call: Call,
  host: ProtocolHost,
  settings: ThreadsSettings,
): Promise<Reply> {
  const threadId = threadIn(call.params, settings);
  const session = await host.sessions.get({ principal: principalOf(call), threadId });
  if (!session) throw notFound(threadId);
  return { status: 200, body: { ...toThread(session) } };
}

/** `DELETE /threads/:id`: with its messages, its runs and what they have asked for. */
export async function deleteThread(
  call: Call,
  host: ProtocolHost,
  settings: ThreadsSettings,
): Promise<Reply> {
  const threadId = threadIn(call.params, settings);
  if (await host.sessions.delete({ principal: principalOf(call), threadId })) {
    return { status: 204 };
  }
  throw notFound(threadId);
}

/** `POST /threads/:id/abort`: stops the run of a thread, and keeps the thread. */
export async function abortThread(
  call: Call,
  host: ProtocolHost,
  settings: ThreadsSettings,
): Promise<Reply> {
  const threadId = threadIn(call.params, settings);
  const key = { principal: principalOf(call), threadId };
  if (await host.send(call, { threadId }, { type: "stop" })) {
    return { status: 202, body: { thread_id: threadId, aborted: true } };
  }
  if (!(await host.sessions.get(key))) throw notFound(threadId);
  return { status: 200, body: { thread_id: threadId, aborted: false } };
}

/** `POST /tool_result`: what a client tool returned, to the run that waits for it. */
export async function answerTool(
  call: Call,
  host: ProtocolHost,
  settings: ThreadsSettings,
): Promise<Reply> {
  const body = decodeThreadsChat(call.body, readToolResult, settings);
  const { execution_id: toolCallId, execution_time_ms: executionTimeMs } = body;
  const runId = runOfClientCall(toolCallId);
  const record = runId && (await host.sessions.runs.find(principalOf(call), runId));
  if (!record || (body.thread_id !== undefined && record.threadId !== body.thread_id)) {
    throw new AgentError(
      "unknown-execution",
      `No execution "${toolCallId}" is waiting for a result.`,
    );
  }
  const about = { type: "tool-result", toolCallId, executionTimeMs } as const;
  const outcome =
    typeof body.error === "string" ? { error: body.error } : { result: body.result ?? null };
  await host.send(call, { runId: record.runId }, { ...about, ...outcome });
  return { status: 200, body: { status: "received", execution_id: toolCallId } };
}

function toLimit(given: string | null, { validationStatus }: ThreadsSettings): number {
  if (given === null) return defaultLimit;
  const limit = /^\d{1,6}$/.test(given) ? Number(given) : 0;
  if (limit >= 1 && limit <= maxLimit) return limit;
  const message = `limit must be a whole number from 1 to ${maxLimit}`;
  throw invalid({ path: "limit", message }, validationStatus);
}

function notFound(threadId: string): AgentError {
  return new AgentError("thread-not-found", `There is no thread "${threadId}".`);
}
