import type { AgentEvent, Awaitable, Json } from "./agent.ts";
import type { InputFile } from "./files.ts";
import type {
  InterruptAnswer,
  ServerTool,
  ToolCallOptions,
  ToolCallOutcome,
  ToolCallRequest,
} from "./tools.ts";
import type { Interrupt, JsonPatch, Message, TextMessageRole, TokenUsage } from "@ag-ui/core";

export interface Logger {
  debug(fields: object, message?: string): void;
  info(fields: object, message?: string): void;
  warn(fields: object, message?: string): void;
  error(fields: object, message?: string): void;
}

export interface Principal {
  readonly id: string;
  readonly [claim: string]: unknown;
}

/**
 * The request as `authenticate`, middleware and `context.request` see it: a subset of `Request`, without
 * its body.
 */
export interface AgentRequest {
  readonly method: string;
  /** As the client sent it, prefix included. */
  readonly url: URL;
  readonly headers: Headers;
  readonly ip?: string | undefined;
  /** Node's request, Hono's context or the `Request` itself. */
  readonly native: unknown;
}

export interface RunSession {
  get(key: string): unknown;
  set(key: string, value: unknown): void;
  readonly metadata: Readonly<Json>;
  /** What `createSession` made for this thread. */
  readonly data: unknown;
  /** The interrupts of the last run that `input.resume` answers, as the server stored them. */
  readonly answers: readonly InterruptAnswer[];
}

/** The shared state of a run. Every change is sent: first a snapshot, then RFC 6902 deltas. */
export interface RunState {
  get<T = unknown>(): T;
  set(next: unknown): void | Promise<void>;
  /** Changes a draft in place; the state itself stays immutable. */
  update<T = Json>(change: (draft: T) => void): void | Promise<void>;
  /** All or nothing. A patch that does not apply sends a snapshot instead and throws. */
  patch(operations: JsonPatch): void | Promise<void>;
  /** Sends a snapshot explicitly. */
  resync(): void | Promise<void>;
}

export interface MessageWriter {
  readonly id: string;
  text(delta: string): void | Promise<void>;
  end(): void | Promise<void>;
}

export interface PredictStateEntry {
  readonly state_key: string;
  readonly tool: string;
  readonly tool_argument: string;
}

/**
 * Sends events of the agent, with one method per kind. A method returns a promise only while the clients
 * are behind: `await emit.text(…)` in a loop applies backpressure to the agent. After the end of the run
 * nothing is sent: methods with a value return it, and promises reject with `run-ended` in the agent that
 * awaits them, but not in a timer or listener.
 */
export interface Emit {
  /** A piece of the answer; the same as yielding the string. */
  text(delta: string): void | Promise<void>;
  /** A piece of the model's reasoning before its answer. */
  reasoning(delta: string): void | Promise<void>;
  /** A separate text message, with role and name; ended by `end()`. */
  message(options?: { id?: string; role?: TextMessageRole; name?: string }): MessageWriter;
  /** A whole tool call. Returns its id, or a promise of it when the arguments are streamed. */
  toolCall(name: string, args?: Json | string, options?: ToolCallOptions): string;
  toolCall(name: string, args: AsyncIterable<string>, options?: ToolCallOptions): Promise<string>;
  /** A string or content parts as they are; any other object as JSON. */
  toolResult(toolCallId: string, content: string | object): void | Promise<void>;
  /** Wraps `body` in STEP_STARTED and STEP_FINISHED, also when it throws. */
  step<T>(name: string, body: () => Awaitable<T>): Promise<T>;
  /** Shows or replaces an activity; give an id to update one. Returns the id. */
  activity(type: string, content: Json, options?: { id?: string; replace?: boolean }): string;
  /** Replaces the client's messages, so it starts with the history. */
  messages(messages: readonly Message[]): void | Promise<void>;
  /** Announces, before the call, which argument of which tool becomes which part of the state. */
  predictState(entries: readonly PredictStateEntry[]): void | Promise<void>;
  /** A custom event, for a frontend that knows its name. */
  custom(name: string, value: unknown): void | Promise<void>;
  /** An event from another system, passed on unchanged. */
  raw(event: unknown, source?: string): void | Promise<void>;
  /**
   * Wraps `body` in SUBAGENT_STARTED and _FINISHED (or _ERROR); events it emits carry the subagent's
   * id.
   */
  subagent<T>(
    name: string,
    body: (emit: Emit) => Awaitable<T>,
    options?: { description?: string; parentToolCallId?: string; parentMessageId?: string },
  ): Promise<T>;
  /** Asks the user. The run ends with this interrupt; the next run has the answer in `resume`. */
  interrupt(interrupt: Omit<Interrupt, "id"> & { id?: string }): string;
  /** Tokens used; sent with the end of the run. */
  usage(usage: TokenUsage): void;
  /** Any event of AG-UI; the same as yielding it. */
  event(event: AgentEvent): void | Promise<void>;
}

/**
 * What an agent receives besides its input: the caller, the means to send events, the signal to
 * stop.
 */
export interface RunContext {
  /** Aborted by disconnect, stop, timeout and shutdown; `reason` is an `AgentError`. */
  readonly signal: AbortSignal;
  readonly threadId: string;
  readonly runId: string;
  readonly agentId: string;
  /** What `authenticate` returned. */
  readonly principal: Principal | undefined;
  /** Values that outlive the run and belong to the thread, on this server. */
  readonly session: RunSession;
  readonly logger: Logger;
  readonly requestId: string;
  readonly request: AgentRequest | undefined;
  readonly files: readonly InputFile[];
  /** The handler's server tools. The client's are in `input.tools`. */
  readonly tools: readonly ServerTool[];
  /** The state that agent and frontend share. */
  readonly state: RunState;
  /** Text, reasoning, tool calls, steps and the rest, one method each. */
  readonly emit: Emit;
  /**
   * Calls a tool, and shows call and result to the client. Rejects with an `AgentError` when it fails.
   * If the request's protocol can answer client tools during the run, the call waits for the answer.
   * Otherwise such a call, like one that needs approval, rejects with `halted`: do not catch it, and
   * the run ends. The next run has the answer, and the same call returns it there.
   */
  callTool(name: string, args?: unknown): Promise<unknown>;
  /**
   * Several calls at once, within limits; never rejects because of one of them. After a `pending` one
   * the agent ends.
   */
  callTools(calls: readonly ToolCallRequest[]): Promise<readonly ToolCallOutcome[]>;
}

/** Time, so that tests can control it. */
export interface Clock {
  /**
   * Milliseconds that only go forward, for durations and deadlines of this process. Setting the clock of the machine does
   * not change them.
   */
  now(): number;
  /**
   * The date in milliseconds since 1970, for what is stored or shown. It jumps when the clock of the machine is set. By
   * default `now()`.
   */
  date?(): number;
  setTimeout(callback: () => void, ms: number): unknown;
  clearTimeout(handle: unknown): void;
}
