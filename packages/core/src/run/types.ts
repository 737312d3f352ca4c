import type { BaseEvent, Message, RunAgentInput } from "@ag-ui/core";
import type { Questions } from "../tools/client-tools.ts";
import type { ByteBudget } from "../base/byte-budget.ts";
import type { Ticker } from "../base/time/ticker.ts";
import type { RunContextInit } from "../agent/context.ts";
import type { SentHistory } from "../guard/history/history-budget.ts";
import type { RunView } from "../view/run-view.ts";
import type { LiveRun } from "./live-run.ts";
import type { RunSummary } from "../view/run-summary.ts";
import type { AgentLike, Awaitable } from "../contract/agent.ts";
import type { Clock, Logger } from "../contract/context.ts";
import type { Limits } from "../contract/limits.ts";
import type { Middleware } from "../contract/middleware.ts";
import type { Lease, RunLog } from "../contract/run-log.ts";

/** What a run does when its last follower leaves. */
export type DisconnectPolicy = "abort" | "continue" | { readonly graceMs: number };

export interface RunSettings {
  readonly limits: Limits;
  readonly clock: Clock;
  readonly ticker: Ticker;
  /** What all clients together may leave unread of large chunks. Absent: not bounded. */
  readonly unsent?: ByteBudget;
  readonly logger: Logger;
  readonly heartbeatMs: number;
  readonly onDisconnect: DisconnectPolicy;
  readonly debug: boolean;
  readonly strict: boolean;
  /** Whether the log has advice for the author of the agent. */
  readonly development?: boolean;
}

/** Stores what a run did, and is called at its end. */
export interface RunPersistence {
  /** Stores what the run did to its thread; awaited before any client receives the end. */
  save?(summary: RunSummary): Awaitable<unknown>;
  /** Stores how far the run has come, before its log is trimmed. */
  checkpoint?(fold: RunFold): Awaitable<unknown>;
  /** After the terminal event was delivered. Called once, also for a run that never began. */
  onEnd?(run: LiveRun): void;
  /** After the last client has everything, or is gone. */
  onIdle?(run: LiveRun): void;
}

export interface RunInit extends RunPersistence {
  readonly agent: AgentLike;
  readonly input: RunAgentInput;
  readonly middleware: readonly Middleware[];
  readonly context: Omit<RunContextInit, "signal" | "logger" | "clock" | "clientTools">;
  /** Sent before the agent sends anything. */
  readonly prologue?: readonly unknown[];
  /** The thread's messages, in a list that is not changed afterwards. */
  readonly history?: readonly Message[];
  /** Absent: nothing of the run is kept. */
  readonly log?: RunLease | undefined;
  /** Which ids of the run the agent may give it in RUN_STARTED. Absent: none. */
  readonly adopts?: { readonly threadId: boolean; readonly runId: boolean } | undefined;
  /** Set when the client sends the conversation with every request. Absent: it does not. */
  readonly sentHistory?: SentHistory | undefined;
  /** Set when client tools are answered while the run goes on. Absent: they are not. */
  readonly questions?: Questions | undefined;
}

/** A log, and the right to write to it. */
export interface RunLease {
  readonly runs: RunLog;
  readonly lease: Lease;
}

/** A run in the middle: everything up to an offset. */
export interface RunFold {
  readonly messages: RunView["messages"];
  readonly state: unknown;
  readonly offset: number;
  readonly open: readonly BaseEvent[];
  readonly times: RunView["times"];
}
