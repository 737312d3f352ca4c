import { asText, isRecord } from "@holodeck/agui-core/internal";
import { EventType } from "@holodeck/agui-core";
import type { BaseEvent, Json, Message } from "@holodeck/agui-core";
import { defined } from "../shared/json.ts";
import { failureIn, maskedFailure } from "../shared/run-failure.ts";
import { customChunk } from "./ui-custom.ts";
import { UiData } from "./ui-data.ts";
import { finishReasonOf, isApproval, totalUsage } from "../shared/run-ending.ts";
import { UiFrames } from "./ui-frames.ts";
import { UiParts } from "./ui-parts.ts";
import type { ProseKind } from "./ui-parts.ts";
import type { UiStreamEncoderOptions } from "./ui-stream-encoder.ts";
import { toToolOutput } from "./ui-tool-output.ts";

/**
 * What each event becomes in a UI message stream. A class that makes on first use what most runs never
 * need: as some forty closures, all but the deltas of a text cost 10 µs a run and not 4.
 */
export class UiChunks {
  readonly #options: UiStreamEncoderOptions;
  readonly #frames = new UiFrames();
  readonly #parts: UiParts;
  readonly #sent: Set<string>;
  /** Messages of other roles than the assistant's, and their content so far. */
  #asides: Map<string, Json & { content: string }> | undefined;
  #data: UiData | undefined;
  /** Whose encrypted values were sent with a type. */
  #typed: Set<string> | undefined;
  #runId = "";

  constructor(options: UiStreamEncoderOptions) {
    const { continues, known, denied, jsonDepth } = options;
    this.#options = options;
    this.#sent = new Set(known);
    const isContinuation = continues !== undefined;
    this.#parts = new UiParts(this.#frames, { isContinuation, known, denied, jsonDepth });
  }

  /** The frames of one event; none when the client has no use for it. */
  encode(event: BaseEvent, offset: number): string {
    this.#frames.text = "";
    this.#encode(event, offset);
    return this.#frames.text;
  }

  #encode(event: BaseEvent, offset: number): void {
    const id = asText(event.messageId) ?? "";
    const callId = asText(event.toolCallId) ?? "";
    switch (event.type) {
      case EventType.RUN_STARTED:
        return this.#start(event);
      case EventType.TEXT_MESSAGE_START:
        return this.#startProse("text", event, id);
      case EventType.TEXT_MESSAGE_CONTENT:
        return this.#delta(id, asText(event.delta) ?? "");
      case EventType.TEXT_MESSAGE_END:
        return this.#endText(id);
      case EventType.REASONING_MESSAGE_START:
        return this.#startProse("reasoning", event, id);
      case EventType.REASONING_MESSAGE_CONTENT:
        return this.#parts.delta("reasoning", id, asText(event.delta) ?? "");
      case EventType.REASONING_MESSAGE_END:
        return this.#parts.end("reasoning", id);
      case EventType.REASONING_ENCRYPTED_VALUE:
        return this.#encrypt(event);
      case EventType.TOOL_CALL_START:
        return this.#startCall(event, callId);
      case EventType.TOOL_CALL_ARGS:
        return this.#parts.callArgs(callId, asText(event.delta) ?? "");
      case EventType.TOOL_CALL_END:
        return this.#parts.endCall(callId);
      case EventType.TOOL_CALL_RESULT:
        this.#sent.add(id);
        return this.#parts.result(callId, toToolOutput(event.content, this.#options.jsonDepth));
      case EventType.MESSAGES_SNAPSHOT:
        return this.#takeSnapshot(event.messages);
      case EventType.CUSTOM:
        return this.#frames.write(customChunk(event, `${this.#runId}:${offset}`));
      case EventType.RUN_FINISHED:
        return this.#finish(event);
      case EventType.RUN_ERROR:
        return this.#fail(event);
      default: {
        const describe = (failed: BaseEvent): string => this.#describe(failed);
        return (this.#data ??= new UiData(this.#frames, describe)).encode(event);
      }
    }
  }

  #startProse(kind: ProseKind, event: BaseEvent, id: string): void {
    const { role = "assistant", name, subagentRunId } = event;
    if (kind === "text" && role !== "assistant") {
      const aside = { role, ...defined({ name }), content: "" };
      (this.#asides ??= new Map()).set(id, aside);
      return;
    }
    this.#sent.add(id);
    const isPlain = (name ?? undefined) === undefined && (subagentRunId ?? undefined) === undefined;
    const origin = isPlain ? undefined : { messageId: id, ...defined({ name, subagentRunId }) };
    this.#parts.start(kind, id, origin);
  }

  #delta(id: string, text: string): void {
    const aside = this.#asides?.get(id);
    if (aside) aside.content += text;
    else this.#parts.delta("text", id, text);
  }

  #endText(id: string): void {
    const aside = this.#asides?.get(id);
    if (!aside) return this.#parts.end("text", id);
    this.#asides?.delete(id);
    this.#frames.writeData("agui-message", id, aside);
  }

  #startCall(event: BaseEvent, id: string): void {
    const { parentMessageId, subagentRunId } = event;
    const parent = asText(parentMessageId);
    // A parent of another role keeps its id to itself, as in the thread.
    const messageId = parent && !this.#asides?.has(parent) ? parent : id;
    this.#sent.add(id);
    const origin = { messageId, ...defined({ subagentRunId }) };
    this.#parts.startCall(id, asText(event.toolCallName) ?? "", origin);
  }

  #takeSnapshot(given: unknown): void {
    const messages = Array.isArray(given) ? (given as Message[]) : [];
    // Messages before the last user message are history, which cannot be sent again here.
    const last = messages.map(({ role }) => role).lastIndexOf("user");
    this.#encodeMessages(messages.slice(last + 1));
  }

  #encodeMessages(messages: readonly Message[]): void {
    for (const message of messages) {
      if (!this.#sent.has(message.id)) this.#encodeContent(message);
      if (message.role === "assistant") this.#encodeCalls(message);
    }
  }

  #encodeContent(message: Message): void {
    const { id, role } = message;
    if (role === "tool") {
      this.#sent.add(id);
      this.#parts.result(
        message.toolCallId,
        toToolOutput(message.content, this.#options.jsonDepth),
      );
    } else if (role === "reasoning" || (role === "assistant" && message.content)) {
      const kind = role === "reasoning" ? role : "text";
      this.#sent.add(id);
      this.#parts.start(kind, id);
      this.#parts.delta(kind, id, message.content ?? "");
      this.#parts.end(kind, id);
    }
  }

  #encodeCalls({ id, toolCalls = [] }: Extract<Message, { role: "assistant" }>): void {
    for (const call of toolCalls) {
      if (this.#sent.has(call.id)) continue;
      this.#sent.add(call.id);
      this.#parts.startCall(call.id, call.function.name, { messageId: id });
      this.#parts.callArgs(call.id, call.function.arguments);
      this.#parts.endCall(call.id);
    }
  }

  // Members that are not there are left to JSON, which drops them: null is what clients refuse.
  #start(event: BaseEvent): void {
    const { continues, preface } = this.#options;
    this.#runId = asText(event.runId) ?? "";
    this.#frames.write({
      type: "start",
      messageId: continues ?? this.#runId,
      messageMetadata: { threadId: event.threadId ?? undefined, runId: event.runId ?? undefined },
    });
    if (preface) this.#encodeMessages(preface);
  }

  #finish(event: BaseEvent): void {
    const { outcome, result } = event;
    const type = isRecord(outcome) ? outcome.type : undefined;
    if (isRecord(outcome) && type === "interrupt") this.#showInterrupts(outcome.interrupts);
    const finishReason = finishReasonOf(type, this.#parts.close());
    const usage = totalUsage(event.usage);
    const messageMetadata = { finishReason, usage, result: result ?? undefined };
    if (type === "cancelled") {
      this.#annotate(messageMetadata);
      return this.#frames.write({ type: "abort" });
    }
    const reason = this.#isSix ? finishReason : undefined;
    this.#frames.write({ type: "finish", finishReason: reason, messageMetadata });
  }

  #showInterrupts(interrupts: unknown): void {
    if (!Array.isArray(interrupts)) return;
    for (const interrupt of interrupts.filter(isRecord)) {
      const { id, toolCallId } = interrupt;
      const approvalId = asText(id) ?? "";
      if (typeof toolCallId === "string" && this.#parts.hasCall(toolCallId)) {
        // An answer that never came would leave the client with half a call.
        this.#parts.endCall(toolCallId);
        if (this.#options.sdkVersion !== 5 && isApproval(interrupt)) {
          this.#frames.write({ type: "tool-approval-request", approvalId, toolCallId });
        }
      }
      this.#frames.writeData("agui-interrupt", approvalId, interrupt);
    }
  }

  #fail(event: BaseEvent): void {
    this.#parts.close();
    // Also the write that lets the client see the last step: 5.0.0 sends again even after an error.
    this.#annotate({ finishReason: "error", usage: totalUsage(event.usage) });
    this.#frames.write({ type: "error", errorText: this.#describe(event) });
  }

  #encrypt({ entityId, encryptedValue = "", encryptedValueType: type }: BaseEvent): void {
    const id = asText(entityId) ?? "";
    const encrypted = { [id]: encryptedValue };
    const isTyped = type !== undefined;
    if (!isTyped && !this.#typed?.has(id)) return this.#annotate({ agui: { encrypted } });
    if (isTyped) (this.#typed ??= new Set()).add(id);
    // A client merges what it receives: the type of an earlier value has to be taken back.
    this.#annotate({ agui: { encrypted, encryptedTypes: { [id]: isTyped ? type : null } } });
  }

  #annotate(messageMetadata: Json): void {
    this.#frames.write({ type: "message-metadata", messageMetadata });
  }

  #describe(event: BaseEvent): string {
    const { describeFailure } = this.#options;
    return describeFailure ? describeFailure(failureIn(event)) : maskedFailure;
  }

  get #isSix(): boolean {
    return (this.#options.sdkVersion ?? 5) >= 6;
  }
}
