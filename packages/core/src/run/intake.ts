// Longer than our usual file: one class, since measuring, guarding and pacing share the state of the run's output.
import { EventType } from "@ag-ui/core";
import type { BaseEvent, RunAgentInput } from "@ag-ui/core";
import { AgentOutput } from "../agent/output.ts";
import type { OutputListener } from "../agent/output.ts";
import { SafeLogger } from "../base/logger.ts";
import { AgentError, describeError } from "../contract/errors.ts";
import type { RunContext } from "../contract/context.ts";
import { continuesPart, sizeOfText } from "../delta/bare-delta.ts";
import { sizeOfEvent } from "../delta/event-size.ts";
import type { OpenEntry } from "../delta/merged-entry.ts";
import { createGuard } from "../guard/guard.ts";
import type { Guard } from "../guard/guard.ts";
import { HistoryBudget } from "../guard/history/history-budget.ts";
import type { BudgetedRun } from "../guard/history/history-budget.ts";
import { copyJson } from "../json/copy.ts";
import { sizeOf, tooMuch, withoutEndless } from "../json/size.ts";
import type { RunView } from "../view/run-view.ts";
import type { Followers } from "./clients/followers.ts";
import type { HostedAgent } from "./hosted-agent.ts";
import type { TurnLog } from "./turn-log.ts";
import type { RunInit, RunSettings } from "./types.ts";

/** What the intake of a run needs from the run. */
export interface IntakeHost {
  readonly settings: RunSettings;
  readonly context: RunContext;
  /** What the clients have received. */
  readonly view: RunView;
  readonly clients: Pick<Followers, "isBehind">;
  /** The guard accepted the terminal event. */
  finish(terminal: BaseEvent, size: number): void;
}

/** The other parts of the run. */
export interface IntakeParts {
  readonly input: RunAgentInput;
  readonly agent: HostedAgent;
  readonly turns: TurnLog;
}

const cancelling = new Set<string>(["stopped", "disconnected", "replaced"]);

/**
 * The values of an agent become valid events with a size, up to one terminal event. What the guard emits
 * goes to the log of the run at once; a client may leave over it, or make the agent emit more.
 */
export class Intake implements OutputListener, BudgetedRun {
  readonly output: AgentOutput;
  /** Why the run was ended. Undefined when it was cancelled, or ended by its agent. */
  failure: AgentError | undefined = undefined;
  readonly #run: IntakeHost;
  readonly #agent: HostedAgent;
  readonly #turns: TurnLog;
  /** Only where the client has to send back what it receives. */
  readonly #budget: HistoryBudget | undefined;
  readonly #guard: Guard;
  #isGuarding = false;
  /** Set by an abort that has to wait for the guard. */
  #abortLater: AgentError | undefined = undefined;
  /** The value that the guard is given, and its size. */
  #current: unknown = undefined;
  #currentSize = 0;
  /** What the agent waits for, and how it goes on. */
  #waiting: Promise<void> | undefined = undefined;
  #wake: (() => void) | undefined = undefined;

  constructor(run: IntakeHost, init: RunInit, { input, agent, turns }: IntakeParts) {
    const { settings } = run;
    const { context, sentHistory } = init;
    this.#run = run;
    this.#agent = agent;
    this.#turns = turns;
    this.output = new AgentOutput(input, this, settings.limits.sessionBytes);
    this.#budget = sentHistory && new HistoryBudget(this, sentHistory, settings.limits);
    this.#guard = createGuard({
      threadId: context.threadId,
      runId: context.runId,
      parentRunId: init.input.parentRunId,
      emit: (event, isDelta = false, size) => this.#accept(event, isDelta, size),
      state: this.output.tracker,
      ending: this.output.ending,
      calls: agent,
      strict: settings.strict,
      budget: this.#budget,
      begun: agent.begun,
      adopts: init.adopts,
    });
  }

  get context(): RunContext {
    return this.#run.context;
  }

  /** What the guard has repaired, and which calls the client has to answer. */
  get guarded(): Pick<Guard, "firstRepair" | "pendingCalls" | "repairs"> {
    return this.#guard;
  }

  // ── What the agent sends ─────────────────────────────────────────────────────────────────────

  open(): void {
    this.#isGuarding = true;
    try {
      this.#guard.open();
    } finally {
      this.#isGuarding = false;
    }
    if (this.#abortLater) this.#abortNow(this.#abortLater);
  }

  push(sent: unknown): void {
    const { tail } = this.#turns;
    if (tail && this.#prolong(tail, sent)) return;
    let value = sent;
    let size = typeof sent === "string" ? sent.length : sizeOfEvent(sent);
    if (size >= tooMuch) {
      value = withoutEndless(sent);
      size = sizeOfEvent(value);
    }
    const { eventBytes } = this.#run.settings.limits;
    if (size > eventBytes) this.abort(tooLarge(value, eventBytes));
    else this.#pushSized(value, size);
  }

  completed(): void {
    this.#isGuarding = true;
    try {
      this.#guard.complete();
    } finally {
      this.#isGuarding = false;
    }
    if (this.#abortLater) this.#abortNow(this.#abortLater);
  }

  failed(reason: unknown): void {
    if (this.isLate()) return;
    const { debug, logger } = this.#run.settings;
    const { runId, threadId, agentId } = this.context;
    const fields = { error: reason, runId, threadId, agentId };
    new SafeLogger(logger).error(fields, "The agent failed.");
    const { code, message } = describeError(reason, debug);
    // The agent ended itself: what is left of it is stopped after the clients have received the end.
    this.#conclude(new AgentError(code, message, { cause: reason }));
  }

  // A delta that continues the tail skips the guard and the log: nothing about it can be wrong.
  #prolong(tail: OpenEntry, sent: unknown): boolean {
    const { type, messageId, toolCallId } = tail.event;
    let delta = sent;
    if (typeof sent === "string") {
      if (sent === "" || messageId === undefined || messageId !== this.#guard.textId) return false;
      if (type !== EventType.TEXT_MESSAGE_CONTENT) return false;
    } else {
      if (!this.#guard.isDelta(sent) || !continuesPart(tail.event, sent)) return false;
      delta = sent.delta;
    }
    if (typeof delta !== "string") return false;
    const size = sizeOfText(type, (messageId ?? toolCallId) as string, delta);
    if (size > this.#run.settings.limits.eventBytes) return false;
    if (this.#budget && !this.#budget.spend(delta)) return false;
    return this.#turns.prolong(tail, delta, size);
  }

  // The guard emits most events as they are; then their size is known already.
  #pushSized(value: unknown, size: number): void {
    const before = this.#current;
    const sizeBefore = this.#currentSize;
    this.#current = value;
    this.#currentSize = size;
    this.#isGuarding = true;
    try {
      this.#guard.push(value);
    } finally {
      this.#isGuarding = false;
      // A client may have made the agent emit this while an earlier event was being delivered.
      this.#current = before;
      this.#currentSize = sizeBefore;
    }
    if (this.#abortLater) this.#abortNow(this.#abortLater);
  }

  // ── What the guard emits ─────────────────────────────────────────────────────────────────────

  #accept(sent: BaseEvent, isDelta: boolean, known?: number): void {
    // The agent's own object, which it may change or use again while ours waits to be sent.
    const isForeign = sent === this.#current;
    const { tail } = this.#turns;
    if (isDelta && tail && continuesPart(tail.event, sent)) {
      const { delta } = sent;
      const size = isForeign ? this.#currentSize : (known ?? sizeOfEvent(sent));
      if (typeof delta === "string" && this.#turns.prolong(tail, delta, size)) return;
    }
    // Events that the guard makes of a string hold no object of the agent.
    const event = typeof this.#current === "string" ? sent : copyEvent(sent, isForeign);
    // A getter of the agent that returns another value each time: such a delta cannot be merged or stored.
    if (isDelta && typeof event.delta !== "string") return;
    const measured = isForeign ? this.#currentSize : event === sent ? known : undefined;
    const size = measured ?? (isDelta ? sizeOfEvent(event) : sizeOf(event));
    if (this.#guard.ended) this.#run.finish(event, size);
    else this.#turns.add(event, size, isDelta);
  }

  // ── Ending it from outside ───────────────────────────────────────────────────────────────────

  /** Ends the run. The clients receive the terminal event first; then the agent is stopped. */
  abort(reason: AgentError): void {
    if (this.#conclude(reason)) this.#agent.stop(reason);
  }

  #abortNow(reason: AgentError): void {
    this.#abortLater = undefined;
    if (this.isLate()) this.#agent.release();
    else this.abort(reason);
  }

  /** Makes the guard emit the terminal event. Returns false when it has, or when it has to finish first. */
  #conclude(reason: AgentError): boolean {
    if (this.isLate()) return false;
    // A client can be cut while the guard is emitting; then the abort waits until it is done.
    if (this.#isGuarding) {
      this.#abortLater ??= reason;
      return false;
    }
    const isCancelled = cancelling.has(reason.code);
    this.failure = isCancelled ? undefined : reason;
    if (isCancelled) this.#guard.cancel();
    else this.#guard.fail({ message: reason.message, code: reason.code });
    return true;
  }

  // ── Its pace ─────────────────────────────────────────────────────────────────────────────────

  /** Returns a promise while every client is behind or too much waits for the store, else undefined. */
  ready(): Promise<void> | undefined {
    if (!this.#isPaused()) return undefined;
    return (this.#waiting ??= new Promise((resolve) => (this.#wake = resolve)));
  }

  paceChanged(): void {
    if (!this.#waiting || this.#isPaused()) return;
    this.#waiting = undefined;
    this.#wake?.();
  }

  /** The run has ended: the agent waits no more. */
  wake(): void {
    this.#wake?.();
  }

  #isPaused(): boolean {
    const run = this.#run;
    return this.#turns.unacknowledged > run.settings.limits.appendBytes || run.clients.isBehind;
  }

  // ── What the output and the budget ask ───────────────────────────────────────────────────────

  /** Whether the guard accepted the terminal event. */
  isLate(): boolean {
    return this.#guard.ended;
  }

  callId(id: string): string {
    return this.#guard.callId(id);
  }

  advise(advice: string): void {
    this.#agent.advise(advice);
  }

  aborting(): boolean {
    return this.#agent.aborting();
  }

  reportLate(call: string): void {
    this.#agent.reportLate(call);
  }

  get sent(): RunAgentInput {
    return this.output.input;
  }

  held(): ReturnType<BudgetedRun["held"]> {
    const { view } = this.#run;
    if (!view.isWhole) return undefined;
    return { messages: view.messages, events: this.#turns.pendingEvents() };
  }
}

// The guard's events are its own, but may hold objects of the agent.
function copyEvent(event: BaseEvent, isForeign: boolean): BaseEvent {
  for (const key in event) {
    const member = event[key];
    if (typeof member === "object" && member !== null) return copyJson(event) as BaseEvent;
  }
  return isForeign ? { ...event } : event;
}

function tooLarge(value: unknown, limit: number): AgentError {
  const type = (value as { type?: unknown } | null)?.type;
  const name = typeof type === "string" ? type : typeof value;
  return new AgentError("event-too-large", `One ${name} event is larger than ${limit} bytes.`);
}
