import { createDeltaFrames, EventType } from "@holodeck/agui-core";
import { createRunView, runOfClientCall } from "@holodeck/agui-core/internal";
import type {
  BaseEvent,
  DeltaFrame,
  Encoder,
  Json,
  LogEntry,
  RunResult,
} from "@holodeck/agui-core";
import { createSuggested } from "../shared/suggested-questions.ts";
import { isRecoverable, toErrorType } from "./threads-errors.ts";
import { toArguments, toIso, toThreadsOutcome } from "./threads-events.ts";
import { toAnswer, toDuration, toTokens } from "./threads-messages.ts";

/** The run to encode. */
export interface ThreadsEncoderOptions {
  readonly threadId: string;
  readonly runId: string;
  /** Beyond this the last event has less than the full text. By default there is no limit. */
  readonly maxBytes?: number;
}

interface OpenCall {
  readonly name: string;
  args: string;
  /** When its arguments were complete. */
  at?: number;
}

/**
 * The threads dialect as server-sent events: `token`, `tool_start`, `tool_end`,
 * `tool_execution_request`, `tool_execution_complete`, and at the end `message_complete` or `error`.
 *
 * @example
 * ```ts
 * return run.stream(threadsEncoder(run.record), "start");
 * ```
 */
export function threadsEncoder(options: ThreadsEncoderOptions): Encoder {
  const { threadId, runId, maxBytes } = options;
  const view = createRunView({
    messages: [],
    state: {},
    ...(maxBytes === undefined ? {} : { maxBytes }),
  });
  const calls = new Map<string, OpenCall>();
  // A message keeps the role it was begun in. In another than the assistant's it is not what the user
  // waits for.
  const roles = new Map<unknown, unknown>();
  const suggested = createSuggested();
  const tokenHead = `data: {"event":"token","thread_id":${JSON.stringify(threadId)},"timestamp":"`;
  const frames = createDeltaFrames({
    frame: tokenFrame,
    encode: encodeRest,
    textOnly: true,
    lasts: "time",
    skipEmpty: true,
  });

  function frame(event: string, at: number, fields: Json): string {
    const head = { event, thread_id: threadId, timestamp: toIso(at) };
    return `data: ${JSON.stringify({ ...head, ...fields })}\n\n`;
  }

  function asked({ event, at }: LogEntry): string {
    const id = textOr(event.toolCallId);
    const call = calls.get(id);
    if (!call) return "";
    call.at = at;
    const about = { tool_name: call.name, arguments: toArguments(call.args) };
    call.args = "";
    return isClient(id)
      ? frame("tool_execution_request", at, { execution_id: id, ...about })
      : frame("tool_start", at, { tool_call_id: id, ...about });
  }

  function answered({ event, at }: LogEntry): string {
    const id = textOr(event.toolCallId);
    const call = calls.get(id);
    if (!call) return "";
    calls.delete(id);
    const { result, error } = toThreadsOutcome(event);
    const failure = error === null ? {} : { error };
    if (isClient(id)) {
      return frame("tool_execution_complete", at, { execution_id: id, ...failure });
    }
    const ms = toDuration(event.metadata, call.at, at) ?? 0;
    const about = { tool_call_id: id, tool_name: call.name, result };
    return frame("tool_end", at, { ...about, ...failure, execution_time_ms: ms });
  }

  const isClient = (toolCallId: string): boolean => runOfClientCall(toolCallId) === runId;

  function failed(code: string, message: unknown, at: number): string {
    return frame("error", at, {
      error_type: toErrorType(code),
      error_message: textOr(message),
      recoverable: isRecoverable(code),
      code,
    });
  }

  function finished({ event, at }: LogEntry): string {
    const { outcome, usage } = event as { outcome?: { type?: unknown }; usage?: unknown };
    if (outcome?.type === "cancelled") return failed("stopped", "The run was stopped.", at);
    const used = Array.isArray(usage) ? toTokens(usage as RunResult["usage"]) : null;
    const answer = toAnswer(view.messages, view.times, { id: runId, at });
    const message = { ...answer, metadata: { ...answer.metadata, ...suggested.fields } };
    return frame("message_complete", at, { message, tokens_used: used });
  }

  function encodeText({ event, at }: LogEntry): string {
    const { messageId, delta } = event;
    if (!isOpenMessage(messageId) || delta === "") return "";
    return frame("token", at, { token: delta, message_id: messageId });
  }

  function tokenFrame({ event: { type, messageId }, at }: LogEntry): DeltaFrame | undefined {
    if (type !== EventType.TEXT_MESSAGE_CONTENT || !isOpenMessage(messageId)) return undefined;
    const tail = `","message_id":${JSON.stringify(messageId)}}\n\n`;
    return { head: `${tokenHead}${toIso(at)}","token":"`, tail };
  }

  function isOpenMessage(messageId: unknown): boolean {
    return (roles.get(messageId) ?? "assistant") === "assistant";
  }

  function note(event: BaseEvent): void {
    if (event.type === EventType.TEXT_MESSAGE_START) {
      const { role = "assistant", messageId } = event;
      if (!roles.has(messageId)) roles.set(messageId, role);
    } else if (event.type === EventType.TOOL_CALL_START) {
      const owner = event.parentMessageId ?? event.toolCallId;
      if (!roles.has(owner)) roles.set(owner, "assistant");
      calls.set(textOr(event.toolCallId), { name: textOr(event.toolCallName), args: "" });
    } else if (event.type === EventType.TOOL_CALL_ARGS) {
      const call = calls.get(textOr(event.toolCallId));
      if (call) call.args += textOr(event.delta);
    }
  }

  function encodeRest(entry: LogEntry): string {
    const { event, at } = entry;
    note(event);
    switch (event.type) {
      case EventType.TEXT_MESSAGE_CONTENT:
        return encodeText(entry);
      case EventType.TOOL_CALL_END:
        return asked(entry);
      case EventType.TOOL_CALL_RESULT:
        return answered(entry);
      case EventType.CUSTOM:
        suggested.note(event);
        return "";
      case EventType.RUN_FINISHED:
        return finished(entry);
      case EventType.RUN_ERROR:
        return failed(textOr(event.code, "agent-error"), event.message, at);
      default:
        return "";
    }
  }

  function encode(entry: LogEntry): string {
    const { event, at } = entry;
    if (event.type === EventType.TEXT_MESSAGE_CONTENT || keptTypes.has(event.type))
      view.apply(event, at);
    return frames.encode(entry);
  }

  function encodeDeltas(line: LogEntry, deltas: readonly string[]): string {
    const { event, at } = line;
    // Of the others there is no word until they have ended.
    if (event.type !== EventType.TEXT_MESSAGE_CONTENT) return encode(line);
    view.apply(event, at);
    return frames.encodeDeltas(line, deltas);
  }

  return {
    contentType: "text/event-stream",
    headers: { "cache-control": "no-cache, no-transform", "x-accel-buffering": "no" },
    encode,
    encodeDeltas,
    keepAlive: () => ": keepalive\n\n",
  };
}

// What is logged was guarded; an event of tomorrow may still have something else here.
function textOr(value: unknown, otherwise = ""): string {
  return typeof value === "string" ? value : otherwise;
}

// What the last message is made of. A snapshot would bring the history along.
const keptTypes: ReadonlySet<string> = new Set([
  EventType.TEXT_MESSAGE_START,
  EventType.TEXT_MESSAGE_END,
  EventType.TOOL_CALL_START,
  EventType.TOOL_CALL_ARGS,
  EventType.TOOL_CALL_END,
  EventType.TOOL_CALL_RESULT,
]);
