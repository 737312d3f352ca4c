import { EventType } from "@ag-ui/core";
import type { RunAgentInput } from "@ag-ui/core";
import { adviceOn } from "./advice.ts";
import { BegunCalls } from "./calls/begun-calls.ts";
import type { CallingRun } from "./calls/begun-calls.ts";
import { createEmit } from "./emit.ts";
import { isHalted } from "../contract/errors.ts";
import type { RunEnding } from "../guard/guard.ts";
import { nextTurn } from "../base/time/turns.ts";
import { LateCalls } from "./calls/late-calls.ts";
import type { CallKind, EndedRun, RunCalls } from "./calls/late-calls.ts";
import type { PumpTarget } from "./pump.ts";
import { createStateTracker } from "../guard/state-tracker.ts";
import type { LiveStateTracker } from "../guard/state-tracker.ts";
import { createRunState } from "./state-writer.ts";
import type { Emit, RunState } from "../contract/context.ts";

/** The target of an output: a run, or the Observable of one. */
export interface OutputListener extends EndedRun {
  /** The server sends something before the agent does. */
  open(): void;
  push(value: unknown): void;
  /** The agent is done. */
  completed(): void;
  failed(reason: unknown): void;
  /** A promise while the readers are behind. */
  ready(): Promise<void> | undefined;
  /** Whether the run has ended, so that events are dropped. */
  isLate(): boolean;
  /** Receives advice for the author of the agent. */
  advise(advice: string): void;
  /** The id under which clients know the call that the agent means by this one. */
  callId(id: string): string;
}

// Shared by all runs without interrupts and usage, which is most of them.
const none = Object.freeze([]) as unknown as never[];

// As often as the pump lets an iterable breathe.
const breath = 256;

/** The output of an agent, whether yielded, returned or emitted, on its way to the listener. */
export class AgentOutput implements CallingRun, PumpTarget, RunCalls, RunEnding {
  /** What the agent is given. */
  readonly input: RunAgentInput;
  readonly tracker: LiveStateTracker;
  interrupts: RunEnding["interrupts"] = none;
  usage: RunEnding["usage"] = none;
  result: unknown = undefined;
  readonly #listener: OutputListener;
  #hasText = false;
  #hasEmitted = false;
  #emitted = 0;
  #emit: Emit | undefined;
  #state: RunState | undefined;
  /** Made by the first call that has to be waited for, and by the first that comes too late. */
  #begun: BegunCalls | undefined;
  #late: LateCalls | undefined;
  /** The agent's own RUN_FINISHED, until the calls in progress have their results. */
  #held: { readonly event: unknown } | undefined;

  /** `stateBytes`: how large patches may make the state. */
  constructor(input: RunAgentInput, listener: OutputListener, stateBytes?: number) {
    this.input = input;
    this.tracker = createStateTracker(input.state, stateBytes);
    this.#listener = listener;
  }

  /** What it has gathered for the end of the run. */
  get ending(): RunEnding {
    return this;
  }

  /** Starts the run before the agent does. */
  open(): void {
    this.#listener.open();
  }

  get emit(): Emit {
    return (this.#emit ??= createEmit(this));
  }

  get state(): RunState {
    return (this.#state ??= createRunState({
      tracker: this.tracker,
      push: (value, call) => this.push(value, call),
      calls: this,
    }));
  }

  get calls(): RunCalls {
    return this;
  }

  /**
   * Sends a value for the agent; occasionally returns a promise of the next turn, so that other work can run.
   */
  push(value: unknown, call: string): void | Promise<void> {
    if (this.#listener.isLate()) return this.refuse(call);
    this.next(value);
    return this.#listener.ready() ?? this.#breathe();
  }

  isLate(): boolean {
    return this.#listener.isLate();
  }

  callId(id: string): string {
    return this.#listener.callId(id);
  }

  ignore(call: string): void {
    if (!this.aborting()) this.reportLate(call);
  }

  refuse(call: string): Promise<void>;
  refuse<T>(call: string, value: T): Promise<T>;
  refuse<T>(call: string, value?: T): Promise<T | undefined> {
    return this.#lateCalls.settle(call, () => value);
  }

  suspend<T>(call: string): Promise<T> {
    return this.#lateCalls.settle(call, () => new Promise<never>(() => {}));
  }

  begin<T>(call: string, work: Promise<T>, kind: CallKind): Promise<T> {
    return (this.#begun ??= new BegunCalls(this)).begin(call, work, kind);
  }

  get context(): EndedRun["context"] {
    return this.#listener.context;
  }

  aborting(): boolean {
    return this.#listener.aborting();
  }

  reportLate(call: string): void {
    this.#listener.reportLate(call);
  }

  halt(): void {
    void this.#finish();
  }

  next(value: unknown): void {
    if (!this.#hasText) {
      this.#hasEmitted = true;
      this.#hasText = isText(value);
    }
    const begun = this.#begun;
    if (begun && isFinish(value) && begun.isOpen) void this.#hold(value, begun);
    else this.#listener.push(value);
  }

  error(reason: unknown): void {
    if (isHalted(reason)) void this.#finish();
    else this.#listener.failed(reason);
  }

  /**
   * A returned string is text if no text was sent; otherwise it is the result of the run, like any other
   * value.
   */
  complete(result?: unknown): void {
    if (typeof result === "string" && !this.#hasText) this.#listener.push(result);
    else if (result !== undefined && result !== null) this.result = result;
    if (!this.#hasText && typeof result !== "string") this.#advise(result);
    void this.#finish();
  }

  #advise(result: unknown): void {
    const isAsking = this.interrupts !== none || this.usage !== none;
    const advice = adviceOn(result, this.#hasEmitted || isAsking);
    if (advice !== undefined) this.#listener.advise(advice);
  }

  ready(): Promise<void> | undefined {
    return this.#listener.ready();
  }

  get #lateCalls(): LateCalls {
    return (this.#late ??= new LateCalls(this));
  }

  // Without a promise where no call is in progress.
  #finish(): void | Promise<void> {
    const begun = this.#begun;
    if (begun && (begun.isOpen || this.#held)) return this.#finishAfter(begun);
    begun?.reportForgotten();
    this.#listener.completed();
  }

  async #finishAfter(begun: BegunCalls): Promise<void> {
    await begun.settled();
    this.#release();
    begun.reportForgotten();
    this.#listener.completed();
  }

  async #hold(event: unknown, begun: BegunCalls): Promise<void> {
    this.#held ??= { event };
    await begun.settled();
    this.#release();
    begun.reportForgotten();
  }

  #release(): void {
    const held = this.#held;
    this.#held = undefined;
    if (held && !this.#listener.isLate()) this.#listener.push(held.event);
  }

  #breathe(): Promise<void> | undefined {
    if (++this.#emitted < breath) return undefined;
    this.#emitted = 0;
    return nextTurn();
  }
}

function isText(value: unknown): boolean {
  return typeof value === "string" || (typeOf(value)?.startsWith("TEXT_MESSAGE_") ?? false);
}

function isFinish(value: unknown): boolean {
  return typeOf(value) === EventType.RUN_FINISHED;
}

function typeOf(value: unknown): string | undefined {
  try {
    const type = (value as { type?: unknown } | null | undefined)?.type;
    return typeof type === "string" ? type : undefined;
  } catch {
    // A getter of the agent's that throws: the guard has the word for it.
    return undefined;
  }
}
