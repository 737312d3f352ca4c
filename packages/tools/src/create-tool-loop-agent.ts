import { AgentError, toAgent, withTools } from "@holodeck/agui-core";
import {
  assertAgent,
  assertOptions,
  assertTools,
  describeValue,
  toDefinition,
} from "@holodeck/agui-core/internal";
import type {
  AgentLike,
  AgentObject,
  BaseEvent,
  Message,
  RunAgentInput,
  RunContext,
  ServerTool,
  ToolCallOutcome,
  ToolCallRequest,
} from "@holodeck/agui-core";
import { takeStep, toRequest } from "./model-step.ts";
import type { ModelCall, ModelStep } from "./model-step.ts";
import { settleCalls, toResults } from "./tool-history.ts";

export interface ToolLoopOptions {
  /**
   * Calls the model once. An agent like any other: `input.messages` is the conversation so far and
   * `input.tools` the tools that may be called; it emits text and tool calls, and reports
   * `context.emit.usage`.
   */
  readonly generate: AgentLike;
  /** Besides those of the handler and of the client. */
  readonly tools?: readonly ServerTool[];
  /** How often the model is asked at most; the last time without tools. By default 10. */
  readonly maxSteps?: number;
  readonly name?: string;
  readonly description?: string;
}

const known = ["generate", "tools", "maxSteps", "name", "description"];

/**
 * An agent that calls a model, runs the tools it requests, and calls it again until it answers with
 * text.
 *
 * @example
 * ```ts
 * const agent = createToolLoopAgent({
 *   generate: ({ messages, tools }, { signal }) => myModel.stream({ messages, tools, signal }),
 *   tools: [weather],
 * });
 * ```
 */
export function createToolLoopAgent(options: ToolLoopOptions): AgentObject {
  assertOptions("createToolLoopAgent", options, known);
  const { generate, tools = [], maxSteps = 10, name, description } = options;
  assertAgent(generate, "generate");
  assertTools("tools", tools);
  if (!Number.isInteger(maxSteps) || maxSteps < 1) {
    throw new TypeError(`maxSteps must be a whole number above 0, not ${describeValue(maxSteps)}.`);
  }
  const model = toAgent(generate);
  return {
    ...(name === undefined ? {} : { name }),
    ...(description === undefined ? {} : { description }),
    serverTools: tools.flatMap(({ name: tool, location }) => (location === "client" ? [] : tool)),
    async *run(given, outer): AsyncGenerator<BaseEvent, unknown> {
      const { input, context } = withTools(given, outer, tools);
      const allowed = [...context.tools.map(toDefinition), ...input.tools];
      let messages: readonly Message[] = [
        ...input.messages,
        ...(await finishApproved(input, context)),
      ];
      for (let step = 1; step <= maxSteps && !context.signal.aborted; step++) {
        const isLast = step === maxSteps && maxSteps > 1;
        const asked: RunAgentInput = {
          ...input,
          messages: settleCalls(messages),
          tools: isLast ? [] : allowed,
          state: context.state.get(),
        };
        const reply = yield* takeStep(model, asked, context);
        if (reply.calls.length === 0 || context.signal.aborted) return reply.result;
        const outcomes =
          step === maxSteps
            ? await refuse(reply.calls, `No more than ${maxSteps} steps are allowed.`, context)
            : await callAll(reply.calls, context);
        if (reply.isInterrupted || outcomes.some(({ status }) => status === "pending")) return;
        messages = [...withHeld(reply, outcomes), ...toResults(outcomes)];
      }
    },
  };
}

// What an earlier run asked a person about, and this one may do now, or may not. The calls of the handler's
// tools have their results already.
async function finishApproved(input: RunAgentInput, context: RunContext): Promise<Message[]> {
  const made = new Set(
    input.messages.flatMap((one) => (one.role === "tool" ? one.toolCallId : [])),
  );
  const calls = context.session.answers.flatMap(({ call }) =>
    call && !made.has(call.id) ? [{ id: call.id, name: call.name, args: call.args }] : [],
  );
  return calls.length === 0 ? [] : toResults(await context.callTools(calls));
}

async function callAll(
  calls: readonly ModelCall[],
  context: RunContext,
): Promise<readonly ToolCallOutcome[]> {
  const requests = calls.map(toRequest);
  const garbled = calls.filter((_, index) => !requests[index]);
  const refused = await refuse(garbled, "The arguments are not JSON.", context);
  const made = await context.callTools(requests.filter((one): one is ToolCallRequest => !!one));
  const [next, rest] = [made.values(), refused.values()];
  return requests.map((request) => (request ? next : rest).next().value as ToolCallOutcome);
}

async function refuse(
  calls: readonly ModelCall[],
  message: string,
  context: RunContext,
): Promise<ToolCallOutcome[]> {
  const error = new AgentError("invalid-arguments", message);
  const outcomes: ToolCallOutcome[] = [];
  for (const { id, name, argsText, isHeld } of calls) {
    if (!isHeld) await context.emit.toolResult(id, { error: { code: error.code, message } });
    outcomes.push({ id, name, args: argsText, ms: 0, status: "failed", error });
  }
  return outcomes;
}

// Calls that the run itself has sent, under its own ids, belong to the model's message.
function withHeld(
  { messages, calls }: ModelStep,
  outcomes: readonly ToolCallOutcome[],
): readonly Message[] {
  const made = calls.flatMap(({ isHeld, name, argsText, parentMessageId }, index) =>
    isHeld
      ? [
          {
            parentMessageId,
            call: {
              id: outcomes[index]!.id,
              type: "function" as const,
              function: { name, arguments: argsText },
            },
          },
        ]
      : [],
  );
  const parents = new Map<string, Message & { role: "assistant" }>();
  for (const { parentMessageId: id, call } of made) {
    const before = parents.get(id) ?? messages.find((message) => message.id === id);
    const parent = before?.role === "assistant" ? before : { id, role: "assistant" as const };
    parents.set(id, { ...parent, toolCalls: [...(parent.toolCalls ?? []), call] });
  }
  const known = new Set(messages.map(({ id }) => id));
  return [
    ...messages.map((message) => parents.get(message.id) ?? message),
    ...[...parents.values()].filter(({ id }) => !known.has(id)),
  ];
}
