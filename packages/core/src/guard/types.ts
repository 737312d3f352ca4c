import type { BaseEvent } from "@ag-ui/core";
import type { CallOrigins } from "./calls/earlier-calls.ts";
import type { RunEnding } from "./ending.ts";
import type { HistoryBudget } from "./history/history-budget.ts";
import type { BegunParts } from "./parts/begun-parts.ts";
import type { RepairKind } from "./repairs.ts";
import type { StateTracker } from "./state-tracker.ts";

export interface GuardOptions {
  readonly threadId: string;
  readonly runId: string;
  /** The run this one goes on from, sent with the start. */
  readonly parentRunId?: string | undefined;
  /**
   * Receives the valid run, event by event, synchronously. A delta has its part, its text and nothing else. `size`
   * is given where the event was measured (`sizeOfEvent`). `ended` is true before the terminal event is emitted.
   */
  readonly emit: (event: BaseEvent, isDelta?: boolean, size?: number) => void;
  /** Follows the state events that pass. */
  readonly state: StateTracker;
  readonly ending: RunEnding;
  /** Absent: every call without a result is for the client. */
  readonly calls?: CallOrigins | undefined;
  /** The first repair ends the run with RUN_ERROR `protocol-violation`. */
  readonly strict?: boolean;
  /** The ids that the agent gives its run in RUN_STARTED, in place of these. By default they are replaced. */
  readonly adopts?: { readonly threadId: boolean; readonly runId: boolean } | undefined;
  /** Takes down what the agent begins, for the guard behind the middleware. */
  readonly begins?: BegunParts | undefined;
  /** What the agent began before the middleware: what that took out is not started again. */
  readonly begun?: BegunParts | undefined;
  /** What a client can send back; more than that ends the run with RUN_ERROR. */
  readonly budget?: HistoryBudget | undefined;
}

export interface Guard {
  /** Starts the run for the server, which sends something before its agent does. */
  open(): void;
  /** An event, a string (text) or any other value. Never throws. */
  push(value: unknown): void;
  /** The agent is done: closes what is open and adds RUN_FINISHED unless a terminal event was sent. */
  complete(): void;
  /** Closes what is open and ends with RUN_ERROR. */
  fail(error: { message: string; code: string }): void;
  /** Closes what is open and ends with RUN_FINISHED, outcome `cancelled`. */
  cancel(): void;
  /** Whether the terminal event is emitted; true during that call, too. */
  readonly ended: boolean;
  /** The calls of this run that are for the client to answer, in order, however the run ends. */
  pendingCalls(): readonly string[];
  /** The id under which clients know the call that the agent means by this one. */
  callId(id: string): string;
  /** The message that a text would be added to, if it would be sent as a delta and nothing else. */
  readonly textId: string | undefined;
  /** Whether a value would be sent unchanged: a delta of what is open, and nothing else. */
  isDelta(value: unknown): value is BaseEvent;
  /** How often each repair was made. */
  readonly repairs: ReadonlyMap<RepairKind, number>;
  /** The first of them in words: which, and of what. */
  readonly firstRepair: string | undefined;
}
