import { AgentError, EventType, createReducer, ulid } from "@holodeck/agui-core";
import { waitsForClient } from "@holodeck/agui-core/internal";
import type {
  Agent,
  BaseEvent,
  Message,
  RunAgentInput,
  RunContext,
  ToolCallRequest,
} from "@holodeck/agui-core";
import { iterate } from "./iterate.ts";

/** The output of a model in one step. */
export interface ModelStep {
  /** The conversation, including the output. */
  readonly messages: readonly Message[];
  /** The calls it made that have no answer. */
  readonly calls: readonly ModelCall[];
  readonly result: unknown;
  /** Whether it has asked the user something: the run ends. */
  readonly isInterrupted: boolean;
}

export interface ModelCall {
  readonly id: string;
  readonly name: string;
  readonly argsText: string;
  readonly parentMessageId: string;
  /** The client has not received the call; the code that makes the call sends it. */
  readonly isHeld: boolean;
}

/** Calls the model once. Passes on its output, but neither its start nor its end. */
export async function* takeStep(
  model: Agent,
  input: RunAgentInput,
  context: RunContext,
): AsyncGenerator<BaseEvent, ModelStep> {
  const reducer = createReducer(input.messages);
  const calls = new Map<string, ModelCall>();
  const clients = new Set(waitsForClient(context) ? input.tools.map(({ name }) => name) : []);
  for (const { name } of context.tools) clients.delete(name);
  // All calls of a step belong to one message: the text before them, or a separate one.
  let messageId: string | undefined;
  let result: unknown;
  let isInterrupted = false;
  // Calls that the model's adapter has refused to make. Unless the model sends output afterwards it has
  // not received the refusals, and the calls still need an answer.
  const refusals: BaseEvent[] = [];

  for await (const event of iterate<BaseEvent>(model.run(input, context), context.signal)) {
    const { toolCallId: id = "" } = event as { toolCallId?: string };
    const call = calls.get(id);
    switch (event.type) {
      case EventType.RUN_STARTED:
        continue;
      case EventType.RUN_FINISHED:
        result = event.result;
        isInterrupted = takeEnd(event, context);
        continue;
      case EventType.RUN_ERROR:
        throw toError(event);
      case EventType.TEXT_MESSAGE_START:
        if (event.subagentRunId !== undefined) break;
        messageId ??= event.messageId as string;
        for (const refusal of refusals.splice(0)) {
          calls.delete(refusal.toolCallId as string);
          reducer.apply(refusal);
          yield refusal;
        }
        break;
      case EventType.TOOL_CALL_START: {
        if (event.subagentRunId !== undefined) break;
        const name = event.toolCallName as string;
        const parentMessageId =
          (event.parentMessageId as string | undefined) ?? (messageId ??= ulid());
        const isHeld = clients.has(name);
        calls.set(id, { id, name, argsText: "", parentMessageId, isHeld });
        if (isHeld) continue;
        const start = { ...event, parentMessageId };
        reducer.apply(start);
        yield start;
        continue;
      }
      case EventType.TOOL_CALL_ARGS:
        if (call) calls.set(id, { ...call, argsText: call.argsText + String(event.delta) });
        break;
      case EventType.TOOL_CALL_RESULT:
        if (call && isRefusal(event)) {
          refusals.push(event);
          continue;
        }
        // The model's own provider has run it.
        calls.delete(id);
        break;
      default:
    }
    if (call?.isHeld) continue;
    reducer.apply(event);
    yield event;
  }
  return { messages: reducer.messages, calls: [...calls.values()], result, isInterrupted };
}

function isRefusal({ metadata }: BaseEvent): boolean {
  const { error } = (metadata ?? {}) as { error?: unknown };
  return error === "unknown-tool" || error === "invalid-arguments";
}

/** What `context.callTools` takes for a call; undefined when its arguments are not JSON. */
export function toRequest(call: ModelCall): ToolCallRequest | undefined {
  const { id, name, argsText, parentMessageId, isHeld } = call;
  try {
    const args = argsText.trim() === "" ? {} : (JSON.parse(argsText) as unknown);
    return isHeld ? { name, args, parentMessageId } : { name, args, id };
  } catch {
    return undefined;
  }
}

function takeEnd(event: BaseEvent, context: RunContext): boolean {
  const { usage = [], outcome } = event as Ending;
  for (const entry of usage) context.emit.usage(entry);
  for (const interrupt of outcome?.interrupts ?? []) context.emit.interrupt(interrupt);
  return (outcome?.interrupts ?? []).length > 0;
}

interface Ending {
  readonly usage?: readonly Parameters<RunContext["emit"]["usage"]>[0][];
  readonly outcome?: { readonly interrupts?: readonly { id: string; reason: string }[] };
}

function toError(event: BaseEvent): AgentError {
  const { code = "agent-error", message } = event as { code?: string; message?: string };
  return new AgentError(code as AgentError["code"], message ?? "The model failed.");
}
