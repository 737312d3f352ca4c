import { EventType } from "@ag-ui/core";
import type { Message, TokenUsage } from "@ag-ui/core";
import { finishWith } from "./brackets.ts";
import { endlessCalls, nameCall } from "../calls/late-calls.ts";
import type { RunCalls } from "../calls/late-calls.ts";
import { ulid } from "../../base/ids.ts";
import type { AgentEvent, Json } from "../../contract/agent.ts";
import type { Emit, MessageWriter } from "../../contract/context.ts";
import type { ToolCallOptions } from "../../contract/tools.ts";
import type { RunEnding } from "../../guard/guard.ts";
import { cloneJson } from "../../json/copy.ts";
import { toResultContent } from "../../tools/results.ts";

export interface EmitOptions {
  /** The guard's input, with the name of the method. Returns a promise while the clients are behind. */
  push(value: unknown, call: string): void | Promise<void>;
  readonly ending: RunEnding;
  /** Absent outside a run. */
  readonly calls?: RunCalls;
  /** By default a ULID. */
  readonly newId?: () => string;
  /** Shows clients the real message of a subagent's error. */
  readonly debug?: boolean;
}

// These speak of the whole run, so they belong to no subagent.
const untagged: ReadonlySet<string> = new Set([
  EventType.RUN_STARTED,
  EventType.RUN_FINISHED,
  EventType.RUN_ERROR,
  EventType.MESSAGES_SNAPSHOT,
]);

/** The writer of the agent itself, or of the subagent whose id it puts on everything. */
export class EmitWriter {
  readonly options: EmitOptions;
  readonly calls: RunCalls;
  readonly subagentRunId: string | undefined;

  constructor(options: EmitOptions, subagentRunId: string | undefined) {
    this.options = options;
    this.calls = options.calls ?? endlessCalls;
    this.subagentRunId = subagentRunId;
  }

  send(event: AgentEvent, call: string): void | Promise<void> {
    const options = this.options;
    const subagentRunId = this.subagentRunId;
    if (subagentRunId === undefined) return options.push(event, call);
    if (this.calls.isLate()) return this.calls.refuse(call);
    return options.push(untagged.has(event.type) ? event : { subagentRunId, ...event }, call);
  }

  text(delta: string): void | Promise<void> {
    if (!delta) return;
    const subagentRunId = this.subagentRunId;
    // The guard owns the message that plain text belongs to.
    return subagentRunId === undefined
      ? this.options.push(delta, "emit.text")
      : this.options.push(
          { type: EventType.TEXT_MESSAGE_CHUNK, delta, subagentRunId },
          "emit.text",
        );
  }

  reasoning(delta: string): void | Promise<void> {
    if (delta)
      return this.send({ type: EventType.REASONING_MESSAGE_CHUNK, delta }, "emit.reasoning");
  }

  message(options: Parameters<Emit["message"]>[0] = {}): MessageWriter {
    const isLate = this.#isLate("emit.message");
    const { id = this.newId(), role = "assistant", name } = options ?? {};
    let isOpen = true;
    if (!isLate) {
      const start = { type: EventType.TEXT_MESSAGE_START, messageId: id, role };
      void this.send(name === undefined ? start : { ...start, name }, "emit.message");
    }
    const content = EventType.TEXT_MESSAGE_CONTENT;
    return {
      id,
      text: (delta) =>
        delta
          ? this.send({ type: content, messageId: id, delta }, "emit.message().text")
          : undefined,
      end: () => {
        if (!isOpen) return;
        isOpen = false;
        return this.send({ type: EventType.TEXT_MESSAGE_END, messageId: id }, "emit.message().end");
      },
    };
  }

  toolCall(
    name: string,
    args: Json | string | AsyncIterable<string> = {},
    options: ToolCallOptions = {},
  ): string | Promise<string> {
    if (this.calls.isLate()) return this.#refuseCall(args, options);
    const id = this.#startCall(name, options);
    const end = { type: EventType.TOOL_CALL_END, toolCallId: id };
    if (isAsyncIterable(args)) {
      const call = finishWith(
        async () => {
          for await (const delta of args) await this.#sendArgs(id, delta);
          return id;
        },
        () => this.send(end, "emit.toolCall"),
      );
      return this.calls.begin(nameCall("emit.toolCall", name), call, "bracket");
    }
    void this.#sendArgs(id, typeof args === "string" ? args : JSON.stringify(args));
    void this.send(end, "emit.toolCall");
    return id;
  }

  toolResult(toolCallId: string, content: string | object): void | Promise<void> {
    if (this.calls.isLate()) return this.calls.refuse("emit.toolResult");
    const event = {
      type: EventType.TOOL_CALL_RESULT,
      messageId: this.newId(),
      toolCallId,
      content: toResultContent(content),
      role: "tool",
    };
    return this.send(event, "emit.toolResult");
  }

  activity(
    activityType: string,
    content: Json,
    options: { id?: string; replace?: boolean } = {},
  ): string {
    const { id = this.newId(), replace } = options ?? {};
    if (this.#isLate("emit.activity")) return id;
    const event = { type: EventType.ACTIVITY_SNAPSHOT, messageId: id, activityType };
    const copy = { ...event, content: cloneJson(content).value };
    void this.send(replace === undefined ? copy : { ...copy, replace }, "emit.activity");
    return id;
  }

  messages(messages: readonly Message[]): void | Promise<void> {
    if (this.calls.isLate()) return this.calls.refuse("emit.messages");
    const copy = cloneJson(messages).value;
    return this.send({ type: EventType.MESSAGES_SNAPSHOT, messages: copy }, "emit.messages");
  }

  // The copy is for authors who change the same object and send it again.
  custom(name: string, value: unknown, call: string): void | Promise<void> {
    if (this.calls.isLate()) return this.calls.refuse(call);
    return this.send({ type: EventType.CUSTOM, name, value: cloneJson(value).value }, call);
  }

  raw(event: unknown, source?: string): void | Promise<void> {
    const raw = { type: EventType.RAW, event };
    return this.send(source === undefined ? raw : { ...raw, source }, "emit.raw");
  }

  interrupt(interrupt: Parameters<Emit["interrupt"]>[0]): string {
    if (this.#isLate("emit.interrupt")) return this.#idOf(interrupt);
    const { ending } = this.options;
    const subagentRunId = this.subagentRunId;
    const tag = subagentRunId === undefined ? {} : { subagentRunId };
    const id = interrupt.id ?? this.newId();
    const asked = { ...tag, ...interrupt, id };
    // The empty list is shared by all runs.
    if (ending.interrupts.length === 0) ending.interrupts = [asked];
    else ending.interrupts.push(asked);
    return id;
  }

  usage(usage: TokenUsage): void {
    if (this.#isLate("emit.usage")) return;
    const { ending } = this.options;
    if (ending.usage.length === 0) ending.usage = [{ ...usage }];
    else ending.usage.push({ ...usage });
  }

  newId(): string {
    const { newId } = this.options;
    return newId ? newId() : ulid();
  }

  /** Of a method that returns a value: it goes on to return it, and does nothing else. */
  #isLate(call: string): boolean {
    if (!this.calls.isLate()) return false;
    this.calls.ignore(call);
    return true;
  }

  #refuseCall(args: unknown, options: ToolCallOptions): string | Promise<string> {
    const id = this.#idOf(options);
    if (isAsyncIterable(args)) return this.calls.refuse("emit.toolCall", id);
    this.calls.ignore("emit.toolCall");
    return id;
  }

  #idOf(options: { id?: string } | null | undefined): string {
    return options?.id ?? this.newId();
  }

  #startCall(toolCallName: string, { id, parentMessageId }: ToolCallOptions): string {
    const toolCallId = id ?? this.newId();
    const start = { type: EventType.TOOL_CALL_START, toolCallId, toolCallName };
    const event = parentMessageId === undefined ? start : { ...start, parentMessageId };
    void this.send(event, "emit.toolCall");
    return toolCallId;
  }

  #sendArgs(toolCallId: string, delta: string): void | Promise<void> {
    if (!delta) return;
    return this.send({ type: EventType.TOOL_CALL_ARGS, toolCallId, delta }, "emit.toolCall");
  }
}

function isAsyncIterable(value: unknown): value is AsyncIterable<string> {
  return typeof value === "object" && value !== null && Symbol.asyncIterator in value;
}
