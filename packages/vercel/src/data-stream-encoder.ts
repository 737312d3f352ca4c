import { assertOptions, describeValue, EventType } from "@holodeck/agui-core";
import type { BaseEvent, Encoder, Message } from "@holodeck/agui-core";
import { convertError, toLine } from "./convert.ts";
import { annotate, createDataStreamData, data } from "./data-stream-data.ts";
import { createDataStreamMessage, noUsage } from "./data-stream-message.ts";
import type { DataStreamUsage } from "./data-stream-message.ts";
import { vercelHeaders } from "./headers.ts";
import { asText, isRecord, parseStructure } from "./json.ts";
import { finishReasonOf, totalUsage } from "./ui-ending.ts";
import { maskedFailure } from "./run-failure.ts";
import type { RunFailure } from "./run-failure.ts";
import { createUnsaid } from "./unsaid-messages.ts";

/** Whom the lines are for, and what they continue. */
export interface DataStreamEncoderOptions {
  /** For the parser of AI SDK 3.4: without `f` to `k`, which it fails on. By default for that of 4. */
  mode?: "3.4" | undefined;
  /** Id of the assistant message that this run continues. */
  continues?: string | undefined;
  /** Ids of the messages and tool calls which that message holds already. */
  known?: ReadonlySet<string> | undefined;
  /** What the client is told of a failure. By default "An error occurred.", whatever it was. */
  describeFailure?: ((failure: RunFailure) => string) | undefined;
  /** Tell the client the failure's own message. */
  debug?: boolean | undefined;
  /** Adds `Connection` and `Content-Encoding`, as servers of old sent them. */
  legacyHeaders?: boolean | undefined;
}

const optionNames = ["mode", "continues", "known", "describeFailure", "debug", "legacyHeaders"];

/**
 * Data stream v1, for `useChat` and `useCompletion` of AI SDK 3.4 and 4: a part a line, exactly one
 * `d:` and it is the last.
 *
 * @example
 * ```ts
 * return run.stream(dataStreamEncoder({ continues: chat.continues }), "start");
 * ```
 */
export function dataStreamEncoder(options: DataStreamEncoderOptions = {}): Encoder {
  assertOptions("dataStreamEncoder", options, optionNames);
  const { mode, continues, known, debug, legacyHeaders } = options;
  if (mode !== undefined && mode !== "3.4") {
    throw new TypeError(`dataStreamEncoder({ mode: ${describeValue(mode)} }) must be "3.4".`);
  }
  const { describeFailure = ({ message }) => (debug ? message : maskedFailure) } = options;
  const isOldest = mode === "3.4";
  const unsaid = createUnsaid(known);
  const message = createDataStreamMessage({ isOldest, known });
  const encodeData = createDataStreamData({ isOldest, describeFailure: describe });
  let state: "new" | "open" | "done" = "new";

  function describe(event: BaseEvent): string {
    const code = asText(event.code);
    const failure = { message: asText(event.message) ?? "", ...(code !== undefined && { code }) };
    return describeFailure(failure) || maskedFailure;
  }

  function open(runId: string): string {
    state = "open";
    return message.blank() + message.start(continues ?? runId);
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
      case EventType.RUN_ERROR:
        return finish("error", toUsage(event.usage), convertError(describe(event)));
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
        unsaid.isNew(text(event.messageId));
        return message.result(text(event.toolCallId), toResult(event.content));
      case EventType.MESSAGES_SNAPSHOT:
        return unsaid
          .take(event.messages as readonly Message[])
          .map((one) => say(one))
          .join("");
      default:
        return encodeData(event) ?? "";
    }
  }

  // What an agent says by a snapshot alone: whole messages of this run.
  function say(one: Message): string {
    if (one.role === "reasoning") {
      return unsaid.isNew(one.id) ? message.reasoning(one.id, one.content) : "";
    }
    if (one.role === "tool") {
      if (!unsaid.isNew(one.id) || message.hasResult(one.toolCallId)) return "";
      return message.result(one.toolCallId, toResult(one.content));
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
    const { type, interrupts } = isRecord(outcome) ? outcome : {};
    const asked = Array.isArray(interrupts) ? interrupts.map(toInterrupt).join("") : "";
    const told = result === undefined || result === null ? "" : data("agui-result", result);
    return asked + told + finish(finishReasonOf(type, message.isWaiting), toUsage(usage));
  }

  return {
    contentType: "text/plain; charset=utf-8",
    headers: vercelHeaders("x-vercel-ai-data-stream", legacyHeaders),
    // At once, also while the agent has not said anything.
    open: () => message.blank(),
    encode({ event }) {
      if (state === "done") return "";
      const head = state === "new" ? open(asText(event.runId) ?? "") : "";
      return head + encode(event);
    },
    // Readers skip an empty line; a comment, as in server-sent events, would end them.
    keepAlive: () => "\n",
    close: () =>
      state === "done" ? "" : (state === "new" ? open("") : "") + finish("unknown", noUsage),
  };
}

function toInterrupt(interrupt: unknown): string {
  return annotate("agui-interrupt", interrupt);
}

function toUsage(usage: unknown): DataStreamUsage {
  const { inputTokens = 0, outputTokens = 0 } = totalUsage(usage) ?? {};
  return { promptTokens: Number(inputTokens), completionTokens: Number(outputTokens) };
}

// AG-UI has results as text; a client that renders one wants the object that the tool returned.
function toResult(content: unknown): unknown {
  return typeof content === "string" ? parseStructure(content) : content;
}

function text(value: unknown): string {
  return typeof value === "string" ? value : "";
}
