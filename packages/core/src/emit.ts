import { EventType } from "@ag-ui/core";
import type { ContentPart } from "@ag-ui/core";
import { describeValue } from "./check-options.ts";
import { describeError, isHalted } from "./errors.ts";
import type { RunEnding } from "./guard.ts";
import { ulid } from "./ids.ts";
import { cloneJson } from "./json.ts";
import type { AgentEvent, Awaitable, Emit, Json, MessageWriter, ToolCallOptions } from "./types.ts";

export interface EmitOptions {
  /** The guard's input. Returns a promise, which never rejects, while the clients are behind. */
  readonly push: (value: unknown) => void | Promise<void>;
  readonly ending: RunEnding;
  /** By default a ULID. */
  readonly newId?: () => string;
  /** Shows clients the real message of a subagent's error. */
  readonly debug?: boolean;
}

/** `context.emit`: one method per kind of thing an agent says. */
export function createEmit(options: EmitOptions): Emit {
  return createLane(options, undefined);
}

// These speak of the whole run, so they belong to no subagent.
const untagged: ReadonlySet<string> = new Set([
  EventType.RUN_STARTED,
  EventType.RUN_FINISHED,
  EventType.RUN_ERROR,
  EventType.MESSAGES_SNAPSHOT,
]);

/** The writer of the agent itself, or of the subagent whose id it puts on everything. */
function createLane(options: EmitOptions, subagentRunId: string | undefined): Emit {
  const { push, ending, newId = ulid, debug = false } = options;
  const tag = subagentRunId === undefined ? {} : { subagentRunId };

  function send(event: AgentEvent): void | Promise<void> {
    if (subagentRunId === undefined || untagged.has(event.type)) return push(event);
    return push({ ...tag, ...event });
  }

  function message({ id = newId(), ...rest }: Parameters<Emit["message"]>[0] = {}): MessageWriter {
    let isOpen = true;
    const { role = "assistant", name } = rest;
    const start = { type: EventType.TEXT_MESSAGE_START, messageId: id, role };
    void send(name === undefined ? start : { ...start, name });
    return {
      id,
      text: (delta) =>
        delta ? send({ type: EventType.TEXT_MESSAGE_CONTENT, messageId: id, delta }) : undefined,
      end() {
        if (!isOpen) return;
        isOpen = false;
        return send({ type: EventType.TEXT_MESSAGE_END, messageId: id });
      },
    };
  }

  function startCall(toolCallName: string, { id, parentMessageId }: ToolCallOptions): string {
    const toolCallId = id ?? newId();
    const start = { type: EventType.TOOL_CALL_START, toolCallId, toolCallName };
    void send(parentMessageId === undefined ? start : { ...start, parentMessageId });
    return toolCallId;
  }

  function sendArgs(toolCallId: string, delta: string): void | Promise<void> {
    if (delta) return send({ type: EventType.TOOL_CALL_ARGS, toolCallId, delta });
  }

  function toolCall(name: string, args?: Json | string, options?: ToolCallOptions): string;
  function toolCall(
    name: string,
    args: AsyncIterable<string>,
    options?: ToolCallOptions,
  ): Promise<string>;
  function toolCall(
    name: string,
    args: Json | string | AsyncIterable<string> = {},
    callOptions: ToolCallOptions = {},
  ): string | Promise<string> {
    const id = startCall(name, callOptions);
    const end = { type: EventType.TOOL_CALL_END, toolCallId: id };
    if (isAsyncIterable(args)) {
      return finishWith(
        async () => {
          for await (const delta of args) await sendArgs(id, delta);
          return id;
        },
        () => send(end),
      );
    }
    void sendArgs(id, typeof args === "string" ? args : JSON.stringify(args));
    void send(end);
    return id;
  }

  async function step<T>(stepName: string, body: () => Awaitable<T>): Promise<T> {
    // Not awaited when there is nothing to wait for, so that a synchronous body keeps its place.
    const pace = send({ type: EventType.STEP_STARTED, stepName });
    if (pace) await pace;
    return finishWith(body, () => send({ type: EventType.STEP_FINISHED, stepName }));
  }

  function suspension(id: string): object {
    const asked = ending.interrupts.filter((interrupt) => interrupt.subagentRunId === id);
    const interruptIds = asked.map((interrupt) => interrupt.id);
    return asked.length > 0 ? { outcome: { type: "suspended", interruptIds } } : {};
  }

  async function subagent<T>(
    name: string,
    body: (emit: Emit) => Awaitable<T>,
    about: Parameters<Emit["subagent"]>[2] = {},
  ): Promise<T> {
    const id = newId();
    const parent = subagentRunId === undefined ? {} : { parentSubagentRunId: subagentRunId };
    const self = { subagentRunId: id };
    const pace = push({
      type: EventType.SUBAGENT_STARTED,
      ...self,
      name,
      ...parent,
      ...withoutUndefined(about),
    });
    try {
      if (pace) await pace;
      const result = await body(createLane(options, id));
      await push({ type: EventType.SUBAGENT_FINISHED, ...self, ...suspension(id) });
      return result;
    } catch (error) {
      if (isHalted(error)) {
        const outcome = { type: "suspended" };
        await push({ type: EventType.SUBAGENT_FINISHED, ...self, outcome, ...suspension(id) });
        throw error;
      }
      await push({ type: EventType.SUBAGENT_ERROR, ...self, ...describeError(error, debug) });
      throw error;
    }
  }

  return {
    text(delta) {
      if (!delta) return;
      // The guard owns the message that plain text belongs to.
      return subagentRunId === undefined
        ? push(delta)
        : push({ type: EventType.TEXT_MESSAGE_CHUNK, delta, ...tag });
    },
    reasoning(delta) {
      if (delta) return send({ type: EventType.REASONING_MESSAGE_CHUNK, delta });
    },
    message,
    toolCall,
    toolResult: (toolCallId, content) =>
      send({
        type: EventType.TOOL_CALL_RESULT,
        messageId: newId(),
        toolCallId,
        content: toResultContent(content),
        role: "tool",
      }),
    step(stepName, body) {
      assertBody("step", body);
      return step(stepName, body);
    },
    activity(activityType, content, { id = newId(), replace } = {}) {
      const event = { type: EventType.ACTIVITY_SNAPSHOT, messageId: id, activityType };
      const copy = { ...event, content: cloneJson(content).value };
      void send(replace === undefined ? copy : { ...copy, replace });
      return id;
    },
    messages: (messages) =>
      send({ type: EventType.MESSAGES_SNAPSHOT, messages: cloneJson(messages).value }),
    predictState: (entries) => custom("PredictState", entries),
    custom,
    raw: (event, source) =>
      send({ type: EventType.RAW, event, ...(source === undefined ? {} : { source }) }),
    subagent(name, body, about) {
      assertBody("subagent", body);
      return subagent(name, body, about);
    },
    interrupt(interrupt) {
      const id = interrupt.id ?? newId();
      ending.interrupts.push({ ...tag, ...interrupt, id });
      return id;
    },
    usage(usage) {
      ending.usage.push({ ...usage });
    },
    event: send,
  };

  // The copy is for authors who change the same object and send it again.
  function custom(name: string, value: unknown): void | Promise<void> {
    return send({ type: EventType.CUSTOM, name, value: cloneJson(value).value });
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

function toResultContent(content: unknown): string | ContentPart[] {
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
