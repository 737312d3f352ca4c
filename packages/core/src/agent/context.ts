import type { RunAgentInput } from "@ag-ui/core";
import { handOut } from "./calls/begun-calls.ts";
import { ContextSession } from "./context-session.ts";
import type { RequestSource, RunContextInit, RunMode } from "./context-types.ts";
import { ulid } from "../base/ids.ts";
import { GivenSignal, LazyAbortController } from "../base/lazy-abort-controller.ts";
import type { Stopping } from "../base/lazy-abort-controller.ts";
import { silentLogger } from "../base/logger.ts";
import { nameCall } from "./calls/late-calls.ts";
import { splitTools } from "../tools/definitions.ts";
import { ToolCalls } from "../tools/calls.ts";
import { RunTools } from "../tools/run-tools.ts";
import type { AgentOutput } from "./output.ts";
import type { Json } from "../contract/agent.ts";
import type {
  AgentRequest,
  Emit,
  Logger,
  Principal,
  RunContext,
  RunSession,
  RunState,
} from "../contract/context.ts";
import type { InputFile } from "../contract/files.ts";
import type { ServerTool, ToolCallRequest } from "../contract/tools.ts";

export type { RunContextInit, RunMode } from "./context-types.ts";

/** What a context carries that is not for agents. */
interface Inside {
  readonly mode: RunMode;
  readonly stopping: Stopping;
  /** For the tools that are called: stops with the run, or when their agent is left. */
  readonly calling: Stopping;
  /** Only where the mode has none. */
  readonly desk: RunTools | undefined;
  /** What the server declares of the client's tools. */
  readonly declared: readonly ServerTool[];
  readonly request: RequestSource | undefined;
  /** Absent outside a run, as the output is. */
  readonly input: RunAgentInput | undefined;
  readonly output: AgentOutput | undefined;
  calls: ToolCalls | undefined;
}

const inside: unique symbol = Symbol("inside");
const freeMode: RunMode = { ready: () => undefined, strict: false };
const noFiles: readonly InputFile[] = Object.freeze([]);
const noTools: readonly ServerTool[] = Object.freeze([]);

/** The run that a context is made for. */
interface ContextOwner {
  readonly mode: RunMode;
  readonly logger: Logger;
  readonly output: AgentOutput;
  /** Stops the run. Its signal is made when it is first read. */
  readonly stopping: Stopping;
}

/** Without an owner `emit` and `state` throw until `bindContext` gives the context an output. */
export function createRunContext(init: RunContextInit, owner?: ContextOwner): RunContext {
  const { mode = freeMode, output, stopping = stoppingOf(init) } = owner ?? {};
  const { logger = silentLogger } = owner ?? init;
  const { threadId, runId, agentId = "default", principal, request } = init;
  const { requestId = runId, files = noFiles } = init;
  const session = new ContextSession(init, stopping, mode);
  const { server: tools, client: declared } = toolsOf(init);
  const desk = mode.desk ? undefined : new RunTools(init, session.answers);
  const input = output?.input;
  return new Context(
    { threadId, runId, agentId, principal, session, logger, requestId, files, tools },
    { mode, stopping, calling: stopping, desk, declared, request, input, output, calls: undefined },
  );
}

/** Whether some of the tools that the server declares run in the client. Most servers have none. */
export function hasClientTools(tools: readonly ServerTool[]): boolean {
  for (const { location } of tools) if (location === "client") return true;
  return false;
}

// A separate list for each run: the handler's is not to be changed.
function toolsOf({ tools = noTools }: RunContextInit): ReturnType<typeof splitTools> {
  if (hasClientTools(tools)) return splitTools(tools);
  return { server: tools.length > 0 ? tools.slice() : noTools, client: noTools };
}

function stoppingOf({ signal }: RunContextInit): Stopping {
  return signal ? new GivenSignal(signal) : new LazyAbortController();
}

type ContextParts = Omit<
  RunContext,
  "signal" | "request" | "emit" | "state" | "callTool" | "callTools"
>;

/**
 * A class with internals under a symbol. Object literals with getters get a unique hidden class, and
 * WeakMap values survive minor collections; both would keep a run and everything it created alive
 * until the next full collection.
 */
class Context implements RunContext {
  readonly threadId: string;
  readonly runId: string;
  readonly agentId: string;
  readonly principal: Principal | undefined;
  readonly session: RunSession;
  readonly logger: Logger;
  readonly requestId: string;
  readonly files: readonly InputFile[];
  readonly tools: readonly ServerTool[];
  readonly [inside]: Inside;

  constructor(parts: ContextParts, own: Inside, tools = parts.tools) {
    this.threadId = parts.threadId;
    this.runId = parts.runId;
    this.agentId = parts.agentId;
    this.principal = parts.principal;
    this.session = parts.session;
    this.logger = parts.logger;
    this.requestId = parts.requestId;
    this.files = parts.files;
    this.tools = tools;
    this[inside] = own;
  }

  get signal(): AbortSignal {
    return this[inside].stopping.signal;
  }

  get request(): AgentRequest | undefined {
    const { request } = this[inside];
    return typeof request === "function" ? request() : request?.request;
  }

  get emit(): Emit {
    const { output } = this[inside];
    if (!output) throw unbound();
    return output.emit;
  }

  get state(): RunState {
    const { output } = this[inside];
    if (!output) throw unbound();
    return output.state;
  }

  // Getters, so that a method can be called after it was taken from its context.
  get callTool(): RunContext["callTool"] {
    return (name, args) =>
      startCall(this, nameCall("callTool", name), (calls) => calls.callTool(name, args));
  }

  get callTools(): RunContext["callTools"] {
    return (list) => startCall(this, nameCalls(list), (calls) => calls.callTools(list));
  }
}

/** The same context, speaking with another output. `calling` stops the tools that are called with it. */
export function bindContext(
  context: RunContext,
  output: AgentOutput,
  calling: Stopping,
): RunContext {
  const { mode, desk, declared, request, stopping: outer } = insideOf(context);
  const { input } = output;
  // A run stops with a reason; outside of one there is only the subscription.
  const stopping = desk ? calling : outer;
  return derive(
    context,
    { mode, stopping, calling, desk, declared, request, input, output, calls: undefined },
    context.tools,
  );
}

/** The same context for an agent that has other tools, and is given them in another input. */
export function withToolsOf(
  context: RunContext,
  { tools, declared, input }: { tools: readonly ServerTool[] } & Pick<Inside, "declared" | "input">,
): RunContext {
  return derive(context, { ...insideOf(context), declared, input, calls: undefined }, tools);
}

/** What the server declares of the client's tools. */
export function declaredIn(context: RunContext): readonly ServerTool[] {
  return insideOf(context).declared;
}

function derive(context: RunContext, own: Inside, tools: readonly ServerTool[]): RunContext {
  // A copy, not an heir: whatever becomes a prototype is held by a shape, for as long as shapes live.
  if (Object.getPrototypeOf(context) === Context.prototype) return new Context(context, own, tools);
  // Middleware wrapped the context in an object whose members the agent must see.
  const base = context instanceof Context ? context : withPrototype(context);
  const derived = Object.create(base) as RunContext & { [inside]: Inside };
  derived[inside] = own;
  if (tools !== context.tools) {
    Object.defineProperty(derived, "tools", { value: tools, enumerable: true });
  }
  return derived;
}

// A hand-made context has the members, but not the internals behind them.
function withPrototype(context: RunContext): RunContext {
  return Object.create(Context.prototype, Object.getOwnPropertyDescriptors(context)) as RunContext;
}

/** What calls the tools of a context. */
export function toolCallsOf(context: RunContext): ToolCalls {
  const own = insideOf(context);
  const { input, declared } = own;
  return (own.calls ??= new ToolCalls(forCalls(context, own), {
    desk: deskIn(own),
    input,
    declared,
    output: own.output,
  }));
}

function forCalls(context: RunContext, { calling, stopping }: Inside): RunContext {
  if (calling === stopping) return context;
  return Object.create(context, { signal: { value: calling.signal } }) as RunContext;
}

// Async, so that nothing is thrown synchronously at an author who does not await.
function startCall<T>(
  context: RunContext,
  name: string,
  work: (calls: ToolCalls) => Promise<T>,
): Promise<T> {
  const { output } = insideOf(context);
  if (output?.isLate()) return output.suspend(name);
  const begin = async (): Promise<T> => work(toolCallsOf(context));
  return output ? output.begin(name, begin(), "tool") : handOut(begin());
}

function nameCalls(list: readonly ToolCallRequest[]): string {
  const names = Array.isArray(list)
    ? list.map((call?: Partial<ToolCallRequest>) => call?.name)
    : [];
  return nameCall("callTools", ...names.slice(0, 5));
}

/** Starts a run for the server, which sends something before the agent does. */
export function openRun(context: RunContext): void {
  insideOf(context).output?.open();
}

function insideOf(context: RunContext): Inside {
  // Middleware may have wrapped the context: what it did not override is inherited.
  const own = (context as { [inside]?: Inside })[inside];
  return own ?? (standaloneContext(context) as unknown as { [inside]: Inside })[inside];
}

export function modeOf(context: RunContext): RunMode {
  return insideOf(context).mode;
}

/** Whether a client tool is answered during the run. Then core sends the call itself. */
export function waitsForClient(context: RunContext): boolean {
  return deskOf(context).clientTools !== undefined;
}

/** What the tools of a run share: what was asked in it, and what is to be tidied up. */
export function deskOf(context: RunContext): RunTools {
  return deskIn(insideOf(context));
}

function deskIn({ desk, mode }: Inside): RunTools {
  return desk ?? mode.desk!();
}

/** What a run has changed in the metadata of its session. Only of a context that was made here. */
export function changesOf(context: RunContext): Readonly<Json> {
  return (context.session as ContextSession).changes;
}

/** A context for an agent that runs outside any handler. */
export function standaloneContext(input: { threadId?: string; runId?: string }): RunContext {
  return createRunContext({
    threadId: input.threadId ?? ulid(),
    runId: input.runId ?? ulid(),
  });
}

function unbound(): Error {
  return new Error("This context is not connected to a run yet; use the one handed to the agent.");
}
