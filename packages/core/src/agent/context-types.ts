import type { CallOrigins } from "../guard/calls/earlier-calls.ts";
import type { BegunParts } from "../guard/parts/begun-parts.ts";
import type { ClientTools } from "../tools/client-tools.ts";
import type { RunTools } from "../tools/run-tools.ts";
import type { Json } from "../contract/agent.ts";
import type { AgentRequest, Clock, Logger, Principal } from "../contract/context.ts";
import type { InputFile } from "../contract/files.ts";
import type { InterruptAnswer, ServerTool, TakenCall } from "../contract/tools.ts";

/** How to get the request of a run; an object that has it needs no extra function. */
export type RequestSource = (() => AgentRequest) | { readonly request: AgentRequest };

/** What a run knows before its agent starts. */
export interface RunContextInit {
  readonly threadId: string;
  readonly runId: string;
  readonly agentId?: string;
  readonly signal?: AbortSignal | undefined;
  readonly principal?: Principal | undefined;
  readonly requestId?: string;
  /** Asked for on first use: building it costs more than most runs need. */
  readonly request?: RequestSource | undefined;
  readonly logger?: Logger;
  readonly files?: readonly InputFile[];
  readonly tools?: readonly ServerTool[];
  readonly toolTimeoutMs?: number;
  /** Absent: tools of the client's cannot be called while the run goes on. */
  readonly clientTools?: ClientTools | undefined;
  readonly clock?: Clock;
  /** The session's metadata. */
  readonly metadata?: Readonly<Json>;
  /** What `createSession` made for the thread. */
  readonly data?: unknown;
  /** What the server asked in the last run, with the answers of this one. Never what a client claims. */
  readonly answers?: readonly InterruptAnswer[];
  /** Calls of an earlier run whose process ended before they had a result. */
  readonly lost?: readonly TakenCall[] | undefined;
  /** Ids of the calls in the input that only the client vouches for. */
  readonly claimed?: readonly string[] | undefined;
}

/** Pace and mode of the run a context belongs to, for code that pumps an agent inside it. */
export interface RunMode extends Partial<CallOrigins> {
  ready(): Promise<void> | undefined;
  readonly strict: boolean;
  /** True while the agent's abort listeners are called. */
  aborting?(): boolean;
  /** True once the terminal event was accepted. */
  readonly ended?: boolean;
  /** Logs the first call that comes after the end of the run. */
  reportLate?(call: string): void;
  /** Takes advice to who wrote the agent. */
  advise?(advice: string): void;
  /** What the tools of the run share, made when it is asked for. */
  desk?(): RunTools;
  /** Ids of the calls in the input that only the client vouches for. */
  readonly claimed?: ReadonlySet<string> | undefined;
  /** Takes note of tools that run on the server besides the handler's. */
  knowTools?(names: readonly string[]): void;
  /** Where the agent's own guard takes down what it begins. Absent: no guard follows. */
  readonly begun?: BegunParts | undefined;
}
