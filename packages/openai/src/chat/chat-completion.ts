import type { BaseEvent, Json } from "@holodeck/agui-core";
import { AnswerReader } from "../shared/answer-reader.ts";
import type { AnswerEnd, AnswerListener, AnswerReaderOptions } from "../shared/answer-reader.ts";
import { toQuestionCall } from "../shared/question-call.ts";
import { betweenMessages, chatFinishReasonOf, toChatUsage } from "./chat-answer.ts";

interface ChatToolCall {
  readonly id: string;
  readonly type: "function";
  readonly function: { readonly name: string; arguments: string };
}

/** Collects a run as one `chat.completion`. */
export class ChatCompletion implements AnswerListener {
  readonly #reader: AnswerReader;
  readonly #canAnswer: boolean;
  readonly #calls = new Map<string, ChatToolCall>();
  #content = "";
  #reasoning = "";
  #lastTextId: string | undefined;
  #end: AnswerEnd | undefined;

  constructor(options: AnswerReaderOptions & { readonly canAnswer: boolean }) {
    this.#reader = new AnswerReader(options, this);
    this.#canAnswer = options.canAnswer;
  }

  /** Can be handed on as it is. */
  readonly read = (event: BaseEvent): void => this.#reader.read(event);

  text(id: string, delta: string): void {
    if (this.#lastTextId !== undefined && this.#lastTextId !== id) this.#content += betweenMessages;
    this.#lastTextId = id;
    this.#content += delta;
  }

  reasoning(_: string, delta: string): void {
    this.#reasoning += delta;
  }

  call(id: string, name: string): void {
    this.#calls.set(id, { id, type: "function", function: { name, arguments: "" } });
  }

  callArgs(id: string, delta: string): void {
    const call = this.#calls.get(id);
    if (call) call.function.arguments += delta;
  }

  textEnd(): void {}
  reasoningEnd(): void {}
  callEnd(): void {}

  end(end: AnswerEnd): void {
    this.#end = end;
    if (end.type !== "asked") return;
    for (const question of end.questions) {
      if (!this.#canAnswer) this.text(question.id, question.message);
      else {
        const { id, name, args } = toQuestionCall(question);
        this.call(id, name);
        this.callArgs(id, args);
      }
    }
  }

  /** The completion, once the run has ended. */
  toJson(about: { readonly id: string; readonly model: string; readonly created: number }): Json {
    const calls = [...this.#calls.values()];
    const end: AnswerEnd = this.#end ?? { type: "finished", usage: undefined };
    return {
      id: about.id,
      object: "chat.completion",
      created: about.created,
      model: about.model,
      choices: [
        {
          index: 0,
          message: {
            role: "assistant",
            // Null only where there are calls instead, as clients expect.
            content: this.#content === "" && calls.length > 0 ? null : this.#content,
            refusal: null,
            ...(this.#reasoning === "" ? {} : { reasoning_content: this.#reasoning }),
            ...(calls.length === 0 ? {} : { tool_calls: calls }),
          },
          logprobs: null,
          finish_reason: chatFinishReasonOf(end, calls.length > 0),
        },
      ],
      ...(end.usage && { usage: toChatUsage(end.usage) }),
    };
  }
}
