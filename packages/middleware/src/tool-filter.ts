import { EventType, mapEvents } from "@holodeck/agui-core";
import { assertOptions } from "@holodeck/agui-core/internal";
import type { AskedCall, BaseEvent, Message, Middleware } from "@holodeck/agui-core";

/** Tools by name, or by a rule on the name. */
export type ToolNames = readonly string[] | ((name: string) => boolean);

export interface ToolFilterOptions {
  /** Only these tools are shown. By default all. */
  allow?: ToolNames;
  /** These are hidden, also when they are allowed. By default none. */
  deny?: ToolNames;
  /** Shown, but with `{}` for their arguments and `[redacted]` for their results. By default none. */
  redact?: ToolNames;
}

const redacted = "[redacted]";

/**
 * Hides tools: the agent is not offered them, and the client sees nothing of their calls.
 *
 * @example
 * ```ts
 * createAgentHandler(agent, { middleware: [toolFilter({ deny: ["delete_user"] })] });
 * ```
 */
export function toolFilter(options: ToolFilterOptions): Middleware {
  assertOptions("toolFilter", options, ["allow", "deny", "redact"]);
  const isAllowed = toTest("allow", options.allow, true);
  const isDenied = toTest("deny", options.deny, false);
  const isRedacted = toTest("redact", options.redact, false);
  const isHidden = (name: string): boolean => isDenied(name) || !isAllowed(name);

  const filter = mapEvents.perRun((input, { session }) => {
    // An approved call was made in an earlier run, and the client may have left it out of its history.
    const approved = session.answers.flatMap(({ call }) => call ?? []);
    return createFilter({ messages: input.messages, approved }, { isHidden, isRedacted });
  });
  return (input, context, next) => {
    const tools = input.tools.filter(({ name }) => !isHidden(name));
    // The history still contains the names of earlier calls, so the filter reads the whole input.
    return filter(input, context, (_, inner) => next({ ...input, tools }, inner));
  };
}

interface Rules {
  readonly isHidden: (name: string) => boolean;
  readonly isRedacted: (name: string) => boolean;
}

/** Where the filter finds the names of calls that were made before the run. */
interface EarlierCalls {
  readonly messages: readonly Message[];
  readonly approved: readonly AskedCall[];
}

function createFilter(
  earlier: EarlierCalls,
  { isHidden, isRedacted }: Rules,
): (event: BaseEvent) => BaseEvent | null {
  const hidden = new Set<string>();
  const blurred = new Set<string>();
  /** Redacted calls whose arguments were sent. */
  const reported = new Set<string>();
  let chunkId: string | undefined;

  function meet(id: string, name: string): void {
    if (isHidden(name)) hidden.add(id);
    else if (isRedacted(name)) blurred.add(id);
  }

  function meetAll(messages: readonly Message[]): void {
    for (const message of messages) {
      if (message.role !== "assistant") continue;
      for (const call of message.toolCalls ?? []) meet(call.id, call.function.name);
    }
  }

  function start(event: BaseEvent): BaseEvent | null {
    const id = event.toolCallId as string;
    meet(id, event.toolCallName as string);
    reported.delete(id);
    return part(event);
  }

  function part(event: BaseEvent): BaseEvent | null {
    const id = event.toolCallId as string;
    if (hidden.has(id)) return null;
    return blurred.has(id) ? withoutRaw(event) : event;
  }

  function args(event: BaseEvent): BaseEvent | null {
    const id = event.toolCallId as string;
    if (!blurred.has(id) || hidden.has(id)) return part(event);
    if (reported.has(id)) return null;
    reported.add(id);
    return { ...withoutRaw(event), delta: "{}" };
  }

  // Only other middleware can produce one: chunks of an agent are expanded before.
  function chunk(event: BaseEvent): BaseEvent | null {
    const isFirst = event.toolCallId !== undefined && event.toolCallId !== chunkId;
    chunkId = (event.toolCallId as string | undefined) ?? chunkId;
    if (chunkId === undefined) return event;
    if (typeof event.toolCallName === "string") meet(chunkId, event.toolCallName);
    if (hidden.has(chunkId)) return null;
    if (!blurred.has(chunkId)) return event;
    return isFirst ? { ...withoutRaw(event), delta: "{}" } : null;
  }

  function result(event: BaseEvent): BaseEvent | null {
    const id = event.toolCallId as string;
    if (!blurred.has(id) || hidden.has(id)) return part(event);
    return { ...withoutRaw(event), content: redacted };
  }

  function finished(event: BaseEvent): BaseEvent {
    const outcome = event.outcome as Outcome | undefined;
    if (outcome?.type === "success" && outcome.pendingToolCallIds?.some((id) => hidden.has(id))) {
      const { pendingToolCallIds, ...rest } = outcome;
      const ids = pendingToolCallIds.filter((id) => !hidden.has(id));
      const left = ids.length > 0 ? { ...rest, pendingToolCallIds: ids } : rest;
      return { ...withoutRaw(event), outcome: left };
    }
    if (outcome?.type === "interrupt" && outcome.interrupts?.some(concernsHidden)) {
      // The question stays, or the run would wait for an answer that was never asked for.
      const interrupts = outcome.interrupts.map((one) =>
        concernsHidden(one) ? without(one, "toolCallId") : one,
      );
      return { ...withoutRaw(event), outcome: { ...outcome, interrupts } };
    }
    return event;
  }

  function concernsHidden({ toolCallId }: { toolCallId?: string }): boolean {
    return toolCallId !== undefined && hidden.has(toolCallId);
  }

  function snapshot(event: BaseEvent): BaseEvent {
    const messages = event.messages as readonly Message[];
    meetAll(messages);
    if (hidden.size === 0 && blurred.size === 0) return event;
    return { ...withoutRaw(event), messages: messages.flatMap(cleanMessage) };
  }

  function cleanMessage(message: Message): Message[] {
    if (message.role === "tool") {
      if (hidden.has(message.toolCallId)) return [];
      if (!blurred.has(message.toolCallId)) return [message];
      return [{ ...without(message, "error"), content: redacted }];
    }
    if (message.role !== "assistant" || !message.toolCalls) return [message];
    const { toolCalls, ...rest } = message;
    const shown = toolCalls
      .filter(({ id }) => !hidden.has(id))
      .map((call) =>
        blurred.has(call.id) ? { ...call, function: { ...call.function, arguments: "{}" } } : call,
      );
    if (shown.length > 0) return [{ ...rest, toolCalls: shown }];
    return rest.content ? [rest] : [];
  }

  meetAll(earlier.messages);
  for (const { id, name } of earlier.approved) meet(id, name);

  return (event) => {
    switch (event.type) {
      case EventType.TOOL_CALL_START:
        return start(event);
      case EventType.TOOL_CALL_ARGS:
        return args(event);
      case EventType.TOOL_CALL_END:
        return part(event);
      case EventType.TOOL_CALL_RESULT:
        return result(event);
      case EventType.TOOL_CALL_CHUNK:
        return chunk(event);
      case EventType.REASONING_ENCRYPTED_VALUE:
        return hidden.has(event.entityId as string) ? null : event;
      case EventType.SUBAGENT_STARTED:
        return concernsHidden({ toolCallId: event.parentToolCallId as string })
          ? without(withoutRaw(event), "parentToolCallId")
          : event;
      case EventType.MESSAGES_SNAPSHOT:
        return snapshot(event);
      case EventType.RUN_FINISHED:
        return finished(event);
      default:
        return event;
    }
  };
}

interface Outcome {
  readonly type: string;
  readonly pendingToolCallIds?: readonly string[];
  readonly interrupts?: readonly { readonly toolCallId?: string }[];
}

// The provider's own event holds what was just taken out.
function withoutRaw(event: BaseEvent): BaseEvent {
  return event.rawEvent === undefined ? event : without(event, "rawEvent");
}

function without<T extends object>(value: T, key: string): T {
  const { [key]: _, ...rest } = value as Record<string, unknown>;
  return rest as T;
}

function toTest(
  option: keyof ToolFilterOptions,
  names: unknown,
  fallback: boolean,
): (name: string) => boolean {
  if (names === undefined) return () => fallback;
  if (typeof names === "function") return names as (name: string) => boolean;
  if (Array.isArray(names)) {
    const set = new Set<unknown>(names);
    return (name) => set.has(name);
  }
  throw new TypeError(
    `toolFilter's ${option} must be a list of names or a function, like { ${option}: ["search"] }, ` +
      `not ${JSON.stringify(names)}.`,
  );
}
