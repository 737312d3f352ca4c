import type { Interrupt, TokenUsage } from "@ag-ui/core";
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
import { createToolCalls } from "./tool-calls.ts";
import type { ToolCalls } from "./tool-calls.ts";
import type {
  AgentRequest,
  Clock,
  Emit,
  InputFile,
  Json,
  Logger,
  Principal,
  RunContext,
  RunSession,
  RunState,
  ServerTool,
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
}

/** The far end of `context.emit`: where its events go, and what the guard in front of them knows. */
export interface Outlet {
  push(value: unknown): void | Promise<void>;
  readonly state: StateTracker;
  readonly ending: RunEnding;
}

/** Pace and mode of the run a context belongs to, for whoever pumps an agent inside it. */
export interface RunMode {
  ready(): Promise<void> | undefined;
  readonly strict: boolean;
  /** True while the agent's abort listeners are called. */
  readonly aborting?: () => boolean;
}

const modes = new WeakMap<RunContext, RunMode>();
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
  };
  const signal = init.signal ?? new AbortController().signal;
  const context: RunContext = {
    signal,
    threadId,
    runId,
    agentId: init.agentId ?? "default",
    principal: init.principal,
    session,
    logger: init.logger ?? silentLogger,
    requestId: init.requestId ?? runId,
    get request() {
      return init.request?.();
    },
    files: init.files ?? [],
    tools: init.tools ?? [],
    get state(): RunState {
      throw unbound();
    },
    get emit(): Emit {
      throw unbound();
    },
    callTool: () => Promise.reject(unbound()),
    callTools: () => Promise.reject(unbound()),
  };
  toolSettings.set(context, {
    timeoutMs: init.toolTimeoutMs ?? defaultLimits.toolTimeoutMs,
    clock: init.clock ?? systemClock,
    clientTools: init.clientTools,
  });
  modes.set(context, mode);
  return context;
}

const ordinary = { enumerable: true, configurable: true, writable: true };

function ownOf(record: Readonly<Json>, key: string): unknown {
  return Object.hasOwn(record, key) ? record[key] : undefined;
}

const toolSettings = new WeakMap<RunContext, Parameters<typeof createToolCalls>[1]>();

const freeTools = { timeoutMs: defaultLimits.toolTimeoutMs, clock: systemClock };

/** The same context, speaking into another outlet. Its parts are made on first use. */
export function bindContext(context: RunContext, outlet: Outlet): RunContext {
  let emit: Emit | undefined;
  let state: RunState | undefined;
  let calls: ToolCalls | undefined;
  const settings = toolSettings.get(context);
  const toolCalls = (): ToolCalls => (calls ??= createToolCalls(bound, settings ?? freeTools));
  const bound: RunContext = Object.create(context, {
    emit: { get: () => (emit ??= createEmit(outlet)), enumerable: true },
    state: {
      get: () => (state ??= createRunState({ tracker: outlet.state, push: outlet.push })),
      enumerable: true,
    },
    callTool: { value: (name: string, args: unknown) => toolCalls().callTool(name, args) },
    callTools: {
      value: (list: readonly { name: string; args: unknown }[]) => toolCalls().callTools(list),
    },
  });
  modes.set(bound, modeOf(context));
  if (settings) toolSettings.set(bound, settings);
  return bound;
}

export function modeOf(context: RunContext): RunMode {
  return modes.get(context) ?? freeMode;
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

export function createOutlet(initialState: unknown): Omit<Outlet, "push"> {
  return { state: createStateTracker(initialState), ending: createEnding() };
}

export function ended(runId: string): AgentError {
  return new AgentError("run-ended", `Run "${runId}" has ended; nothing more can be said in it.`);
}

function unbound(): Error {
  return new Error("This context is not connected to a run yet; use the one handed to the agent.");
}
