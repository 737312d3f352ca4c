import { createDeltaFrames, EventType } from "@holodeck/agui-core";
import type { DeltaFrame, Encoder, Json, LogEntry } from "@holodeck/agui-core";
import { AnswerReader } from "../shared/answer-reader.ts";
import type { AnswerEnd, AnswerListener, AnswerReaderOptions } from "../shared/answer-reader.ts";
import { streamHeaders, toSeconds } from "../shared/wire.ts";
import { zeroUsage } from "../shared/usage.ts";
import { toRunFailure } from "../shared/errors.ts";
import { toQuestionCall } from "../shared/question-call.ts";
import { betweenMessages, chatFinishReasonOf, toChatUsage } from "./chat-answer.ts";
import type { ChatFinishReason } from "./chat-answer.ts";

/** The request that a stream answers. */
export interface ChatStreamEncoderOptions extends Partial<AnswerReaderOptions> {
  /** The model as the client named it. */
  readonly model: string;
  /** The id of the completion. By default it has that of the run. */
  readonly id?: string;
  /** Whether the last chunk has the tokens that were used. By default it has not. */
  readonly includeUsage?: boolean;
  /** Whether the client can answer questions: they are kept with a thread. By default it cannot. */
  readonly canAnswer?: boolean;
}

/**
 * A chat completion as a stream of `chat.completion.chunk`, ended by `[DONE]`.
 *
 * @example
 * ```ts
 * return run.stream(chatStreamEncoder({ model: "helper" }), "start");
 * ```
 */
export function chatStreamEncoder(options: ChatStreamEncoderOptions): Encoder {
  const chunks = new ChatChunks(options);
  /** The message whose text the last frame had. */
  let shownId: unknown;

  function encode({ event, at }: LogEntry): string {
    const frames = chunks.read(event, at);
    const isShown = event.type === EventType.TEXT_MESSAGE_CONTENT && frames !== "";
    shownId = isShown ? event.messageId : undefined;
    return frames;
  }

  function frame({ event: { type, messageId } }: LogEntry): DeltaFrame | undefined {
    if (type !== EventType.TEXT_MESSAGE_CONTENT || messageId !== shownId) return undefined;
    return chunks.textFrame;
  }

  const frames = createDeltaFrames({ frame, encode, textOnly: true, skipEmpty: true });
  return {
    contentType: "text/event-stream",
    headers: streamHeaders,
    encode: frames.encode,
    encodeDeltas: frames.encodeDeltas,
    keepAlive: () => ": keep-alive\n\n",
    // After an error there is no complete answer to confirm.
    close: () => (chunks.hasFailed ? "" : "data: [DONE]\n\n"),
  };
}

/** What each event becomes in the stream. */
class ChatChunks implements AnswerListener {
  hasFailed = false;
  readonly #options: ChatStreamEncoderOptions;
  readonly #reader: AnswerReader;
  readonly #indexes = new Map<string, number>();
  #head = "";
  #frames = "";
  #lastTextId: string | undefined;

  constructor(options: ChatStreamEncoderOptions) {
    this.#options = options;
    const { clientTools = new Set<string>(), serverTools = "reasoning" } = options;
    this.#reader = new AnswerReader({ clientTools, serverTools }, this);
  }

  read(event: LogEntry["event"], at: number): string {
    this.#frames = "";
    if (event.type === EventType.RUN_STARTED) this.#start(event.runId, at);
    else {
      if (this.#head === "") this.#start(undefined, at);
      this.#reader.read(event);
    }
    return this.#frames;
  }

  /** Around the text of a delta. */
  get textFrame(): DeltaFrame {
    return {
      head: `${this.#head}"choices":[{"index":0,"delta":{"content":"`,
      tail: `"},"logprobs":null,"finish_reason":null}]${this.#tail}}\n\n`,
    };
  }

  text(id: string, delta: string): void {
    const isNext = this.#lastTextId !== undefined && this.#lastTextId !== id;
    this.#lastTextId = id;
    this.#delta({ content: isNext ? betweenMessages + delta : delta });
  }

  reasoning(_: string, delta: string): void {
    this.#delta({ reasoning_content: delta });
  }

  call(id: string, name: string): void {
    const index = this.#indexes.size;
    this.#indexes.set(id, index);
    const opened = { index, id, type: "function", function: { name, arguments: "" } };
    this.#delta({ tool_calls: [opened] });
  }

  callArgs(id: string, delta: string): void {
    const index = this.#indexes.get(id);
    this.#delta({ tool_calls: [{ index, function: { arguments: delta } }] });
  }

  textEnd(): void {}
  reasoningEnd(): void {}
  callEnd(): void {}

  end(end: AnswerEnd): void {
    if (end.type === "failed") {
      this.hasFailed = true;
      this.#frames += `data: ${JSON.stringify({ error: toRunFailure(end) })}\n\n`;
      return;
    }
    if (end.type === "asked") this.#ask(end.questions);
    this.#delta({}, chatFinishReasonOf(end, this.#indexes.size > 0));
    if (!this.#options.includeUsage) return;
    const usage = JSON.stringify(toChatUsage(end.usage ?? zeroUsage));
    this.#frames += `${this.#head}"choices":[],"usage":${usage}}\n\n`;
  }

  #ask(questions: Extract<AnswerEnd, { type: "asked" }>["questions"]): void {
    for (const question of questions) {
      if (!this.#options.canAnswer) {
        this.text(question.id, question.message);
        continue;
      }
      const { id, name, args } = toQuestionCall(question);
      this.call(id, name);
      this.callArgs(id, args);
    }
  }

  #start(runId: unknown, at: number): void {
    const { id: given = `chatcmpl-${typeof runId === "string" ? runId : ""}` } = this.#options;
    const id = JSON.stringify(given);
    const model = JSON.stringify(this.#options.model);
    this.#head =
      `data: {"id":${id},"object":"chat.completion.chunk","created":${toSeconds(at)},` +
      `"model":${model},`;
    this.#delta({ role: "assistant", content: "" });
  }

  #delta(delta: Json, reason: ChatFinishReason | null = null): void {
    const choice = { index: 0, delta, logprobs: null, finish_reason: reason };
    this.#frames += `${this.#head}"choices":[${JSON.stringify(choice)}]${this.#tail}}\n\n`;
  }

  // OpenAI's chunks before the last have the member, too.
  get #tail(): string {
    return this.#options.includeUsage ? ',"usage":null' : "";
  }
}
