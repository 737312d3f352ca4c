import type { BaseEvent } from "@ag-ui/core";
import { changesOf } from "../agent/context.ts";
import { after, isPromise } from "../base/awaitable.ts";
import { dateOf } from "../base/time/clock.ts";
import { SafeLogger } from "../base/logger.ts";
import type { Logger, RunContext } from "../contract/context.ts";
import { AgentError, isAgentError } from "../contract/errors.ts";
import type { RunResult } from "../contract/protocol.ts";
import type { RunStatus } from "../contract/run-log.ts";
import type { SizedEntry } from "../delta/merged-entry.ts";
import { reportRepairs } from "../guard/repairs.ts";
import type { RunSummary } from "../view/run-summary.ts";
import type { RunView } from "../view/run-view.ts";
import type { HostedAgent } from "./hosted-agent.ts";
import type { Intake } from "./intake.ts";
import type { RunPhase } from "./phase.ts";
import { errorOf, lostRun, toErrorEntry } from "./run-error.ts";
import type { RunLease, RunPersistence, RunSettings } from "./types.ts";

/** What the end of a run needs from the run. */
export interface EndingHost {
  readonly settings: RunSettings;
  readonly context: RunContext;
  readonly view: RunView;
  /** When the run was made. */
  readonly began: number;
  readonly lease: RunLease | undefined;
  readonly keeper: RunPersistence;
  readonly phase: RunPhase;
  readonly isEndDelivered: boolean;
  abort(reason: AgentError): void;
  /** The store failed: nothing more is appended. */
  abandon(): void;
  /** Sends the end to the clients. */
  deliverEnd(terminal: SizedEntry): void;
  /** The result is known. */
  finished(): void;
}

/**
 * The end of a run: it is saved, then its log is closed, then the clients receive it. If the store fails, the
 * clients still receive an end. Also the promises of the end, which are made on demand: most runs are followed
 * and not awaited.
 */
export class Ending {
  status: RunStatus = "running";
  /** The end of a run whose store failed: no log has it. */
  unstored: SizedEntry | undefined = undefined;
  /** When the store was asked to save the end. */
  storingSince: number | undefined = undefined;
  readonly #run: EndingHost;
  readonly #agent: HostedAgent;
  readonly #intake: Intake;
  /** Why the store failed. */
  #storeError: AgentError | undefined = undefined;
  #result: RunResult | undefined = undefined;
  #isIdle = false;
  #done: Promise<RunResult> | undefined = undefined;
  #resolveDone: ((result: RunResult) => void) | undefined = undefined;
  #idle: Promise<void> | undefined = undefined;
  #resolveIdle: (() => void) | undefined = undefined;

  constructor(run: EndingHost, agent: HostedAgent, intake: Intake) {
    this.#run = run;
    this.#agent = agent;
    this.#intake = intake;
  }

  /** Resolves when the terminal event was delivered. Never rejects. */
  get done(): Promise<RunResult> {
    return (this.#done ??= new Promise((resolve) => {
      if (this.#result) resolve(this.#result);
      else this.#resolveDone = resolve;
    }));
  }

  /** Resolves when moreover no client is owed anything. */
  get idle(): Promise<void> {
    return (this.#idle ??= new Promise((resolve) => {
      if (this.#isIdle) resolve();
      else this.#resolveIdle = resolve;
    }));
  }

  /** Saves the run, closes its log and delivers its end. */
  close(terminal: SizedEntry): void {
    this.status = statusOf(terminal.event);
    const { lease, keeper } = this.#run;
    const summary = this.#summarise(terminal.event);
    try {
      const saved = keeper.save?.(summary);
      const delivered = after(saved, () => {
        const closed = lease?.runs.close(lease.lease, terminal, this.status);
        return after(closed, () => this.#deliverEnd(terminal));
      });
      if (!isPromise(delivered)) return;
      this.storingSince = this.#run.settings.clock.now();
      delivered.catch((error: unknown) => this.#saveFailed(terminal, error));
    } catch (error) {
      this.#saveFailed(terminal, error);
    }
  }

  // What is too large for its thread is refused, not lost: the log is closed with that, and then the clients receive it.
  #saveFailed({ from, to }: SizedEntry, error: unknown): void {
    const { lease, settings } = this.#run;
    if (!isAgentError(error) || error.code !== "session-too-large" || !lease) {
      return this.storeFailed(error);
    }
    this.status = "failed";
    this.#storeError = error;
    const end = { ...toErrorEntry(error, dateOf(settings.clock)), from, to };
    const close = async (): Promise<void> => {
      await lease.runs.close(lease.lease, end, "failed");
      this.#deliverEnd(end);
    };
    close().catch((second: unknown) => this.storeFailed(second));
  }

  /** The clients still receive an end, without an offset. */
  storeFailed(error: unknown, reason: AgentError = failureOf(error)): void {
    const run = this.#run;
    if (run.isEndDelivered) return;
    const { runId, threadId } = run.context;
    this.#logger.error({ error, runId, threadId }, "The run could not be stored.");
    run.abandon();
    this.status = "failed";
    this.#storeError = reason;
    const end = toErrorEntry(reason, dateOf(run.settings.clock));
    this.#freeLease(end);
    // The guard ends too; its last events are dropped.
    run.abort(reason);
    this.unstored = end;
    this.#deliverEnd(end);
  }

  /** Another process has taken over the run. A run that was not handed to its owner yet ends after that. */
  leaseLost(): void {
    const end = (): void =>
      this.storeFailed(new Error("The lease of the run was lost."), lostRun());
    if (this.#run.phase === "waiting") queueMicrotask(end);
    else end();
  }

  /** No client is owed anything. */
  drained(): void {
    // Resolving a promise twice is expensive in Node.
    if (!this.#isIdle) this.#resolveIdle?.();
    this.#isIdle = true;
  }

  #summarise(terminal: BaseEvent): RunSummary {
    const { view, context } = this.#run;
    const agent = this.#agent;
    const calls = this.#intake.guarded.pendingCalls();
    return {
      status: this.status,
      terminal,
      messages: view.messages,
      state: view.state,
      times: view.times,
      metadata: changesOf(context),
      asked: agent.asked,
      pendingCalls: agent.answerable(calls),
      hasBegun: agent.hasBegun,
    };
  }

  #deliverEnd(terminal: SizedEntry): void {
    const run = this.#run;
    if (run.isEndDelivered) return;
    this.storingSince = undefined;
    const ms = run.settings.clock.now() - run.began;
    run.deliverEnd(terminal);
    const agent = this.#agent;
    const intake = this.#intake;
    const stage = agent.begun ? "middleware" : "agent";
    reportRepairs(run.context, stage, intake.guarded);
    if (this.status === "finished") agent.reportUnmade();
    const error = this.#storeError ?? intake.failure ?? errorOf(terminal.event);
    agent.finish(this.status === "failed" ? error : undefined);
    this.#finish(terminal.event, error, ms);
  }

  #finish(terminal: BaseEvent, error: AgentError | undefined, ms: number): void {
    const run = this.#run;
    const { view } = run;
    this.#result = {
      messages: view.messages,
      state: view.state,
      error,
      usage: (terminal.usage as RunResult["usage"] | undefined) ?? [],
      ms,
    };
    this.#resolveDone?.(this.#result);
    run.finished();
  }

  // The thread is freed as soon as the store can be reached; if it cannot, the lease expires.
  #freeLease(terminal: SizedEntry, attempt = 0): void {
    if (!this.#run.lease) return;
    const { runs, lease } = this.#run.lease;
    const { at, event } = terminal;
    const close = async (): Promise<void> => {
      // An append that timed out may have been stored after all: the log has the last offset.
      const record = await runs.find(lease.principal, lease.runId);
      if (record?.status !== "running") return;
      const offset = record.last + 1;
      await runs.close(lease, { from: offset, to: offset, at, event }, "failed");
    };
    close().catch((error: unknown) => {
      this.#logger.debug({ error, runId: lease.runId }, "The lease was not freed.");
      const ms = freeAfterMs[attempt];
      const isLost = isAgentError(error) && error.code === "run-lost";
      if (ms === undefined || isLost) return;
      this.#run.settings.clock.setTimeout(() => this.#freeLease(terminal, attempt + 1), ms);
    });
  }

  get #logger(): Logger {
    return new SafeLogger(this.#run.settings.logger);
  }
}

// In less than the usual lease.
const freeAfterMs = [250, 1_000, 3_000, 8_000] as const;

function statusOf(terminal: BaseEvent): RunStatus {
  if (terminal.type === "RUN_ERROR") return "failed";
  return (terminal.outcome as { type?: string } | undefined)?.type === "cancelled"
    ? "cancelled"
    : "finished";
}

/** The error of a run whose store rejected it or failed. */
function failureOf(error: unknown): AgentError {
  if (isAgentError(error) && error.code === "run-lost") return lostRun();
  return new AgentError("store-unavailable", "The run could not be stored.");
}
