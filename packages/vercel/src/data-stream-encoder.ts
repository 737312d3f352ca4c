import { assertOptions, EventType } from "@holodeck/agui-core";
import type { BaseEvent, Encoder, Message } from "@holodeck/agui-core";
import { annotate, createDataStreamData, data } from "./_data-stream-data.ts";
import { createDataStreamMessage, noUsage } from "./_data-stream-message.ts";
import type { DataStreamUsage } from "./_data-stream-message.ts";
import { createUnsaid } from "./_unsaid-messages.ts";
import { convertError, errorText, toLine } from "./convert.ts";

/** Whom the lines are for. */
export interface DataStreamEncoderOptions {
  /** For the parser of AI SDK 3.4: without `f` to `k`, which it fails on. By default that of 4. */
  mode?: "3.4" | undefined;
  /** Id of the assistant message that the run continues. By default a new message. */
  continues?: string | undefined;
  /** What the client has already: the messages of its request. By default nothing. */
  history?: readonly Message[] | undefined;
  /** Show messages of errors that are masked otherwise. */
  debug?: boolean | undefined;
  /** Add `Connection` and `Content-Encoding: none`, as older servers of this protocol sent them. */
  legacyHeaders?: boolean | undefined;
}

const known = ["mode", "continues", "history", "debug", "legacyHeaders"];

/**
 * Data stream v1, for `useChat` and `useCompletion` of AI SDK 3.4 and 4: one part a line, exactly one
 * `d:` and it is the last.
 *
 * @example
 * ```ts
 * return run.stream(dataStreamEncoder({ continues: chat.continues }), "start");
 * ```
 */
export function dataStreamEncoder(options: DataStreamEncoderOptions = {}): Encoder {
  assertOptions("dataStreamEncoder", options, known);
  const { mode, continues, debug, legacyHeaders, history = [] } = options;
  if (mode !== undefined && mode !== "3.4") {
    throw new TypeError(
      `dataStreamEncoder({ mode }) is "3.4" or left out, not ${JSON.stringify(mode)}.`,
    );
  }
  const isOldest = mode === "3.4";
  const unsaid = createUnsaid(history);
  const message = createDataStreamMessage({ isOldest, isKnownCall: unsaid.isKnownCall });
  const other = createDataStreamData({ isOldest });
  let state: "new" | "open" | "done" = "new";

  function open(runId: unknown): string {
    state = "open";
    return message.start(continues ?? toMessageId(String(runId)));
  }

  function finish(reason: string, usage: DataStreamUsage, errorLine = ""): string {
    state = "done";
    const end = message.end(reason, usage);
    return `${end}${errorLine}${toLine("d", { finishReason: reason, usage })}`;
  }

  function encode(event: BaseEvent): string {
    switch (event.type) {
      case EventType.RUN_FINISHED:
        return end(event);
      case EventType.RUN_ERROR: {
        const line = convertError(errorText(event, debug));
        return finish("error", toUsage(event.usage), line);
      }
      case EventType.TEXT_MESSAGE_START:
        unsaid.start(event);
        return "";
      case EventType.TEXT_MESSAGE_CONTENT:
      case EventType.TEXT_MESSAGE_CHUNK:
        return unsaid.hear(event) ? message.text(text(event.messageId), text(event.delta)) : "";
      case EventType.TEXT_MESSAGE_END: {
        const foreign = unsaid.end(event);
        return foreign ? data("agui-message", foreign) : "";
      }
      case EventType.REASONING_MESSAGE_START:
        unsaid.isNew(text(event.messageId));
        message.startReasoning(text(event.messageId));
        return "";
      case EventType.REASONING_MESSAGE_CONTENT:
      case EventType.REASONING_MESSAGE_CHUNK:
        return message.reasoning(text(event.messageId), text(event.delta));
      case EventType.REASONING_ENCRYPTED_VALUE: {
        const { subtype, entityId, encryptedValue } = event;
        const line =
          subtype === "message"
            ? message.signature(text(entityId), text(encryptedValue))
            : undefined;
        return line ?? annotate("agui-encrypted", { subtype, entityId, encryptedValue });
      }
      case EventType.TOOL_CALL_START:
        return message.startCall(text(event.toolCallId), text(event.toolCallName));
      case EventType.TOOL_CALL_ARGS:
        return message.callArguments(text(event.toolCallId), text(event.delta));
      case EventType.TOOL_CALL_CHUNK:
        return (
          message.startCall(text(event.toolCallId), text(event.toolCallName)) +
          message.callArguments(text(event.toolCallId), text(event.delta))
        );
      case EventType.TOOL_CALL_END:
        return message.endCall(text(event.toolCallId));
      case EventType.TOOL_CALL_RESULT:
        return message.result(text(event.toolCallId), parseResult(event.content));
      case EventType.MESSAGES_SNAPSHOT:
        return unsaid
          .take(event.messages as readonly Message[])
          .map((one) => say(one))
          .join("");
      default:
        return other.encode(event) ?? "";
    }
  }

  // What an agent says by a snapshot alone: whole messages of this run.
  function say(one: Message): string {
    if (one.role === "reasoning") {
      return unsaid.isNew(one.id) ? message.reasoning(one.id, one.content) : "";
    }
    if (one.role === "tool") {
      if (message.hasResult(one.toolCallId)) return "";
      return message.result(one.toolCallId, parseResult(one.content));
    }
    if (one.role !== "assistant") return "";
    const calls = (one.toolCalls ?? []).filter(({ id }) => !message.hasCall(id));
    return [
      unsaid.isNew(one.id) ? message.text(one.id, text(one.content)) : "",
      ...calls.flatMap(({ id, function: { name, arguments: args } }) => [
        message.startCall(id, name),
        message.callArguments(id, args),
        message.endCall(id),
      ]),
    ].join("");
  }

  function end({ outcome, result, usage }: BaseEvent): string {
    const { type, interrupts = [] } = (outcome ?? {}) as Outcome;
    const asked = interrupts.map((interrupt) => annotate("agui-interrupt", interrupt)).join("");
    const isAsking = interrupts.length > 0 || message.isWaiting;
    const reason = type === "cancelled" ? "other" : isAsking ? "tool-calls" : "stop";
    const told = result === undefined ? "" : data("agui-result", result);
    return asked + told + finish(reason, toUsage(usage));
  }

  return {
    contentType: "text/plain; charset=utf-8",
    headers: {
      "x-vercel-ai-data-stream": "v1",
      "cache-control": "no-cache, no-transform",
      "x-accel-buffering": "no",
      // Never `Transfer-Encoding`: the server frames the body, and HTTP/2 refuses the header.
      ...(legacyHeaders ? { connection: "keep-alive", "content-encoding": "none" } : {}),
    },
    encode({ event }) {
      if (state === "done") return "";
      const head = state === "new" ? open(event.runId ?? "") : "";
      return head + encode(event);
    },
    // Readers skip an empty line; a comment, as in server-sent events, would end them.
    keepAlive: () => "\n",
    close: () =>
      state === "done" ? "" : (state === "new" ? open("") : "") + finish("unknown", noUsage),
  };
}

interface Outcome {
  readonly type?: string;
  readonly interrupts?: readonly unknown[];
}

/** The id of the one assistant message that a response is. */
export function toMessageId(runId: string): string {
  return `msg-${runId}`;
}

function toUsage(usage: unknown): DataStreamUsage {
  const entries = Array.isArray(usage) ? (usage as readonly Record<string, unknown>[]) : [];
  const sum = (key: string): number =>
    entries.reduce((total, entry) => total + (typeof entry[key] === "number" ? entry[key] : 0), 0);
  return { promptTokens: sum("inputTokens"), completionTokens: sum("outputTokens") };
}

// AG-UI has results as text; a client that renders one wants the object that the tool returned.
function parseResult(content: unknown): unknown {
  if (typeof content !== "string" || !/^\s*[[{]/.test(content)) return content;
  try {
    return JSON.parse(content) as unknown;
  } catch {
    return content;
  }
}

function text(value: unknown): string {
  return typeof value === "string" ? value : "";
}
