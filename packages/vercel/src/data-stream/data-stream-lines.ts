import { asText, isRecord } from "@holodeck/agui-core/internal";
import { EventType } from "@holodeck/agui-core";
import type { BaseEvent, Message } from "@holodeck/agui-core";
import { convertError, toLine } from "./convert.ts";
import { annotate, data, DataStreamData } from "./data-stream-data.ts";
import type { DataStreamEncoderOptions } from "./data-stream-encoder.ts";
import { DataStreamMessage, noUsage } from "./data-stream-message.ts";
import type { DataStreamUsage } from "./data-stream-message.ts";
import { parseStructure } from "../shared/json.ts";
import { failureIn, maskedFailure } from "../shared/run-failure.ts";
import { finishReasonOf, totalUsage } from "../shared/run-ending.ts";
import { UnsentMessages } from "../shared/unsent-messages.ts";

/** What each event becomes in data stream v1. A class for the reason that `UiChunks` is one. */
export class DataStreamLines {
  readonly #options: DataStreamEncoderOptions;
  readonly #unsent: UnsentMessages;
  readonly #message: DataStreamMessage;
  #data: DataStreamData | undefined;
  #state: "new" | "open" | "done" = "new";

  constructor(options: DataStreamEncoderOptions) {
    const { mode, known, jsonDepth } = options;
    this.#options = options;
    this.#unsent = new UnsentMessages(known);
    this.#message = new DataStreamMessage({ isOldest: mode === "3.4", known, jsonDepth });
  }

  /** The blank first part, if it has not been sent. */
  blank(): string {
    return this.#message.blank();
  }

  /** The lines of one event; none when the client has no use for it. */
  encode(event: BaseEvent): string {
    if (this.#state === "done") return "";
    if (this.#state === "open") return this.#encode(event);
    return this.#open(asText(event.runId) ?? "") + this.#encode(event);
  }

  /** Whether a delta of this text would be one more line and nothing else. */
  isAt(messageId: string): boolean {
    if (this.#state !== "open" || this.#unsent.isForeign(messageId)) return false;
    return this.#message.isAt(messageId);
  }

  /** Returns what remains to be sent after the last event. */
  close(): string {
    if (this.#state === "done") return "";
    const head = this.#state === "new" ? this.#open("") : "";
    return head + this.#finish("unknown", noUsage);
  }

  #open(runId: string): string {
    this.#state = "open";
    return this.#message.blank() + this.#message.start(this.#options.continues ?? runId);
  }

  #finish(reason: string, usage: DataStreamUsage, errorLine = ""): string {
    this.#state = "done";
    const end = this.#message.end(reason, usage);
    return `${end}${errorLine}${toLine("d", { finishReason: reason, usage })}`;
  }

  #encode(event: BaseEvent): string {
    const unsent = this.#unsent;
    const message = this.#message;
    switch (event.type) {
      case EventType.RUN_STARTED:
        return "";
      case EventType.RUN_FINISHED:
        return this.#end(event);
      case EventType.RUN_ERROR:
        return this.#finish("error", toUsage(event.usage), convertError(this.#describe(event)));
      case EventType.TEXT_MESSAGE_START:
        unsent.start(event);
        return "";
      case EventType.TEXT_MESSAGE_CONTENT:
      case EventType.TEXT_MESSAGE_CHUNK:
        return unsent.append(event) ? message.text(text(event.messageId), text(event.delta)) : "";
      case EventType.TEXT_MESSAGE_END: {
        const foreign = unsent.end(event);
        return foreign ? data("agui-message", foreign) : "";
      }
      case EventType.REASONING_MESSAGE_START:
        unsent.isNew(text(event.messageId));
        message.startReasoning(text(event.messageId));
        return "";
      case EventType.REASONING_MESSAGE_CONTENT:
      case EventType.REASONING_MESSAGE_CHUNK:
        return message.reasoning(text(event.messageId), text(event.delta));
      case EventType.REASONING_ENCRYPTED_VALUE: {
        const { subtype, entityId, encryptedValue, encryptedValueType } = event;
        const line =
          subtype === "message"
            ? message.signature(text(entityId), text(encryptedValue))
            : undefined;
        return (
          line ??
          annotate("agui-encrypted", { subtype, entityId, encryptedValue, encryptedValueType })
        );
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
        unsent.isNew(text(event.messageId));
        return message.result(
          text(event.toolCallId),
          toResult(event.content, this.#options.jsonDepth),
        );
      case EventType.MESSAGES_SNAPSHOT:
        return unsent
          .take(event.messages as readonly Message[])
          .map((one) => this.#encodeMessage(one))
          .join("");
      default:
        return (this.#data ??= this.#createData()).encode(event);
    }
  }

  // Sends whole messages of this run that came only in a snapshot.
  #encodeMessage(one: Message): string {
    const unsent = this.#unsent;
    const message = this.#message;
    if (one.role === "reasoning") {
      return unsent.isNew(one.id) ? message.reasoning(one.id, one.content) : "";
    }
    if (one.role === "tool") {
      if (!unsent.isNew(one.id) || message.hasResult(one.toolCallId)) return "";
      return message.result(one.toolCallId, toResult(one.content, this.#options.jsonDepth));
    }
    if (one.role !== "assistant") return "";
    const calls = (one.toolCalls ?? []).filter(({ id }) => !message.hasCall(id));
    return [
      unsent.isNew(one.id) ? message.text(one.id, text(one.content)) : "",
      ...calls.flatMap(({ id, function: { name, arguments: args } }) => [
        message.startCall(id, name),
        message.callArguments(id, args),
        message.endCall(id),
      ]),
    ].join("");
  }

  #end({ outcome, result, usage }: BaseEvent): string {
    const { type, interrupts } = isRecord(outcome) ? outcome : {};
    const asked = Array.isArray(interrupts) ? interrupts.map(toInterrupt).join("") : "";
    const resultLine = result === undefined || result === null ? "" : data("agui-result", result);
    const reason = finishReasonOf(type, this.#message.isWaiting);
    return asked + resultLine + this.#finish(reason, toUsage(usage));
  }

  #createData(): DataStreamData {
    const isOldest = this.#options.mode === "3.4";
    return new DataStreamData({ isOldest, describeFailure: (event) => this.#describe(event) });
  }

  #describe(event: BaseEvent): string {
    const { describeFailure, debug } = this.#options;
    const failure = failureIn(event);
    const words = describeFailure ? describeFailure(failure) : debug ? failure.message : "";
    return words || maskedFailure;
  }
}

function toInterrupt(interrupt: unknown): string {
  return annotate("agui-interrupt", interrupt);
}

function toUsage(usage: unknown): DataStreamUsage {
  const { inputTokens = 0, outputTokens = 0 } = totalUsage(usage) ?? {};
  return { promptTokens: Number(inputTokens), completionTokens: Number(outputTokens) };
}

// AG-UI has results as text; a client that renders one needs the object that the tool returned.
function toResult(content: unknown, jsonDepth: number | undefined): unknown {
  return typeof content === "string" ? parseStructure(content, jsonDepth) : content;
}

function text(value: unknown): string {
  return typeof value === "string" ? value : "";
}
