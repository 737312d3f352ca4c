import { ulid } from "@holodeck/agui-core";
import { asText, assertOptions, describeValue, isRecord } from "@holodeck/agui-core/internal";
import type {
  AgentFunction,
  Awaitable,
  InterruptAnswer,
  Json,
  RunAgentInput,
  RunContext,
} from "@holodeck/agui-core";
import { toolNames } from "../_history.ts";
import { toRecord } from "../_json.ts";
import { createRunReader } from "./read-run.ts";
import type { RunReader } from "./read-run.ts";
import { toClientTools } from "./to-client-tools.ts";
import { toOpenAIAgentsInput } from "./to-openai-agents-input.ts";

/** As much of an `Agent` of `@openai/agents-core` as is needed here. */
export interface OpenAIAgent {
  readonly name: string;
  readonly tools: readonly unknown[];
  readonly handoffs: readonly unknown[];
  // Never, because the types of an agent depend on its context and its output.
  clone(config: never): unknown;
}

/** `import * as sdk from "@openai/agents"`, or the part of it that is named here. */
export interface OpenAIAgentsSdk {
  readonly run: unknown;
  readonly tool: unknown;
  readonly RunState: unknown;
  readonly RunContext: unknown;
}

export interface FromOpenAIAgentsOptions {
  /** The SDK that the agent was made with. By default `@openai/agents-core` is imported by the first run. */
  readonly sdk?: OpenAIAgentsSdk;
  /** The context that tools, guardrails and instructions of the agent receive. */
  readonly context?: (input: RunAgentInput, context: RunContext) => Awaitable<unknown>;
  /** How often models are called in one run, at most. By default the SDK's limit. */
  readonly maxTurns?: number;
  /**
   * Names of further tools that the agent runs, such as those of its MCP servers: no result of theirs is taken
   * from a client. Tools and handoffs of the agent are known.
   */
  readonly serverTools?: readonly string[];
}

const known = ["sdk", "context", "maxTurns", "serverTools"];
/** Where the state of a run that asked is kept, in the session. */
const stateKey = "openai-agents";

/**
 * An agent of the OpenAI Agents SDK: text, reasoning, tool calls and results, handoffs as subagents, approvals,
 * tools of the client, tokens. The state of a run that asks for approval is kept on the server with the question.
 *
 * @example
 * ```ts
 * const agent = new Agent({ name: "Assistant", instructions: "Be brief.", tools: [weather] });
 * export const handler = createAgentHandler(fromOpenAIAgents(agent));
 * ```
 */
export function fromOpenAIAgents(
  agent: OpenAIAgent,
  options: FromOpenAIAgentsOptions = {},
): AgentFunction {
  if (typeof (agent as Partial<OpenAIAgent> | null)?.clone !== "function") {
    throw new TypeError(`fromOpenAIAgents takes an Agent, not ${describeValue(agent)}.`);
  }
  assertOptions("fromOpenAIAgents", options, known);
  const serverTools = [...new Set([...toolNamesOf(agent), ...(options.serverTools ?? [])])];
  const run: AgentFunction = async function* (input, context) {
    const sdk = (options.sdk ?? (await loadSdk())) as unknown as Sdk;
    const clientTools = toClientTools(input, sdk.tool, serverTools);
    const names = new Set(clientTools.map(({ name }) => name));
    const tools = [...agent.tools, ...clientTools];
    const asked = names.size === 0 ? agent : agent.clone({ tools } as never);
    const runContext = await options.context?.(input, context);
    const kept = takeKept(context);
    const state = kept && (await restore(sdk, asked, { kept, input, context, runContext }));
    const result = await sdk.run(asked, state ?? toOpenAIAgentsInput(input.messages), {
      stream: true,
      signal: context.signal,
      ...(options.maxTurns === undefined ? {} : { maxTurns: options.maxTurns }),
      ...(state || runContext === undefined ? {} : { context: runContext }),
    });
    const earlier = earlierCalls(input, context, kept);
    const reader = createRunReader({ root: agent.name, earlier, context });
    for await (const event of result) yield* reader.read(event as Json);
    await result.completed;
    yield* reader.end();
    const questions = result.interruptions.filter(({ name = "" }) => !names.has(name));
    if (questions.length > 0) ask(questions, result.state, { reader, context });
  };
  return Object.assign(run, { serverTools });
}

interface Sdk {
  run(agent: unknown, input: unknown, options: object): Promise<StreamedRun>;
  tool(definition: object): { readonly name: string };
  readonly RunContext: new (context: unknown) => unknown;
  readonly RunState: {
    fromString(agent: unknown, text: string): Promise<RunState>;
    fromStringWithContext(agent: unknown, text: string, context: unknown): Promise<RunState>;
  };
}

interface StreamedRun extends AsyncIterable<unknown> {
  readonly completed: Promise<void>;
  readonly interruptions: readonly Interruption[];
  readonly state: RunState;
}

interface RunState {
  toString(): string;
  getInterruptions(): readonly Interruption[];
  approve(item: Interruption): void;
  reject(item: Interruption, options?: { message?: string }): void;
}

interface Interruption {
  readonly name?: string | undefined;
  readonly rawItem: { readonly callId?: string };
}

/** A run that waits for answers. */
interface Kept {
  readonly state: string;
  /** The SDK's call of each interrupt. */
  readonly calls: Readonly<Record<string, string>>;
}

interface Asking {
  readonly reader: RunReader;
  readonly context: RunContext;
}

function ask(
  questions: readonly Interruption[],
  state: RunState,
  { reader, context }: Asking,
): void {
  const calls: Record<string, string> = {};
  for (const { name = "", rawItem } of questions) {
    const callId = rawItem.callId ?? "";
    const toolCallId = reader.idOf(callId);
    const id = context.emit.interrupt({
      id: ulid(),
      reason: "tool_call",
      message: `Allow "${name}"?`,
      // A tool inside an agent that is a tool itself makes calls that clients do not receive.
      ...(toolCallId === undefined ? { metadata: { tool: name } } : { toolCallId }),
      responseSchema: {
        type: "object",
        properties: { approved: { type: "boolean" }, reason: { type: "string" } },
        required: ["approved"],
      },
    });
    calls[id] = callId;
  }
  // Not in the question: it has all that the run knows, and clients receive questions.
  context.session.set(stateKey, { state: state.toString(), calls } satisfies Kept);
}

/** What the last run left behind, when this run has answers to it. */
function takeKept({ session }: RunContext): Kept | undefined {
  const kept = session.get(stateKey) as Kept | null | undefined;
  if (!kept) return undefined;
  // A question that the next run does not answer is withdrawn, and a state is used once.
  session.set(stateKey, null);
  return session.answers.some(({ interrupt }) => interrupt.id in kept.calls) ? kept : undefined;
}

/** Calls that clients have, by the id that the SDK knows them by. */
function earlierCalls(
  { messages }: RunAgentInput,
  { session }: RunContext,
  kept: Kept | undefined,
): Map<string, string> {
  const ids = new Map<string, string>();
  if (!kept) return ids;
  for (const id of toolNames(messages).keys()) ids.set(id, id);
  for (const { interrupt } of session.answers) {
    const callId = kept.calls[interrupt.id];
    if (callId !== undefined && interrupt.toolCallId !== undefined) {
      ids.set(callId, interrupt.toolCallId);
    }
  }
  return ids;
}

interface Restoring {
  readonly kept: Kept;
  readonly input: RunAgentInput;
  readonly context: RunContext;
  readonly runContext: unknown;
}

/** The state of the run that asked, with the answers. */
async function restore(
  sdk: Sdk,
  agent: unknown,
  { kept, input, context, runContext }: Restoring,
): Promise<RunState> {
  const answers = new Map<string, InterruptAnswer>();
  for (const answer of context.session.answers) {
    const callId = kept.calls[answer.interrupt.id];
    if (callId !== undefined) answers.set(callId, answer);
  }
  const state =
    runContext === undefined
      ? await sdk.RunState.fromString(agent, kept.state)
      : await sdk.RunState.fromStringWithContext(agent, kept.state, new sdk.RunContext(runContext));
  const results = new Set(
    input.messages.flatMap((message) => (message.role === "tool" ? message.toolCallId : [])),
  );
  for (const item of state.getInterruptions()) {
    const callId = item.rawItem.callId ?? "";
    const answer = answers.get(callId);
    if (answer) settle(state, item, answer);
    else if (results.has(callId)) state.approve(item);
  }
  return state;
}

function settle(state: RunState, item: Interruption, { status, payload }: InterruptAnswer): void {
  const { approved, reason } = toRecord(payload);
  if (status === "resolved" && (approved === true || payload === true)) return state.approve(item);
  state.reject(item, typeof reason === "string" ? { message: reason } : {});
}

/** Names of tools and handoffs of an agent and of those that it hands over to. */
function toolNamesOf(agent: unknown, seen = new Set<unknown>()): string[] {
  if (!isRecord(agent) || seen.has(agent)) return [];
  seen.add(agent);
  const tools = list(agent.tools).flatMap(({ name }) => asText(name) ?? []);
  const handoffs = list(agent.handoffs).flatMap((one) => {
    const target = isRecord(one.agent) ? one.agent : one;
    const name = asText(one.toolName) ?? transferName(String(target.name));
    return [name, ...toolNamesOf(target, seen)];
  });
  return [...tools, ...handoffs];
}

// As the SDK calls the tool of a handoff.
const transferName = (agent: string): string =>
  `transfer_to_${agent}`.replaceAll(/[^a-zA-Z0-9]/g, "_");

async function loadSdk(): Promise<OpenAIAgentsSdk> {
  // A name that bundlers do not follow: the SDK is an optional peer.
  const name = "@openai/agents-core";
  try {
    return (await import(name)) as OpenAIAgentsSdk;
  } catch (cause) {
    throw new TypeError(
      `fromOpenAIAgents cannot import "${name}"; pass the SDK: ` +
        'import * as sdk from "@openai/agents" and fromOpenAIAgents(agent, { sdk }).',
      { cause },
    );
  }
}

function list(value: unknown): Json[] {
  return Array.isArray(value) ? value.filter(isRecord) : [];
}
