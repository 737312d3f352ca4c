import type { Awaitable } from "./agent.ts";
import type { RunContext } from "./context.ts";
import type { AgentError } from "./errors.ts";
import type { Interrupt, Tool } from "@ag-ui/core";

/**
 * What a tool receives besides its arguments. Its `signal` is also aborted at the tool's timeout.
 */
export interface ToolContext extends RunContext {
  readonly toolCallId: string;
}

/** A tool of the server. Definitions carry their own `invoke`, so that core needs no tool package. */
export interface ServerTool extends Tool {
  /** Where it runs. A client tool is only declared here and never invoked. By default `server`. */
  readonly location?: "server" | "client";
  /** By default `limits.toolTimeoutMs`. */
  readonly timeoutMs?: number;
  /** Whether a user has to approve the call first. */
  readonly needsApproval?: boolean | ((args: unknown, context: RunContext) => Awaitable<boolean>);
  /**
   * Returns the arguments as `invoke` takes them. Throws an `AgentError` when they are not valid.
   */
  parse?(args: unknown): Awaitable<unknown>;
  invoke(args: unknown, context: ToolContext): Awaitable<unknown>;
}

/** A question of an earlier run and its answer, both verified by the server. */
export interface InterruptAnswer {
  readonly interrupt: Interrupt;
  readonly status: "resolved" | "cancelled";
  readonly payload?: unknown;
  /** The call that waits for approval, as the server asked about it. */
  readonly call?: AskedCall;
}

/** A tool call that a user was asked about. */
export interface AskedCall {
  readonly id: string;
  readonly name: string;
  readonly args: unknown;
  /** Set when the tool belongs to the agent: then the agent makes the call, once it is approved. */
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
  /** Of a call that the client has already received: its START, ARGS and END are not sent again. */
  readonly id?: string;
  /** The message that the call is a part of. */
  readonly parentMessageId?: string;
}

/** The outcome of a call: a result, an error, or waiting for the client or a user. */
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
