import { createReducer, EventType } from "@holodeck/agui-core";
import { createStateTracker } from "@holodeck/agui-core/internal";
import type { BaseEvent, Json, Message } from "@holodeck/agui-core";
import type {
  ContentPart,
  Event,
  RunFinishedOutcome,
  TokenUsage,
  ToolCallStartEvent,
} from "@ag-ui/core";

/** One tool call, put together from its events. */
export interface RecordedToolCall {
  readonly id: string;
  readonly name: string;
  /** The arguments, or undefined while they are not JSON. */
  readonly args: unknown;
  readonly argsText: string;
  readonly result?: string | ContentPart[];
  readonly parentMessageId?: string;
}

/** An activity as the client shows it at the end. */
export interface RecordedActivity {
  readonly id: string;
  readonly type: string;
  readonly content: Json;
}

/** What a client knows after it has read a run. */
export interface RecordedRun {
  readonly events: readonly BaseEvent[];
  /** The text of all assistant messages of this run, joined. */
  readonly text: string;
  /** The reasoning of this run, joined. */
  readonly reasoning: string;
  /** The conversation: what was sent, and what the run added. */
  readonly messages: readonly Message[];
  readonly toolCalls: readonly RecordedToolCall[];
  readonly state: unknown;
  /** Names of the steps, in the order in which they began. */
  readonly steps: readonly string[];
  readonly activities: readonly RecordedActivity[];
  readonly custom: readonly { readonly name: string; readonly value: unknown }[];
  readonly usage: readonly TokenUsage[];
  /** Set when the run failed. */
  readonly error: { readonly code: string | undefined; readonly message: string } | undefined;
  /** How the run finished; undefined when it failed or has not ended. */
  readonly outcome: RunFinishedOutcome | undefined;
}

/** What the client had before the run. */
export interface RecordStart {
  readonly messages?: readonly Message[] | undefined;
  readonly state?: unknown;
}

/**
 * Reads the events of a run as a client does.
 *
 * @example
 * ```ts
 * const { text, toolCalls } = recordRun(await collect(toAgent(agent).run(runInput())));
 * ```
 */
export function recordRun(events: readonly BaseEvent[], start: RecordStart = {}): RecordedRun {
  const reducer = createReducer(start.messages);
  const state = createStateTracker(start.state);
  const calls = new Map<string, CallDraft>();
  const speakers = new Map<string, string>();
  const steps: string[] = [];
  const custom: { name: string; value: unknown }[] = [];
  let text = "";
  let reasoning = "";
  let usage: readonly TokenUsage[] = [];
  let error: RecordedRun["error"];
  let outcome: RecordedRun["outcome"];

  for (const event of events as readonly Event[]) {
    reducer.apply(event);
    switch (event.type) {
      case EventType.TEXT_MESSAGE_START:
        speakers.set(event.messageId, event.role ?? "assistant");
        break;
      case EventType.TEXT_MESSAGE_CONTENT:
        if ((speakers.get(event.messageId) ?? "assistant") === "assistant") text += event.delta;
        break;
      case EventType.REASONING_MESSAGE_CONTENT:
        reasoning += event.delta;
        break;
      case EventType.TOOL_CALL_START:
        calls.set(event.toolCallId, { start: event, argsText: "" });
        break;
      case EventType.TOOL_CALL_ARGS: {
        const call = calls.get(event.toolCallId);
        if (call) call.argsText += event.delta;
        break;
      }
      case EventType.TOOL_CALL_RESULT: {
        const call = calls.get(event.toolCallId);
        if (call) call.result = event.content;
        break;
      }
      case EventType.STATE_SNAPSHOT:
        state.snapshot(event.snapshot);
        break;
      case EventType.STATE_DELTA:
        state.delta(event.delta);
        break;
      case EventType.STEP_STARTED:
        steps.push(event.stepName);
        break;
      case EventType.CUSTOM:
        custom.push({ name: event.name, value: event.value });
        break;
      case EventType.RUN_FINISHED:
        outcome = event.outcome ?? { type: "success" };
        usage = event.usage ?? [];
        break;
      case EventType.RUN_ERROR:
        error = { code: event.code, message: event.message };
        usage = event.usage ?? [];
        break;
      default:
    }
  }

  return {
    events,
    text,
    reasoning,
    messages: reducer.messages,
    toolCalls: [...calls.values()].map(toToolCall),
    state: state.value,
    steps,
    activities: reducer.messages.flatMap(toActivity),
    custom,
    usage,
    error,
    outcome,
  };
}

interface CallDraft {
  readonly start: ToolCallStartEvent;
  argsText: string;
  result?: string | ContentPart[];
}

function toToolCall({ start, argsText, result }: CallDraft): RecordedToolCall {
  const { toolCallId: id, toolCallName: name, parentMessageId } = start;
  return {
    id,
    name,
    args: parse(argsText),
    argsText,
    ...(result === undefined ? {} : { result }),
    ...(parentMessageId === undefined ? {} : { parentMessageId }),
  };
}

function toActivity(message: Message): RecordedActivity[] {
  if (message.role !== "activity") return [];
  return [{ id: message.id, type: message.activityType, content: message.content as Json }];
}

function parse(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return undefined;
  }
}
