import { AgentError, ulid } from "@holodeck/agui-core";
import { asText, assertOptions, describeValue, isRecord } from "@holodeck/agui-core/internal";
import type {
  AgentFunction,
  Awaitable,
  BaseEvent,
  Json,
  RunAgentInput,
  RunContext,
} from "@holodeck/agui-core";
import { toRecord } from "../_json.ts";
import { createTurn } from "../_turn.ts";
import type { Turn } from "../_turn.ts";
import { toUsage } from "../_usage.ts";
import { toLangChainMessages } from "./to-lang-chain-messages.ts";

/** As much of a compiled graph of `@langchain/langgraph` as is needed here. */
export interface LangGraph {
  // Never, because the types of a graph's input and options depend on its state.
  stream(input: never, options?: never): Awaitable<AsyncIterable<unknown>>;
}

export interface FromLangGraphOptions {
  /** What the graph starts with. By default `{ messages }`, with the ids they have. */
  readonly input?: (input: RunAgentInput, context: RunContext) => Awaitable<unknown>;
  /** `(resume) => new Command({ resume })`: needed by graphs that call `interrupt`. */
  readonly command?: (resume: Record<string, unknown>) => unknown;
  /** Members of the graph's `configurable`, besides `thread_id`. */
  readonly configurable?: (input: RunAgentInput, context: RunContext) => Json;
  /** What of the graph's state is shared with the frontend. By default nothing. */
  readonly state?: (values: Json) => unknown;
  /** Names of the tools that the graph runs: no result of theirs is taken from a client. */
  readonly serverTools?: readonly string[];
}

const known = ["input", "command", "configurable", "state", "serverTools"];

/**
 * A compiled graph of LangGraph as an agent: text, reasoning, tool calls and results, interrupts, tokens,
 * and what nodes write. The graph's thread is the run's, one per user.
 *
 * @example
 * ```ts
 * const agent = fromLangGraph(graph, { command: (resume) => new Command({ resume }) });
 * ```
 */
export function fromLangGraph(graph: LangGraph, options: FromLangGraphOptions = {}): AgentFunction {
  if (typeof (graph as Partial<LangGraph> | null)?.stream !== "function") {
    throw new TypeError(
      `fromLangGraph takes what compile() of a graph returns, not ${describeValue(graph)}.`,
    );
  }
  assertOptions("fromLangGraph", options, known);
  const stream = graph.stream.bind(graph) as unknown as (
    input: unknown,
    options: object,
  ) => Awaitable<AsyncIterable<unknown>>;
  const run: AgentFunction = async function* (input, context) {
    const parts = await stream(await toGraphInput(input, context, options), {
      streamMode: ["messages", "updates", "custom", ...(options.state ? ["values"] : [])],
      signal: context.signal,
      configurable: { ...options.configurable?.(input, context), thread_id: threadOf(context) },
    });
    const read = createReader(context, options);
    for await (const part of parts) {
      if (Array.isArray(part)) yield* await read.part(String(part[0]), part[1]);
    }
    yield* read.end();
  };
  return Object.assign(run, { serverTools: options.serverTools });
}

async function toGraphInput(
  input: RunAgentInput,
  context: RunContext,
  options: FromLangGraphOptions,
): Promise<unknown> {
  // With a call it was a tool of the handler that asked, and not the graph: its result is in the messages.
  const answers = context.session.answers.filter(({ call }) => call === undefined);
  if (answers.length === 0) {
    return (
      (await options.input?.(input, context)) ?? { messages: toLangChainMessages(input.messages) }
    );
  }
  if (!options.command) {
    throw new TypeError(
      "The graph was interrupted, and resuming it requires a command: " +
        "fromLangGraph(graph, { command: (resume) => new Command({ resume }) }).",
    );
  }
  const resumes = answers.map(({ interrupt, payload }) => [interrupt.id, payload ?? null]);
  return options.command(Object.fromEntries(resumes) as Json);
}

// Two users may call their threads the same, and must not meet in one.
function threadOf({ principal, threadId }: RunContext): string {
  return principal ? `${encodeURIComponent(principal.id)}/${threadId}` : threadId;
}

interface PartReader {
  part(mode: string, value: unknown): Promise<BaseEvent[]>;
  end(): BaseEvent[];
}

function createReader(context: RunContext, options: FromLangGraphOptions): PartReader {
  // Under the graph's own ids, so that it knows its messages again when they come back.
  const turn = createTurn((key) => key);
  const open = new Map<string, string>();
  const calls = new Map<string, string>();

  function endMessage(id: string): BaseEvent[] {
    open.delete(id);
    return [...turn.endReasoning(thoughtOf(id)), ...turn.endText(id)];
  }

  return {
    async part(mode, value) {
      if (mode === "messages" && Array.isArray(value)) {
        const [message, metadata] = value as unknown[];
        const node = String(toRecord(metadata).langgraph_node);
        if (isRecord(message)) return readMessage({ message, node, open, calls, turn, context });
      }
      if (mode === "updates") {
        const nodes = toRecord(value);
        for (const one of list(nodes.__interrupt__)) ask(one, context);
        return [...open].flatMap(([id, node]) => (node in nodes ? endMessage(id) : []));
      }
      if (mode === "values" && isRecord(value) && !("__interrupt__" in value)) {
        await context.state.set(options.state?.(value));
      }
      return mode === "custom" ? turn.custom("langgraph", value) : [];
    },
    end: () => turn.endStep(),
  };
}

interface StreamedMessage {
  readonly message: Json;
  readonly node: string;
  /** The node that produces each message. */
  readonly open: Map<string, string>;
  /** The id of each call by message and number: later pieces lack it. */
  readonly calls: Map<string, string>;
  readonly turn: Turn;
  readonly context: RunContext;
}

function readMessage(received: StreamedMessage): BaseEvent[] {
  const { message, node, open, turn, context } = received;
  const type =
    typeof message.getType === "function" ? (message.getType() as unknown) : message.type;
  if (type === "tool") return readResult(message, turn, context);
  if (type !== "ai") return [];
  const id = asText(message.id) ?? ulid();
  open.set(id, node);
  spend(message, context);
  const blocks = typeof message.content === "string" ? [] : list(message.content);
  const text = typeof message.content === "string" ? message.content : "";
  const thinks =
    asText(toRecord(message.additional_kwargs).reasoning_content) ?? textIn(blocks, "reasoning");
  const reply = text + textIn(blocks, "text");
  return [
    ...turn.reasoning(thoughtOf(id), thinks || textIn(blocks, "thinking")),
    ...(reply === "" ? [] : turn.endReasoning(thoughtOf(id))),
    ...turn.text(id, reply),
    ...readCalls(received, id),
  ];
}

function readCalls({ message, calls, turn }: StreamedMessage, messageId: string): BaseEvent[] {
  const pieces = list(message.tool_call_chunks);
  if (pieces.length === 0) {
    return list(message.tool_calls).flatMap(({ id, name, args }) => {
      const callId = asText(id) ?? `${messageId}-${String(name)}`;
      const start = turn.startCall(callId, String(name), messageId);
      return start.length === 0 ? [] : [...start, ...turn.call(callId, "", JSON.stringify(args))];
    });
  }
  return pieces.flatMap(({ index, id, name, args }) => {
    const key = `${messageId}:${String(index)}`;
    const given = asText(id) ?? calls.get(key) ?? key;
    calls.set(key, given);
    const start = turn.startCall(given, asText(name) ?? "", messageId);
    return [...start, ...turn.args(given, asText(args) ?? "")];
  });
}

function readResult(message: Json, turn: Turn, { logger }: RunContext): BaseEvent[] {
  const { tool_call_id: callId, status, content, name } = message;
  if (typeof callId !== "string") return [];
  if (status !== "error") return turn.result(callId, content, asText(message.id));
  // It holds what was thrown.
  logger.error({ tool: name, error: content }, "A tool failed.");
  return turn.failure(callId, new AgentError("tool-error", `The tool "${String(name)}" failed.`));
}

function ask({ id, value }: Json, { emit }: RunContext): void {
  const message = typeof value === "string" ? { message: value } : {};
  const given = typeof id === "string" ? { id } : {};
  emit.interrupt({ ...given, reason: "input_required", ...message, metadata: { value } });
}

function spend({ usage_metadata, response_metadata }: Json, { emit }: RunContext): void {
  const usage = toRecord(usage_metadata);
  const input = toRecord(usage.input_token_details);
  const counts = {
    inputTokens: usage.input_tokens,
    outputTokens: usage.output_tokens,
    totalTokens: usage.total_tokens,
    reasoningTokens: toRecord(usage.output_token_details).reasoning,
    cachedInputTokens: input.cache_read,
    cacheWriteInputTokens: input.cache_creation,
  };
  const spent = toUsage(counts, toRecord(response_metadata).model_name);
  if (spent) emit.usage(spent);
}

const thoughtOf = (id: string): string => `${id}-thought`;

function textIn(blocks: readonly Json[], type: string): string {
  return blocks.map((block) => (block.type === type ? (asText(block[type]) ?? "") : "")).join("");
}

function list(value: unknown): Json[] {
  return Array.isArray(value) ? value.filter(isRecord) : [];
}
