import { EventType } from "@holodeck/agui-core";
import { asText, isRecord } from "@holodeck/agui-core/internal";
import type { BaseEvent, Message } from "@holodeck/agui-core";
import { addUsage } from "./usage.ts";
import type { TotalUsage } from "./usage.ts";

/** How the calls of server tools are shown: as a line of reasoning each, or not at all. */
export type ServerToolDisplay = "reasoning" | "hidden";

/** A question that a run has ended with, and the call that it is about. */
export interface AskedQuestion {
  readonly id: string;
  readonly message: string;
  readonly reason: string | undefined;
  readonly responseSchema: unknown;
  /** Set when the question can be answered with yes or no. */
  readonly isApproval: boolean;
  readonly call: { readonly name: string; readonly args: string } | undefined;
}

export type AnswerEnd =
  | { readonly type: "finished" | "cancelled"; readonly usage: TotalUsage | undefined }
  | {
      readonly type: "asked";
      readonly usage: TotalUsage | undefined;
      readonly questions: readonly AskedQuestion[];
    }
  | {
      readonly type: "failed";
      readonly usage: TotalUsage | undefined;
      readonly code: string;
      readonly message: string;
    };

/** Receives what an OpenAI client can show of a run, in its order. Parts begin with their first piece. */
export interface AnswerListener {
  text(id: string, delta: string): void;
  textEnd(id: string): void;
  reasoning(id: string, delta: string): void;
  reasoningEnd(id: string): void;
  /** A call of a client tool. */
  call(id: string, name: string): void;
  callArgs(id: string, delta: string): void;
  callEnd(id: string): void;
  end(end: AnswerEnd): void;
}

export interface AnswerReaderOptions {
  /** The names of the tools in the request: only their calls are the client's to make. */
  readonly clientTools: ReadonlySet<string>;
  readonly serverTools: ServerToolDisplay;
}

interface SeenCall {
  readonly name: string;
  readonly isClient: boolean;
  /** Of a server tool. */
  args: string;
  hasArgs: boolean;
  isEnded: boolean;
}

/** Reads the events of a run as the answer of a model: text, reasoning, calls of client tools, one end. */
export class AnswerReader {
  readonly #options: AnswerReaderOptions;
  readonly #listener: AnswerListener;
  /** Ids of the messages and results that were read; a snapshot holds them again. */
  readonly #seen = new Set<string>();
  /** Messages of other roles than the assistant's. */
  #hidden: Set<string> | undefined;
  #calls: Map<string, SeenCall> | undefined;

  constructor(options: AnswerReaderOptions, listener: AnswerListener) {
    this.#options = options;
    this.#listener = listener;
  }

  read(event: BaseEvent): void {
    const id = asText(event.messageId) ?? "";
    switch (event.type) {
      case EventType.TEXT_MESSAGE_START:
        return this.#start(id, event.role);
      case EventType.TEXT_MESSAGE_CONTENT:
        return this.#text(id, asText(event.delta) ?? "");
      case EventType.TEXT_MESSAGE_END:
        if (!this.#hidden?.has(id)) this.#listener.textEnd(id);
        return;
      case EventType.REASONING_MESSAGE_CONTENT:
        this.#seen.add(id);
        return this.#reasoning(id, asText(event.delta) ?? "");
      case EventType.REASONING_MESSAGE_END:
        return this.#listener.reasoningEnd(id);
      case EventType.TOOL_CALL_START:
        return this.#startCall(asText(event.toolCallId) ?? "", asText(event.toolCallName) ?? "");
      case EventType.TOOL_CALL_ARGS:
        return this.#args(asText(event.toolCallId) ?? "", asText(event.delta) ?? "");
      case EventType.TOOL_CALL_END:
        return this.#endCall(asText(event.toolCallId) ?? "");
      case EventType.MESSAGES_SNAPSHOT:
        return this.#snapshot(event.messages);
      case EventType.RUN_FINISHED:
        return this.#finish(event);
      case EventType.RUN_ERROR:
        return this.#listener.end({
          type: "failed",
          usage: addUsage(event.usage),
          code: asText(event.code) ?? "agent-error",
          message: asText(event.message) ?? "",
        });
      default:
    }
  }

  #start(id: string, role: unknown): void {
    this.#seen.add(id);
    if (role !== undefined && role !== "assistant") (this.#hidden ??= new Set()).add(id);
  }

  #text(id: string, delta: string): void {
    this.#seen.add(id);
    if (delta !== "" && !this.#hidden?.has(id)) this.#listener.text(id, delta);
  }

  #reasoning(id: string, delta: string): void {
    if (delta !== "") this.#listener.reasoning(id, delta);
  }

  #startCall(id: string, name: string): void {
    const isClient = this.#options.clientTools.has(name);
    (this.#calls ??= new Map()).set(id, {
      name,
      isClient,
      args: "",
      hasArgs: false,
      isEnded: false,
    });
    if (isClient) this.#listener.call(id, name);
  }

  #args(id: string, delta: string): void {
    const call = this.#calls?.get(id);
    if (!call || delta === "") return;
    call.hasArgs = true;
    if (call.isClient) this.#listener.callArgs(id, delta);
    else call.args += delta;
  }

  #endCall(id: string): void {
    const call = this.#calls?.get(id);
    if (!call || call.isEnded) return;
    call.isEnded = true;
    if (call.isClient) {
      // A call without arguments has none in AG-UI; clients of OpenAI's API parse them.
      if (!call.hasArgs) this.#listener.callArgs(id, "{}");
      return this.#listener.callEnd(id);
    }
    if (this.#options.serverTools === "hidden") return;
    this.#listener.reasoning(id, `${call.name}(${call.args})\n`);
    this.#listener.reasoningEnd(id);
  }

  #snapshot(given: unknown): void {
    const messages = Array.isArray(given) ? (given as Message[]) : [];
    // Before the last message of the user is history, which the client has.
    const last = messages.map(({ role }) => role).lastIndexOf("user");
    for (const message of messages.slice(last + 1)) {
      if (message.role === "assistant") this.#whole(message);
      else if (message.role === "reasoning" && !this.#seen.has(message.id)) {
        this.#seen.add(message.id);
        this.#reasoning(message.id, message.content);
        this.#listener.reasoningEnd(message.id);
      }
    }
  }

  #whole({ id, content, toolCalls = [] }: Extract<Message, { role: "assistant" }>): void {
    if (!this.#seen.has(id) && content) {
      this.#text(id, content);
      this.#listener.textEnd(id);
    }
    for (const call of toolCalls) {
      if (this.#calls?.has(call.id)) continue;
      this.#startCall(call.id, call.function.name);
      this.#args(call.id, call.function.arguments);
      this.#endCall(call.id);
    }
  }

  #finish({ outcome, usage: used }: BaseEvent): void {
    const usage = addUsage(used);
    const { type, interrupts } = isRecord(outcome) ? outcome : {};
    if (type === "cancelled") return this.#listener.end({ type, usage });
    const questions =
      type === "interrupt" && Array.isArray(interrupts)
        ? interrupts.filter(isRecord).map((one) => this.#question(one))
        : [];
    if (questions.length > 0) return this.#listener.end({ type: "asked", usage, questions });
    this.#listener.end({ type: "finished", usage });
  }

  #question(interrupt: Record<string, unknown>): AskedQuestion {
    const { id, message, reason, toolCallId, responseSchema } = interrupt;
    const call = this.#calls?.get(asText(toolCallId) ?? "");
    return {
      id: asText(id) ?? "",
      message: asText(message) ?? "",
      reason: asText(reason),
      responseSchema,
      isApproval: isYesOrNo(responseSchema),
      call: call && { name: call.name, args: call.args },
    };
  }
}

// A question that asks for more than `approved` and `reason` needs another answer than yes or no.
function isYesOrNo(schema: unknown): boolean {
  if (!isRecord(schema) || !isRecord(schema.properties)) return false;
  return (
    Object.hasOwn(schema.properties, "approved") &&
    (!Array.isArray(schema.required) ||
      schema.required.every((name) => name === "approved" || name === "reason"))
  );
}
