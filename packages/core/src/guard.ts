import type { BaseEvent, Interrupt, TokenUsage } from "@ag-ui/core";
import type { StateTracker } from "./state.ts";

/** What the author gathered for the end of the run; read when the guard writes RUN_FINISHED. */
export interface RunEnding {
  interrupts: Interrupt[];
  usage: TokenUsage[];
  result?: unknown;
}

export interface GuardOptions {
  readonly threadId: string;
  readonly runId: string;
  /** Receives the valid run, event by event, synchronously. */
  readonly emit: (event: BaseEvent) => void;
  /** Follows the state events that pass. */
  readonly state: StateTracker;
  readonly ending: RunEnding;
  /** The first repair ends the run with RUN_ERROR `protocol-violation`. */
  readonly strict?: boolean;
}

export interface Guard {
  /** An event, a string (text) or anything else an agent may say. Never throws. */
  push(value: unknown): void;
  /** The agent is done: closes what is open and adds RUN_FINISHED unless a terminal event was sent. */
  complete(): void;
  /** Closes what is open and ends with RUN_ERROR. */
  fail(error: { message: string; code: string }): void;
  /** Closes what is open and ends with RUN_FINISHED, outcome `cancelled`. */
  cancel(): void;
  readonly ended: boolean;
  /** How often each repair was made. */
  readonly repairs: ReadonlyMap<string, number>;
}

/** A synchronous state machine that turns whatever an agent says into a run that AG-UI's verifier accepts. */
export function createGuard(options: GuardOptions): Guard {
  throw new Error(`Not written yet: ${options.runId}`);
}
