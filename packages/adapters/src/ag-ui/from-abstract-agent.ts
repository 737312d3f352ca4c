import {
  assertOptions,
  commonVersion,
  describeValue,
  isReturned,
} from "@holodeck/agui-core/internal";
import type {
  AgentEvent,
  AgentObject,
  Awaitable,
  RunAgentInput,
  RunContext,
  Subscribable,
} from "@holodeck/agui-core";

/** As much of an `AbstractAgent` of `@ag-ui/client` as is needed here; those of 0.0.59 and of 1.0 fit. */
export interface AguiAgent {
  // `never`, because each version of the client has its own types for the same input.
  run(input: never): Subscribable<unknown>;
  readonly agentId?: string | undefined;
  readonly description?: string | undefined;
  /** Part of discovery. */
  getCapabilities?(): Awaitable<unknown>;
  clone?(): unknown;
  abortRun?(): void;
}

/** Creates the agent of one run, for example with headers for the calling user. */
export type AguiAgentFactory = (input: RunAgentInput, context: RunContext) => Awaitable<AguiAgent>;

export interface FromAbstractAgentOptions {
  /** Names of the tools that run behind the agent: no result of theirs is taken from a client. */
  readonly serverTools?: readonly string[];
}

const known = ["serverTools"];

/**
 * An agent of `@ag-ui/client`, including `HttpAgent`, which makes the handler a gateway: an AG-UI server in
 * any language, served on every protocol. Each run gets a copy of the agent, with its thread, history and
 * state, its middleware (`agent.use`), and its own lifetime; a function creates one for each run instead.
 *
 * @example
 * ```ts
 * createAgentHandler(fromAbstractAgent(new HttpAgent({ url: "http://10.0.0.7:8000/agui" })));
 * ```
 */
export function fromAbstractAgent(
  agent: AguiAgent | AguiAgentFactory,
  options: FromAbstractAgentOptions = {},
): AgentObject {
  assertOptions("fromAbstractAgent", options, known);
  const { serverTools = [] } = options;
  if (typeof agent === "function") {
    return {
      serverTools,
      run: async (input, context) => runOnce(await agent(input, context), input, context),
    };
  }
  assertAguiAgent(agent);
  const { agentId, description } = agent;
  return {
    serverTools,
    ...(agentId === undefined ? {} : { name: agentId }),
    ...(description ? { description } : {}),
    ...(agent.getCapabilities ? { getCapabilities: () => agent.getCapabilities!() } : {}),
    run: (input, context) => runOnce(copyOf(agent), input, context),
  };
}

/** A copy that a run may write on. */
interface OwnAgent extends AguiAgent {
  abortController?: AbortController;
  threadId?: string;
  messages?: unknown;
  state?: unknown;
  readonly middlewares?: unknown;
  readonly maxProtocolVersion?: unknown;
}

interface Link {
  run(input: RunAgentInput): Subscribable<AgentEvent>;
}

type AguiMiddleware = { run(input: RunAgentInput, next: Link): Subscribable<AgentEvent> };

function runOnce(
  made: AguiAgent,
  input: RunAgentInput,
  { signal }: RunContext,
): Subscribable<AgentEvent> {
  assertAguiAgent(made);
  const agent: OwnAgent = made;
  // The version of the client that asked is not that of this agent: one of 0.0.59 rejects what 1.0 may contain.
  const { protocolVersion: _, ...rest } = input;
  const asked = { ...rest, ...versionOf(agent), messages: input.messages.filter(isSent) };
  const { threadId, messages, state } = asked;
  Object.assign(agent, { threadId, messages, state });
  if ("abortController" in agent) agent.abortController = new AbortController();
  // Unsubscribing alone leaves an HttpAgent fetching.
  signal.addEventListener("abort", () => agent.abortRun?.(), { once: true });
  return chainOf(agent).run(asked);
}

// Without a version, a server assumes an old client and leaves out what those cannot read.
function versionOf({ maxProtocolVersion }: OwnAgent): { protocolVersion?: string } {
  const isNew =
    typeof maxProtocolVersion === "string" && Number.parseFloat(maxProtocolVersion) >= 1;
  return isNew ? { protocolVersion: commonVersion(maxProtocolVersion) } : {};
}

// Activities are for people to see; the client does not send them either.
function isSent({ role }: RunAgentInput["messages"][number]): boolean {
  return role !== "activity";
}

// Only the client's `runAgent` runs the middleware given to `agent.use`, but it also keeps messages,
// throws for what our guard repairs, and reports events only after it has applied them.
function chainOf(agent: OwnAgent): Link {
  const { middlewares = [] } = agent;
  const all = Array.isArray(middlewares) ? (middlewares as AguiMiddleware[]) : [];
  const last = agent as unknown as Link;
  return all.reduceRight<Link>((next, middleware) => {
    const { messages, state } = agent;
    const link = { messages, state, run: (input: RunAgentInput) => next.run(input) };
    return { run: (input) => middleware.run(input, link) };
  }, last);
}

function copyOf(agent: AguiAgent): AguiAgent {
  const copy = agent.clone?.();
  if (typeof copy !== "object" || copy === null) return agent;
  // The client's own `clone` knows only its own members, not those of a class that extends it.
  for (const [name, value] of Object.entries(agent)) {
    if (!(name in copy)) Object.assign(copy, { [name]: value as unknown });
  }
  return copy as AguiAgent;
}

function assertAguiAgent(agent: unknown): asserts agent is AguiAgent {
  const isAgent = typeof (agent as { run?: unknown } | null | undefined)?.run === "function";
  if (isAgent) return;
  const hint = isReturned(agent) ? " Pass the agent itself, not what its run returns." : "";
  throw new TypeError(
    `fromAbstractAgent takes an agent of @ag-ui/client or a function that makes one, ` +
      `not ${describeValue(agent)}.${hint}`,
  );
}
