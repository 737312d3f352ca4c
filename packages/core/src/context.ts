import type { Interrupt, RunAgentInput, TokenUsage } from "@ag-ui/core";
import type { ClientTools } from "./client-tools.ts";
import { systemClock } from "./clock.ts";
import { createEmit } from "./emit.ts";
import { AgentError } from "./errors.ts";
import type { RunEnding } from "./guard.ts";
import { ulid } from "./ids.ts";
import { defaultLimits } from "./limits.ts";
import { silentLogger } from "./logger.ts";
import { createStateTracker } from "./state.ts";
import type { StateTracker } from "./state.ts";
import { createRunState } from "./state-writer.ts";
import { settleTools, splitTools } from "./server-tools.ts";
import { createToolCalls } from "./tool-calls.ts";
import type { ToolCalls, ToolDesk } from "./tool-calls.ts";
import { createDisposers } from "./tool-disposers.ts";
import type {
  AgentRequest,
  Clock,
  Emit,
  InputFile,
  InterruptAnswer,
  Json,
  Logger,
  Principal,
  RunContext,
  RunSession,
  RunState,
  ServerTool,
  ToolCallRequest,
  ToolContext,
} from "./types.ts";

/** What a run knows before its agent starts. */
export interface RunContextInit {
  readonly threadId: string;
  readonly runId: string;
  readonly agentId?: string;
  readonly signal?: AbortSignal;
  readonly principal?: Principal | undefined;
  readonly requestId?: string;
  /** Asked for on first use: building it costs more than most runs need. */
  readonly request?: (() => AgentRequest) | undefined;
  readonly logger?: Logger;
  readonly files?: readonly InputFile[];
  readonly tools?: readonly ServerTool[];
  readonly toolTimeoutMs?: number;
  /** Absent: tools of the client's cannot be called while the run goes on. */
  readonly clientTools?: ClientTools | undefined;
  readonly clock?: Clock;
  /** The session's metadata; `session.set` writes into `changed`. */
  readonly metadata?: Readonly<Json>;
  readonly changed?: Json;
  /** What `createSession` made for the thread. */
  readonly data?: unknown;
  /** What the server asked in the last run, with the answers of this one. Never what a client claims. */
  readonly answers?: readonly InterruptAnswer[];
}

/** The far end of `context.emit`: where its events go, and what the guard in front of them knows. */
export interface Outlet {
  push(value: unknown): void | Promise<void>;
  readonly state: StateTracker;
  readonly ending: RunEnding;
  /** What the agent is given. */
  readonly input: RunAgentInput;
}

/** Pace and mode of the run a context belongs to, for whoever pumps an agent inside it. */
export interface RunMode {
  ready(): Promise<void> | undefined;
  readonly strict: boolean;
  /** True while the agent's abort listeners are called. */
  readonly aborting?: () => boolean;
}

/** What a context carries that is not for agents. */
interface Inside {
  readonly mode: RunMode;
  readonly desk: ToolDesk;
  /** What the server declares of the client's tools. */
  readonly declared: readonly ServerTool[];
  readonly input: RunAgentInput | undefined;
}

const insides = new WeakMap<RunContext, Inside>();
const freeMode: RunMode = { ready: () => undefined, strict: false };

/** A context without an outlet: `emit` and `state` throw until `bindContext` gives it one. */
export function createRunContext(init: RunContextInit, mode: RunMode = freeMode): RunContext {
  const { threadId, runId, metadata = {}, changed = {} } = init;
  const session: RunSession = {
    get: (key) => (Object.hasOwn(changed, key) ? changed[key] : ownOf(metadata, key)),
    set(key, value) {
      if (signal.aborted) {
        if (mode.aborting?.()) return;
        throw ended(runId);
      }
      // By definition, since a key may be `__proto__`.
      Object.defineProperty(changed, key, { value, ...ordinary });
    },
    get metadata() {
      return { ...metadata, ...changed };
    },
    data: init.data,
    answers: init.answers ?? [],
  };
  const signal = init.signal ?? new AbortController().signal;
  const logger = init.logger ?? silentLogger;
  const { server, client } = splitTools(init.tools ?? []);
  const context: RunContext = {
    signal,
    threadId,
    runId,
    agentId: init.agentId ?? "default",
    principal: init.principal,
    session,
    logger,
    requestId: init.requestId ?? runId,
    get request() {
      return init.request?.();
    },
    files: init.files ?? [],
    tools: server,
    get state(): RunState {
      throw unbound();
    },
    get emit(): Emit {
      throw unbound();
    },
    callTool: () => Promise.reject(unbound()),
    callTools: () => Promise.reject(unbound()),
  };
  const desk: ToolDesk = {
    timeoutMs: init.toolTimeoutMs ?? defaultLimits.toolTimeoutMs,
    clock: init.clock ?? systemClock,
    answers: session.answers,
    used: new Set(),
    asked: new Map(),
    disposers: createDisposers(logger),
    clientTools: init.clientTools,
  };
  insides.set(context, { mode, desk, declared: client, input: undefined });
  return context;
}

const ordinary = { enumerable: true, configurable: true, writable: true };

function ownOf(record: Readonly<Json>, key: string): unknown {
  return Object.hasOwn(record, key) ? record[key] : undefined;
}

/** The same context, speaking into another outlet. Its parts are made on first use. */
export function bindContext(context: RunContext, outlet: Outlet): RunContext {
  let emit: Emit | undefined;
  let state: RunState | undefined;
  const bound: RunContext = Object.create(context, {
    emit: { get: () => (emit ??= createEmit(outlet)), enumerable: true },
    state: {
      get: () => (state ??= createRunState({ tracker: outlet.state, push: outlet.push })),
      enumerable: true,
    },
    ...toolMethods(() => bound),
  });
  insides.set(bound, { ...insideOf(context), input: outlet.input });
  return bound;
}

/**
 * The input and context of an agent that brings tools of its own; they stand before the handler's.
 *
 * @example
 * ```ts
 * const own = withTools(input, context, [weather]);
 * await own.context.callTool("weather", { city: "Bern" });
 * ```
 */
export function withTools(
  input: RunAgentInput,
  context: RunContext,
  tools: readonly ServerTool[],
): { input: RunAgentInput; context: RunContext } {
  const { server, client } = splitTools(tools);
  const names = new Set(tools.map(({ name }) => name));
  const isOthers = ({ name }: ServerTool): boolean => !names.has(name);
  const inside = insideOf(context);
  const settled = settleTools(input, { runId: context.runId, tools, logger: context.logger });
  const own: RunContext = Object.create(context, {
    tools: { value: [...server, ...context.tools.filter(isOthers)], enumerable: true },
    ...toolMethods(() => own),
  });
  const declared = [...client, ...inside.declared.filter(isOthers)];
  insides.set(own, { ...inside, declared, input: settled });
  return { input: settled, context: own };
}

function toolMethods(self: () => RunContext): PropertyDescriptorMap {
  let calls: ToolCalls | undefined;
  const toolCalls = (): ToolCalls => {
    const context = self();
    const inside = insideOf(context);
    const forCall = (signal: AbortSignal, toolCallId: string): ToolContext => {
      const members = { signal: { value: signal }, toolCallId: { value: toolCallId } };
      const own: ToolContext = Object.create(context, members);
      insides.set(own, inside);
      return own;
    };
    return (calls ??= createToolCalls(context, { ...inside, forCall }));
  };
  return {
    callTool: { value: (name: string, args?: unknown) => toolCalls().callTool(name, args) },
    callTools: { value: (list: readonly ToolCallRequest[]) => toolCalls().callTools(list) },
  };
}

function insideOf(context: RunContext): Inside {
  // Middleware may have put a context of its own in front: what it did not change, it inherits.
  for (let one: RunContext | null = context; one; one = Object.getPrototypeOf(one) as typeof one) {
    const inside = insides.get(one);
    if (inside) return inside;
  }
  return insides.get(standaloneContext(context))!;
}

export function modeOf(context: RunContext): RunMode {
  return insideOf(context).mode;
}

/** Whether a call of a client's tool is answered while the run goes on. Then core tells it by itself. */
export function waitsForClient(context: RunContext): boolean {
  return insideOf(context).desk.clientTools !== undefined;
}

/** What the tools of a run share: what was asked in it, and what is to be tidied up. */
export function deskOf(context: RunContext): ToolDesk {
  return insideOf(context).desk;
}

/** A context for an agent that runs outside any handler. */
export function standaloneContext(input: { threadId?: string; runId?: string }): RunContext {
  return createRunContext({
    threadId: input.threadId ?? ulid(),
    runId: input.runId ?? ulid(),
  });
}

function createEnding(): RunEnding {
  return { interrupts: [] as Interrupt[], usage: [] as TokenUsage[] };
}

export function createOutlet(input: RunAgentInput): Omit<Outlet, "push"> {
  return { state: createStateTracker(input.state), ending: createEnding(), input };
}

export function ended(runId: string): AgentError {
  return new AgentError("run-ended", `Run "${runId}" has ended; nothing more can be said in it.`);
}

function unbound(): Error {
  return new Error("This context is not connected to a run yet; use the one handed to the agent.");
}
