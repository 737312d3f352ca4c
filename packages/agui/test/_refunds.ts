import { EventType } from "@ag-ui/core";
import type { AgentFunction, AgentLike, RunAgentInput, RunContext } from "@holodeck/agui-core";
import { Observable } from "rxjs";
import { z } from "zod";
import { createToolLoopAgent, defineTool } from "../../tools/src/index.ts";
import { compose, redact } from "../src/index.ts";
import type { AgentEvent, ServerTool } from "../src/index.ts";

/** A tool that counts by itself how often it ran, and with what. */
export interface Refunds {
  readonly tool: ServerTool;
  readonly made: unknown[];
}

export const refunded = "Refunded 17.5 of order A-1.";

export function createRefunds(options: { readonly onRun?: () => unknown } = {}): Refunds {
  const made: unknown[] = [];
  const tool = defineTool({
    name: "refund",
    description: "Refunds an order.",
    parameters: z.object({ order: z.string(), amount: z.number() }),
    needsApproval: true,
    execute: async ({ order, amount }) => {
      made.push({ order, amount });
      await options.onRun?.();
      return `Refunded ${amount} of order ${order}.`;
    },
  });
  return { tool, made };
}

export const args = { order: "A-1", amount: 17.5 };

const ownTool = "a tool loop that brings the tool";

/** What a user says to have it. */
export const wish = "I want my money back.";

const isWish = (content: unknown): boolean =>
  typeof content === "string" && /money back/.test(content);

// As the first lines of many an agent: what came last decides.
const newcomer: AgentFunction = async ({ messages }, { callTool }) => {
  if (!isWish(messages.at(-1)?.content)) return "Nothing to do.";
  return `Done: ${String(await callTool("refund", args))}`;
};

const generator: AgentFunction = async function* ({ messages }, { callTool }) {
  if (messages.at(-1)?.role === "user") {
    yield "Let me see. ";
    yield `Done: ${String(await callTool("refund", args))}`;
  } else yield "Nothing to do.";
};

const plain: AgentFunction = function* ({ messages }, { emit }) {
  const last = messages.at(-1);
  if (last?.role === "tool") yield `Done: ${JSON.stringify(last.content)}`;
  else if (last?.role === "user") void emit.custom("asked", true);
};

// Whole runs with a beginning and an end, as agents of AG-UI's client send them.
const observable = ((input: RunAgentInput, { callTool }: RunContext) =>
  new Observable<AgentEvent>((subscriber) => {
    const { threadId, runId, messages } = input;
    const speak = async (): Promise<void> => {
      subscriber.next({ type: EventType.RUN_STARTED, threadId, runId });
      const said =
        messages.at(-1)?.role === "user"
          ? String(await callTool("refund", args))
          : "Nothing to do.";
      const messageId = `m-${runId}`;
      subscriber.next({ type: EventType.TEXT_MESSAGE_START, messageId, role: "assistant" });
      subscriber.next({ type: EventType.TEXT_MESSAGE_CONTENT, messageId, delta: said });
      subscriber.next({ type: EventType.TEXT_MESSAGE_END, messageId });
      subscriber.next({ type: EventType.RUN_FINISHED, threadId, runId });
      subscriber.complete();
    };
    speak().catch((error: unknown) => subscriber.error(error));
  })) as AgentFunction;

const again: AgentFunction = async (_input, { callTool }) => {
  const result = await callTool("refund", args).catch((error: { code: string }) => {
    if (error.code === "halted") throw error;
    return error.code;
  });
  return `Done: ${String(result)}`;
};

const arrays = (({ messages }: RunAgentInput) =>
  messages.at(-1)?.role === "user" ? [] : ["Nothing ", "to do."]) as unknown as AgentFunction;

const model: AgentFunction = ({ messages, runId }) => {
  const last = messages.at(-1);
  if (last?.role === "tool") return [`Done: ${JSON.stringify(last.content)}`];
  const toolCallId = `call-${runId}`;
  return [
    "I will refund it. ",
    { type: "TOOL_CALL_START", toolCallId, toolCallName: "refund" },
    { type: "TOOL_CALL_ARGS", toolCallId, delta: JSON.stringify(args) },
    { type: "TOOL_CALL_END", toolCallId },
  ];
};

/** An agent that asks by one way in its first run, and is another form of agent in the next. */
const askingFirst =
  (next: AgentFunction): AgentFunction =>
  async (input, context) =>
    context.session.answers.length === 0 ? context.callTool("refund", args) : next(input, context);

interface Parts {
  readonly refund: ServerTool;
  /** The same agent; the test sees what each of its runs was given. */
  watch(agent: AgentLike): AgentLike;
}

/** Every form of agent: it asks for a refund, and does what it does when the answer is there. */
const forms: Readonly<Record<string, (parts: Parts) => AgentLike>> = {
  "an agent that looks at the last message": ({ watch }) => watch(newcomer),
  "an async generator": ({ watch }) => watch(generator),
  "a generator": ({ watch }) => watch(askingFirst(plain)),
  "an agent that returns a list": ({ watch }) => watch(askingFirst(arrays)),
  "an Observable of whole runs": ({ watch }) => watch(observable),
  "an agent that makes the call again": ({ watch }) => watch(again),
  "an agent composed with middleware": ({ watch }) => compose(watch(newcomer), redact()),
  "a tool loop": ({ watch }) => watch(createToolLoopAgent({ generate: model })),
  [ownTool]: ({ watch, refund }) =>
    createToolLoopAgent({ generate: watch(model), tools: [refund] }),
};

export const agentNames: readonly string[] = Object.keys(forms);

export interface Refunding extends Refunds {
  readonly agent: AgentLike;
  /** The handler's. */
  readonly tools: readonly ServerTool[];
  /** What each run of the agent was given. */
  readonly seen: RunAgentInput[];
}

/** An agent of that form, and its tool. */
export function createRefunding(
  name: string,
  options: Parameters<typeof createRefunds>[0] = {},
): Refunding {
  const { tool, made } = createRefunds(options);
  const seen: RunAgentInput[] = [];
  const watch = (agent: AgentLike): AgentLike => ({
    run(input, context) {
      seen.push(input);
      return typeof agent === "function" ? agent(input, context) : agent.run(input, context);
    },
  });
  const agent = forms[name]!({ refund: tool, watch });
  return { tool, made, agent, tools: name === ownTool ? [] : [tool], seen };
}
