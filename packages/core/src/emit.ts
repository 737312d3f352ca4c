import { EventType } from "@ag-ui/core";
import type { ContentPart, Message, TokenUsage } from "@ag-ui/core";
import { describeValue } from "./check-options.ts";
import { describeError, isHalted } from "./errors.ts";
import type { RunEnding } from "./guard.ts";
import { ulid } from "./ids.ts";
import { cloneJson } from "./json.ts";
import type { AgentEvent, Awaitable, Emit, Json, MessageWriter, ToolCallOptions } from "./types.ts";

export interface EmitOptions {
  /** The guard's input. Returns a promise, which never rejects, while the clients are behind. */
  push(value: unknown): void | Promise<void>;
  readonly ending: RunEnding;
  /** By default a ULID. */
  readonly newId?: () => string;
  /** Shows clients the real message of a subagent's error. */
  readonly debug?: boolean;
}

/** `context.emit`: one method per kind of thing an agent says. */
export function createEmit(options: EmitOptions): Emit {
  return toEmit(new Lane(options, undefined));
}

// Functions of its own, so that an author may take them out of it or put others in front of them.
function toEmit(lane: Lane): Emit {
  return {
    text: (delta) => lane.text(delta),
    reasoning: (delta) => lane.reasoning(delta),
    message: (options) => lane.message(options),
    toolCall: ((name, args, options) => lane.toolCall(name, args, options)) as Emit["toolCall"],
    toolResult: (toolCallId, content) => lane.toolResult(toolCallId, content),
    step: (name, body) => lane.step(name, body),
    activity: (type, content, options) => lane.activity(type, content, options),
    messages: (messages) => lane.messages(messages),
    predictState: (entries) => lane.custom("PredictState", entries),
    custom: (name, value) => lane.custom(name, value),
    raw: (event, source) => lane.raw(event, source),
    subagent: (name, body, options) => lane.subagent(name, body, options),
    interrupt: (interrupt) => lane.interrupt(interrupt),
    usage: (usage) => lane.usage(usage),
    event: (event) => lane.send(event),
  };
}

// These speak of the whole run, so they belong to no subagent.
const untagged: ReadonlySet<string> = new Set([
  EventType.RUN_STARTED,
  EventType.RUN_FINISHED,
  EventType.RUN_ERROR,
  EventType.MESSAGES_SNAPSHOT,
]);

/** The writer of the agent itself, or of the subagent whose id it puts on everything. */
class Lane {
  readonly #options: EmitOptions;
  readonly #subagentRunId: string | undefined;

  constructor(options: EmitOptions, subagentRunId: string | undefined) {
    this.#options = options;
    this.#subagentRunId = subagentRunId;
  }

  send(event: AgentEvent): void | Promise<void> {
    const subagentRunId = this.#subagentRunId;
    if (subagentRunId === undefined || untagged.has(event.type)) return this.#options.push(event);
    return this.#options.push({ subagentRunId, ...event });
  }

  text(delta: string): void | Promise<void> {
    if (!delta) return;
    const subagentRunId = this.#subagentRunId;
    // The guard owns the message that plain text belongs to.
    return subagentRunId === undefined
      ? this.#options.push(delta)
      : this.#options.push({ type: EventType.TEXT_MESSAGE_CHUNK, delta, subagentRunId });
  }

  reasoning(delta: string): void | Promise<void> {
    if (delta) return this.send({ type: EventType.REASONING_MESSAGE_CHUNK, delta });
  }

  message(options: Parameters<Emit["message"]>[0] = {}): MessageWriter {
    const { id = this.#newId(), role = "assistant", name } = options;
    let isOpen = true;
    const start = { type: EventType.TEXT_MESSAGE_START, messageId: id, role };
    void this.send(name === undefined ? start : { ...start, name });
    return {
      id,
      text: (delta) =>
        delta
          ? this.send({ type: EventType.TEXT_MESSAGE_CONTENT, messageId: id, delta })
          : undefined,
      end: () => {
        if (!isOpen) return;
        isOpen = false;
        return this.send({ type: EventType.TEXT_MESSAGE_END, messageId: id });
      },
    };
  }

  toolCall(
    name: string,
    args: Json | string | AsyncIterable<string> = {},
    options: ToolCallOptions = {},
  ): string | Promise<string> {
    const id = this.#startCall(name, options);
    const end = { type: EventType.TOOL_CALL_END, toolCallId: id };
    if (isAsyncIterable(args)) {
      return finishWith(
        async () => {
          for await (const delta of args) await this.#sendArgs(id, delta);
          return id;
        },
        () => this.send(end),
      );
    }
    void this.#sendArgs(id, typeof args === "string" ? args : JSON.stringify(args));
    void this.send(end);
    return id;
  }

  toolResult(toolCallId: string, content: string | object): void | Promise<void> {
    return this.send({
      type: EventType.TOOL_CALL_RESULT,
      messageId: this.#newId(),
      toolCallId,
      content: toResultContent(content),
      role: "tool",
    });
  }

  step<T>(stepName: string, body: () => Awaitable<T>): Promise<T> {
    assertBody("step", body);
    return this.#step(stepName, body);
  }

  activity(
    activityType: string,
    content: Json,
    { id = this.#newId(), replace }: { id?: string; replace?: boolean } = {},
  ): string {
    const event = { type: EventType.ACTIVITY_SNAPSHOT, messageId: id, activityType };
    const copy = { ...event, content: cloneJson(content).value };
    void this.send(replace === undefined ? copy : { ...copy, replace });
    return id;
  }

  messages(messages: readonly Message[]): void | Promise<void> {
    return this.send({ type: EventType.MESSAGES_SNAPSHOT, messages: cloneJson(messages).value });
  }

  // The copy is for authors who change the same object and send it again.
  custom(name: string, value: unknown): void | Promise<void> {
    return this.send({ type: EventType.CUSTOM, name, value: cloneJson(value).value });
  }

  raw(event: unknown, source?: string): void | Promise<void> {
    return this.send({ type: EventType.RAW, event, ...(source === undefined ? {} : { source }) });
  }

  subagent<T>(
    name: string,
    body: (emit: Emit) => Awaitable<T>,
    about?: Parameters<Emit["subagent"]>[2],
  ): Promise<T> {
    assertBody("subagent", body);
    return this.#subagent(name, body, about);
  }

  interrupt(interrupt: Parameters<Emit["interrupt"]>[0]): string {
    const { ending } = this.#options;
    const subagentRunId = this.#subagentRunId;
    const tag = subagentRunId === undefined ? {} : { subagentRunId };
    const id = interrupt.id ?? this.#newId();
    const asked = { ...tag, ...interrupt, id };
    // The empty list is everybody's.
    if (ending.interrupts.length === 0) ending.interrupts = [asked];
    else ending.interrupts.push(asked);
    return id;
  }

  usage(usage: TokenUsage): void {
    const { ending } = this.#options;
    if (ending.usage.length === 0) ending.usage = [{ ...usage }];
    else ending.usage.push({ ...usage });
  }

  #newId(): string {
    const { newId } = this.#options;
    return newId ? newId() : ulid();
  }

  #startCall(toolCallName: string, { id, parentMessageId }: ToolCallOptions): string {
    const toolCallId = id ?? this.#newId();
    const start = { type: EventType.TOOL_CALL_START, toolCallId, toolCallName };
    void this.send(parentMessageId === undefined ? start : { ...start, parentMessageId });
    return toolCallId;
  }

  #sendArgs(toolCallId: string, delta: string): void | Promise<void> {
    if (delta) return this.send({ type: EventType.TOOL_CALL_ARGS, toolCallId, delta });
  }

  async #step<T>(stepName: string, body: () => Awaitable<T>): Promise<T> {
    // Not awaited when there is nothing to wait for, so that a synchronous body keeps its place.
    const pace = this.send({ type: EventType.STEP_STARTED, stepName });
    if (pace) await pace;
    return finishWith(body, () => this.send({ type: EventType.STEP_FINISHED, stepName }));
  }

  async #subagent<T>(
    name: string,
    body: (emit: Emit) => Awaitable<T>,
    about: Parameters<Emit["subagent"]>[2] = {},
  ): Promise<T> {
    const options = this.#options;
    const id = this.#newId();
    const parentId = this.#subagentRunId;
    const parent = parentId === undefined ? {} : { parentSubagentRunId: parentId };
    const self = { subagentRunId: id };
    const pace = options.push({
      type: EventType.SUBAGENT_STARTED,
      ...self,
      name,
      ...parent,
      ...withoutUndefined(about),
    });
    try {
      if (pace) await pace;
      const result = await body(toEmit(new Lane(options, id)));
      await options.push({ type: EventType.SUBAGENT_FINISHED, ...self, ...this.#suspension(id) });
      return result;
    } catch (error) {
      if (isHalted(error)) {
        const suspended = { outcome: { type: "suspended" }, ...this.#suspension(id) };
        await options.push({ type: EventType.SUBAGENT_FINISHED, ...self, ...suspended });
        throw error;
      }
      const fault = describeError(error, options.debug ?? false);
      await options.push({ type: EventType.SUBAGENT_ERROR, ...self, ...fault });
      throw error;
    }
  }

  #suspension(id: string): object {
    const { interrupts } = this.#options.ending;
    const asked = interrupts.filter((interrupt) => interrupt.subagentRunId === id);
    const interruptIds = asked.map((interrupt) => interrupt.id);
    return asked.length > 0 ? { outcome: { type: "suspended", interruptIds } } : {};
  }
}

// Thrown, not rejected: who forgot the body has most likely forgotten to await, too.
function assertBody(method: string, body: unknown): void {
  if (typeof body === "function") return;
  throw new TypeError(
    `emit.${method}(name, body) brackets what body does; it must be a function, ` +
      `not ${describeValue(body)}. Try await emit.${method}("name", async () => {}).`,
  );
}

async function finishWith<T>(
  body: () => Awaitable<T>,
  finish: () => void | Promise<void>,
): Promise<T> {
  try {
    return await body();
  } finally {
    await finish();
  }
}

function isAsyncIterable(value: object | string): value is AsyncIterable<string> {
  return typeof value === "object" && Symbol.asyncIterator in value;
}

/** A result as it is sent: a string or content parts as they are, anything else as JSON. */
export function toResultContent(content: unknown): string | ContentPart[] {
  if (typeof content === "string") return content;
  if (Array.isArray(content) && content.length > 0 && content.every(isContentPart)) return content;
  return JSON.stringify(content) ?? "";
}

function isContentPart(value: unknown): value is ContentPart {
  const { type, text, source } = (value ?? {}) as {
    type?: unknown;
    text?: unknown;
    source?: unknown;
  };
  if (type === "text") return typeof text === "string";
  const isMedia = type === "image" || type === "audio" || type === "video" || type === "document";
  return isMedia && typeof source === "object" && source !== null;
}

function withoutUndefined(value: object): object {
  return Object.fromEntries(Object.entries(value).filter(([, member]) => member !== undefined));
}
