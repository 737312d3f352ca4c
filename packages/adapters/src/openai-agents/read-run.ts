import { EventType, ulid } from "@holodeck/agui-core";
import { asText, isRecord } from "@holodeck/agui-core/internal";
import type { BaseEvent, Json } from "@holodeck/agui-core";
import type { AdapterContext } from "../_source.ts";
import { toRecord } from "../_json.ts";
import { createTurn } from "../_turn.ts";
import { toUsage } from "../_usage.ts";
import { readChat } from "../openai/read-chat.ts";
import { readResponse } from "../openai/read-response.ts";

/** Reads the events of a streamed run. */
export interface RunReader {
  read(event: Json): BaseEvent[];
  /** Ends what is open. */
  end(): BaseEvent[];
  /** The id that a call of the SDK has in the thread; undefined when clients did not receive it. */
  idOf(callId: string): string | undefined;
}

// As in `readChat`, which reads the same answer.
const text = "text";
const thought = "thought";

export interface RunReaderOptions {
  /** The name of the agent that starts: others are subagents. */
  readonly root: string;
  /** Calls of earlier runs: the id in the thread by that of the SDK. */
  readonly earlier: ReadonlyMap<string, string>;
  readonly context: AdapterContext;
}

export function createRunReader({ root, earlier, context }: RunReaderOptions): RunReader {
  const turn = createTurn();
  const ids = new Map(earlier);
  let deltas = readDeltas();
  let streamed = { text: false, reasoning: false };
  let subagentRunId: string | undefined;

  function readDeltas(): (event: Json) => BaseEvent[] {
    const [chat, response] = [readChat(turn), readResponse(turn)];
    return (event) => ("choices" in event ? chat.read(withoutText(event)) : response.read(event));
  }

  function readRaw(data: Json): BaseEvent[] {
    switch (data.type) {
      case "response_started":
        deltas = readDeltas();
        streamed = { text: false, reasoning: false };
        return turn.endStep();
      case "output_text_delta":
        streamed.text = true;
        return [...turn.endReasoning(thought), ...turn.text(text, asText(data.delta) ?? "")];
      case "model":
        return isRecord(data.event) && !isTextOrEnd(data.event) ? readModel(data.event) : [];
      case "response_done":
        spend(toRecord(data.response), context);
        return [...turn.endReasoning(thought), ...turn.endText(text)];
      default:
        return [];
    }
  }

  function readModel(event: Json): BaseEvent[] {
    const events = deltas(event);
    for (const { type, toolCallId } of events) {
      if (type === EventType.REASONING_MESSAGE_CONTENT) streamed.reasoning = true;
      if (type === EventType.TOOL_CALL_START) addCall(toolCallId as string);
    }
    return events;
  }

  function addCall(id: string): void {
    ids.set(id, id);
  }

  function readItem(name: unknown, item: Json): BaseEvent[] {
    const raw = toRecord(item.rawItem);
    const id = asText(raw.callId) ?? "";
    switch (name) {
      case "message_output_created":
        return streamed.text ? [] : whole(turn.text, turn.endText, textIn(raw.content));
      case "reasoning_item_created":
        return streamed.reasoning
          ? []
          : whole(turn.reasoning, turn.endReasoning, textIn(raw.rawContent ?? raw.content));
      case "tool_called":
      case "handoff_requested":
        if (raw.type !== "function_call") return [];
        addCall(id);
        return turn.call(id, asText(raw.name) ?? "", asText(raw.arguments) ?? "");
      case "tool_output":
      case "handoff_occurred":
        return ids.has(id) ? turn.result(ids.get(id)!, toOutput(raw.output)) : [];
      default:
        return [];
    }
  }

  // The handoff itself, its call and its result, belongs to the agent that made it.
  function changeAgent({ targetAgent, rawItem }: Json): BaseEvent[] {
    const { name } = toRecord(targetAgent);
    const before = leaveAgent();
    if (name === root) return before;
    const parentToolCallId = asText(toRecord(rawItem).callId);
    subagentRunId = ulid();
    const start = { type: EventType.SUBAGENT_STARTED, subagentRunId, name: String(name) };
    return [
      ...before,
      { ...start, ...(parentToolCallId === undefined ? {} : { parentToolCallId }) },
    ];
  }

  function leaveAgent(): BaseEvent[] {
    if (subagentRunId === undefined) return [];
    const end = { type: EventType.SUBAGENT_FINISHED, subagentRunId };
    subagentRunId = undefined;
    return [end];
  }

  const own = (events: BaseEvent[]): BaseEvent[] =>
    subagentRunId === undefined ? events : events.map((event) => ({ ...event, subagentRunId }));

  return {
    read(event) {
      if (event.type === "raw_model_stream_event") return own(readRaw(toRecord(event.data)));
      if (event.type !== "run_item_stream_event") return [];
      const item = toRecord(event.item);
      const events = own(readItem(event.name, item));
      return event.name === "handoff_occurred" ? [...events, ...changeAgent(item)] : events;
    },
    end: () => [...own(turn.endStep()), ...leaveAgent()],
    idOf: (id) => ids.get(id),
  };
}

type Write = (key: string, delta: string) => BaseEvent[];

function whole(write: Write, end: (key: string) => BaseEvent[], words: string): BaseEvent[] {
  return [...write("whole", words), ...end("whole")];
}

// The SDK repeats these in its own events.
function isTextOrEnd({ type }: Json): boolean {
  return (
    typeof type === "string" &&
    /^response\.(output_text\.(delta|done)|refusal|completed)/.test(type)
  );
}

function withoutText(chunk: Json): Json {
  const choices = Array.isArray(chunk.choices) ? chunk.choices.filter(isRecord) : [];
  const silent = choices.map((choice) => {
    const { content: _, ...delta } = toRecord(choice.delta);
    return { ...choice, delta };
  });
  return { choices: silent };
}

function spend({ usage, providerData }: Json, { emit }: AdapterContext): void {
  const spent = toRecord(usage);
  const counts = {
    inputTokens: spent.inputTokens,
    outputTokens: spent.outputTokens,
    totalTokens: spent.totalTokens,
    reasoningTokens: detail(spent.outputTokensDetails, "reasoning_tokens"),
    cachedInputTokens: detail(spent.inputTokensDetails, "cached_tokens"),
  };
  const reported = toUsage(counts, toRecord(providerData).model);
  if (reported) emit.usage(reported);
}

function detail(details: unknown, name: string): unknown {
  return toRecord(Array.isArray(details) ? details[0] : details)[name];
}

function textIn(content: unknown): string {
  const parts = Array.isArray(content) ? content.filter(isRecord) : [];
  return parts.map((part) => asText(part.text) ?? asText(part.refusal) ?? "").join("");
}

// Text alone as it is; anything else as JSON.
function toOutput(output: unknown): unknown {
  return isRecord(output) && output.type === "text" ? output.text : output;
}
