import { AgentError, createDeltaFrames, EventType, toProblem } from "@holodeck/agui-core";
import type { BaseEvent, DeltaFrame, Encoder, LogEntry, RunResult } from "@holodeck/agui-core";
import { toMilliseconds } from "./chat-response.ts";
import { createSuggested } from "../shared/suggested-questions.ts";
import { sumUsage } from "./token-usage.ts";
import { isFailure, readArguments } from "../shared/tool-call-info.ts";
import type { ToolStatus } from "../shared/tool-call-info.ts";

/** Which request the stream answers; an `error` event names it. */
export interface RestSseEncoderOptions {
  /** The requested path. */
  instance?: string | undefined;
  /** By default the id of the run. */
  requestId?: string | undefined;
}

/**
 * A run as REST streams it: `stream_start`, then `message_delta` and `tool_call_*`, then `stream_end`
 * or `error`.
 *
 * @example
 * ```ts
 * return run.stream(restSseEncoder({ requestId: call.requestId }), "start");
 * ```
 */
export function restSseEncoder(options: RestSseEncoderOptions = {}): Encoder {
  // Ids are the run's, so that all clients of a run receive the same.
  let messageId = "";
  let startedAt: number | undefined;
  /** Calls without a result, with their arguments so far. */
  const calls = new Map<string, string>();
  const ended = new Set<string>();
  /** Messages in another role than the assistant's. */
  const unheard = new Set<string>();
  const suggested = createSuggested();

  function begin({ at, event }: LogEntry): string {
    const { threadId, runId } = event as unknown as { threadId: string; runId: string };
    messageId = runId;
    startedAt = at;
    return frame("stream_start", { session_id: threadId, message_id: messageId });
  }

  function encodeText({ delta = "", messageId: id }: EventFields): string {
    if (delta === "" || unheard.has(id)) return "";
    return frame("message_delta", { delta, message_id: messageId });
  }

  function frameOf({ event }: LogEntry): DeltaFrame | undefined {
    const { type, messageId: id } = event as BaseEvent & EventFields;
    if (type !== EventType.TEXT_MESSAGE_CONTENT || unheard.has(id)) return undefined;
    const head = 'event: message_delta\ndata: {"delta":"';
    return { head, tail: `","message_id":${JSON.stringify(messageId)}}\n\n` };
  }

  function startCall({ toolCallId, toolCallName }: EventFields): string {
    // Begun again, to go on with its arguments, or after its result: it is the same call.
    if (calls.has(toolCallId) || ended.has(toolCallId)) return "";
    calls.set(toolCallId, "");
    const call = { tool_call_id: toolCallId, name: toolCallName, message_id: messageId };
    return frame("tool_call_start", call);
  }

  function addArgs({ toolCallId, delta = "" }: EventFields): string {
    const text = calls.get(toolCallId);
    if (text === undefined || delta === "") return "";
    calls.set(toolCallId, text + delta);
    return frame("tool_call_args", { tool_call_id: toolCallId, args_delta: delta });
  }

  // A call has ended when its result is known; complete arguments are not its end.
  function endCall(toolCallId: string, outcome: ToolStatus): string {
    const text = calls.get(toolCallId);
    if (text === undefined) return "";
    calls.delete(toolCallId);
    ended.add(toolCallId);
    const status = readArguments(text) === undefined ? "error" : outcome;
    return frame("tool_call_end", { tool_call_id: toolCallId, status });
  }

  function end({ at, event }: LogEntry): string {
    const { outcome, usage = [] } = event as unknown as Ending;
    // What waits for the client is no failure; what a stop cut short is.
    const left = endAll(outcome?.type === "cancelled" ? "error" : "success");
    return (
      left +
      frame("stream_end", {
        message_id: messageId,
        tokens_used: sumUsage(usage),
        execution_time_ms: toMilliseconds(at - (startedAt ?? at)),
        ...suggested.fields,
      })
    );
  }

  function fail(event: BaseEvent): string {
    const { code = "agent-error", message = "" } = event as unknown as Failure;
    const { body } = toProblem(new AgentError(code, message), {
      ...(options.instance === undefined ? {} : { instance: options.instance }),
      requestId: options.requestId ?? messageId,
    });
    return `${endAll("error")}event: error\ndata: ${body}\n\n`;
  }

  function endAll(outcome: ToolStatus): string {
    return [...calls.keys()].map((id) => endCall(id, outcome)).join("");
  }

  function encode(entry: LogEntry): string {
    const event = entry.event as BaseEvent & EventFields;
    switch (event.type) {
      case EventType.TEXT_MESSAGE_CONTENT:
        return encodeText(event);
      case EventType.TOOL_CALL_ARGS:
        return addArgs(event);
      case EventType.RUN_STARTED:
        return begin(entry);
      case EventType.TEXT_MESSAGE_START:
        // An agent may send messages in other roles; the answer is the assistant's.
        if ((event.role ?? "assistant") !== "assistant") unheard.add(event.messageId);
        return "";
      case EventType.TEXT_MESSAGE_END:
        unheard.delete(event.messageId);
        return "";
      case EventType.TOOL_CALL_START:
        return startCall(event);
      case EventType.TOOL_CALL_RESULT:
        return endCall(event.toolCallId, isFailure(event) ? "error" : "success");
      case EventType.CUSTOM:
        suggested.note(event);
        return "";
      case EventType.RUN_FINISHED:
        return end(entry);
      case EventType.RUN_ERROR:
        return fail(event);
      default:
        return "";
    }
  }

  const frames = createDeltaFrames({ frame: frameOf, encode, textOnly: true, skipEmpty: true });
  return {
    contentType: "text/event-stream",
    headers: { "cache-control": "no-cache, no-transform", "x-accel-buffering": "no" },
    encode: frames.encode,
    encodeDeltas: frames.encodeDeltas,
    keepAlive: () => ": keepalive\n\n",
  };
}

/** The fields that are read; its type decides which of them an event has. */
interface EventFields {
  readonly messageId: string;
  readonly toolCallId: string;
  readonly toolCallName: string;
  readonly delta?: string;
  readonly role?: string;
  readonly error?: unknown;
}

interface Ending {
  readonly outcome?: { readonly type?: string };
  readonly usage?: RunResult["usage"];
}

interface Failure {
  readonly code?: AgentError["code"];
  readonly message?: string;
}

function frame(event: string, data: object): string {
  return `event: ${event}\ndata: ${JSON.stringify(data)}\n\n`;
}
