import type { Awaitable } from "./agent.ts";
import type { RunContext } from "./context.ts";
import type { AgentError } from "./errors.ts";
import type { Interrupt, Tool } from "@ag-ui/core";

/** What a tool is given besides its arguments. Its `signal` is also aborted when its time is up. */
export interface ToolContext extends RunContext {
  readonly toolCallId: string;
}

/** A tool that the server knows. Definitions carry their own `invoke`, so that core needs no tool package. */
export interface ServerTool extends Tool {
  /** Where it runs. What the client runs is only declared here, and never invoked. By default `server`. */
  readonly location?: "server" | "client";
  /** By default `limits.toolTimeoutMs`. */
  readonly timeoutMs?: number;
  /** Whether a person has to allow the call first. */
  readonly needsApproval?: boolean | ((args: unknown, context: RunContext) => Awaitable<boolean>);
  /** The arguments as `invoke` takes them. Throws an `AgentError` when they are wrong. */
  parse?(args: unknown): Awaitable<unknown>;
  invoke(args: unknown, context: ToolContext): Awaitable<unknown>;
}

/** A question of an earlier run and the answer to it, both vouched for by the server. */
export interface InterruptAnswer {
  readonly interrupt: Interrupt;
  readonly status: "resolved" | "cancelled";
  readonly payload?: unknown;
  /** The call that waits for approval, as the server asked about it. */
  readonly call?: AskedCall;
}

/** A tool call that a person was asked about. */
export interface AskedCall {
  readonly id: string;
  readonly name: string;
  readonly args: unknown;
  /** Set when the agent brought the tool: then the agent makes the call, once it is allowed. */
  readonly owner?: "agent";
}

/** A call whose approval or denial a run has accepted. It is stored before the call is made. */
export interface TakenCall extends AskedCall {
  readonly isApproved: boolean;
}

export interface ToolCallOptions {
  id?: string;
  parentMessageId?: string;
}

/** One call of `context.callTools`. */
export interface ToolCallRequest {
  readonly name: string;
  readonly args: unknown;
  /** Of a call that the client has been told of: its START, ARGS and END are not sent again. */
  readonly id?: string;
  /** The message that the call is a part of. */
  readonly parentMessageId?: string;
}

/** How a call went: it has a result, an error, or waits for the client or for a person. */
export type ToolCallOutcome = {
  readonly id: string;
  readonly name: string;
  readonly args: unknown;
  /** How long it took. */
  readonly ms: number;
} & (
  | { readonly status: "done"; readonly result: unknown; readonly error?: undefined }
  | { readonly status: "failed"; readonly error: AgentError; readonly result?: undefined }
  | { readonly status: "pending"; readonly result?: undefined; readonly error?: undefined }
);
