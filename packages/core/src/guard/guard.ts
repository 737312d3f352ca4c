// The one list of what happens to each kind of value; the rules are in the files beside this one.
import { EventType } from "@ag-ui/core";
import type { Interrupt } from "@ag-ui/core";
import { StepsAndSubagents } from "./steps.ts";
import { CallNames, namesCall } from "./calls/call-names.ts";
import { Chunks } from "./parts/chunks.ts";
import { adoptFinish, adoptStart, cancelled, failed, finished, runStarted } from "./ending.ts";
import type { EndingRun, RunEnding, RunFailure } from "./ending.ts";
import type { EventSink, LooseEvent } from "./shapes.ts";
import { FastPath } from "./fast-path.ts";
import type { Guard, GuardOptions } from "./types.ts";
import { closeLeftOpen } from "./parts/close-left-open.ts";
import { withTag } from "./parts/owners.ts";
import { PartRepairs } from "./parts/parts.ts";
import { withoutTakenCalls } from "./parts/taken-parts.ts";
import { Reader } from "./reader.ts";
import type { ReaderHost } from "./reader.ts";
import { Violation } from "./repairs.ts";
import type { RepairKind } from "./repairs.ts";
import { BudgetError } from "./history/budget-error.ts";
import type { HistoryBudget } from "./history/history-budget.ts";
import { isOpaqueId } from "../base/ids.ts";
import { hasLabel } from "../delta/bare-delta.ts";
import { adoptStateDelta } from "./state-tracker.ts";
import type { StateTracker } from "./state-tracker.ts";

export type { CallOrigins } from "./calls/earlier-calls.ts";
export type { RunEnding } from "./ending.ts";
export type { Guard, GuardOptions } from "./types.ts";
export type { RepairKind } from "./repairs.ts";

/**
 * A synchronous state machine that turns any output of an agent into a run that AG-UI's verifier
 * accepts. What is valid already passes as the very object the agent made.
 */
export function createGuard(options: GuardOptions): Guard {
  return new RunGuard(options);
}

// Each server has one of these per open stream, so what a run may never need is made when it does.
class RunGuard implements Guard, EndingRun, EventSink, ReaderHost {
  threadId: string;
  runId: string;
  readonly ending: RunEnding;
  subject = "";
  ended = false;
  firstRepair: string | undefined;
  readonly #parentRunId: string | undefined;
  readonly #emit: GuardOptions["emit"];
  readonly #adopts: GuardOptions["adopts"];
  readonly #state: StateTracker;
  readonly #hot = new FastPath();
  readonly #parts: PartRepairs;
  readonly #budget: HistoryBudget | undefined;
  #names: CallNames | undefined;
  #chunks: Chunks | undefined;
  #brackets: StepsAndSubagents | undefined;
  #reader: Reader | undefined;
  #repairs: Map<RepairKind, number> | undefined;
  #isStrict: boolean;
  #started = false;
  /** The server started the run; its agent may still send RUN_STARTED. */
  #isOpened = false;
  // Set before the first closing event, so that listeners of that event cannot send more.
  #closing = false;

  constructor(options: GuardOptions) {
    this.threadId = options.threadId;
    this.runId = options.runId;
    this.ending = options.ending;
    this.#parentRunId = options.parentRunId;
    this.#emit = options.emit;
    this.#adopts = options.adopts;
    this.#state = options.state;
    this.#isStrict = options.strict ?? false;
    this.#budget = options.budget;
    this.#parts = new PartRepairs(this, options);
  }

  get repairs(): ReadonlyMap<RepairKind, number> {
    return (this.#repairs ??= new Map());
  }

  pendingCalls(): readonly string[] {
    return this.#parts.pendingCalls();
  }

  hasCall(id: string): boolean {
    return this.#parts.hasCall(id);
  }

  hasStarted(id: string): boolean {
    return this.#parts.hasStarted(id);
  }

  callId(id: string): string {
    return this.#callNames.idOf(id);
  }

  withCalls(interrupts: readonly Interrupt[]): readonly Interrupt[] {
    return this.#callNames.withCalls(interrupts);
  }

  get #callNames(): CallNames {
    return (this.#names ??= new CallNames(this, this.#parts));
  }

  get textId(): string | undefined {
    return this.#hot.textId;
  }

  isDelta(value: unknown): value is LooseEvent {
    return this.#hot.isNext(value) && !hasLabel(value);
  }

  open(): void {
    if (this.#started || this.#closing) return;
    this.#isOpened = true;
    this.#ensureStarted();
  }

  push(value: unknown): void {
    if (typeof value === "string") {
      const event = this.#hot.expandText(value);
      if (event && this.#fits(value)) return this.#emit(event, true);
      return this.#pushText(value);
    }
    if (this.#hot.isNext(value) && this.#fits(value.delta)) {
      return this.#emit(value, !hasLabel(value));
    }
    const event = this.#hot.expandChunk(value);
    if (event && this.#fits(event.delta)) return this.#emit(event, !hasLabel(event));
    this.subject = "the run";
    try {
      this.#pushEvent(value);
    } catch (reason) {
      this.#violated(reason);
    }
  }

  complete(): void {
    if (this.#closing) return;
    this.subject = "the end of the run";
    try {
      this.#finish();
    } catch (reason) {
      this.#violated(reason);
    }
  }

  cancel(): void {
    if (this.#closing) return;
    this.#beginEnd();
    this.#closeAll(false);
    this.subject = "the end of the run";
    try {
      this.#terminate(cancelled(this));
    } catch (reason) {
      this.#violated(reason);
    }
  }

  fail(error: RunFailure): void {
    if (!this.#closing) this.#failNow(error);
  }

  repair(kind: RepairKind): void {
    const repairs = (this.#repairs ??= new Map());
    repairs.set(kind, (repairs.get(kind) ?? 0) + 1);
    this.firstRepair ??= `${kind}, ${this.subject}`;
    // What comes too late cannot spoil a run that is over.
    if (!this.#isStrict || kind === "after-end") return;
    throw new Violation(`The agent broke the protocol: ${kind}, ${this.subject}.`);
  }

  send(event: LooseEvent): void {
    if (this.ended) return;
    // What closes the run adds nothing to it.
    const size = this.#closing ? undefined : this.#budget?.take(event, this.#state);
    this.#emit(event, false, size);
  }

  #sendIf(event: LooseEvent | undefined): void {
    if (event) this.send(event);
  }

  // A delta that goes on with what is open. What may be too much takes the longer way, which counts it.
  #fits(delta: unknown): boolean {
    return this.#budget === undefined || this.#budget.spend(delta as string);
  }

  #start(event: LooseEvent): void {
    this.#started = true;
    this.#emit(event);
  }

  #ensureStarted(): void {
    if (!this.#started) this.#start(runStarted(this, this.#parentRunId));
  }

  #pushText(delta: string): void {
    this.subject = "text";
    if (this.#closing) return this.repair("after-end");
    if (delta === "") return;
    this.#ensureStarted();
    if (this.#closing) return;
    try {
      this.#pushChunk({ type: EventType.TEXT_MESSAGE_CHUNK, delta });
    } catch (reason) {
      this.#violated(reason);
    }
  }

  #pushEvent(value: unknown): void {
    if (this.#closing) return this.repair("after-end");
    const event = (this.#reader ??= new Reader(this)).read(value);
    if (event === undefined) return;
    switch (event.type) {
      case EventType.RUN_STARTED:
        return this.#pushStart(event);
      case EventType.RUN_FINISHED:
        return this.#finish(event);
      case EventType.RUN_ERROR:
        // The author's own word. It closes whatever is open.
        this.#ensureStarted();
        return this.#terminate(event);
      default:
        this.#ensureStarted();
        // A listener that received the start may have ended the run.
        if (!this.#closing) {
          this.#route(namesCall(event) ? this.#callNames.apply(event) : event);
        }
    }
  }

  #pushStart(event: LooseEvent): void {
    if (this.#isOpened) {
      this.#isOpened = false;
      return;
    }
    if (this.#started) return this.repair("run-started");
    if (this.#adopts?.threadId && isOpaqueId(event.threadId)) this.threadId = event.threadId;
    if (this.#adopts?.runId && isOpaqueId(event.runId)) this.runId = event.runId;
    this.#start(adoptStart(event, this));
  }

  #pushChunk(event: LooseEvent): boolean {
    this.#hot.invalidate();
    const chunks = (this.#chunks ??= new Chunks(this, this.#parts));
    if (!chunks.push(event)) return false;
    const owner = event.subagentRunId;
    const stream = chunks.streamOf(owner);
    if (this.#closing || !stream || stream.kind === "tool") return true;
    if (this.#parts.ownerOf(stream.kind, stream.id) === owner) {
      this.#hot.stream(stream.kind, stream.id, owner);
    }
    return true;
  }

  #pushDelta(kind: "text" | "tool", event: LooseEvent): void {
    this.#hot.coolStream();
    this.#chunks?.before(event);
    const id = this.#parts.proceed(kind, event);
    // A stream of chunks with an id ends with the next delta of its lane, so each needs a look.
    if (this.#closing || this.#chunks?.isFragile() || !this.#parts.isOpen(kind, id)) return;
    if (kind === "text") this.#hot.text(id, this.#parts.ownerOf(kind, id));
    else this.#hot.call(id, this.#parts.ownerOf(kind, id));
  }

  #pushThought(event: LooseEvent): void {
    this.#hot.invalidate();
    this.#chunks?.before(event);
    const id = this.#parts.proceed("reasoning", event);
    if (this.#closing || !this.#parts.isOpen("reasoning", id)) return;
    // A thought ends the stream of chunks in its lane, so each needs a look while there is one.
    const lane = event.subagentRunId ?? this.#parts.ownerOf("reasoning", id);
    if (lane === undefined && !this.#chunks?.hasStream(lane)) this.#hot.thought(id);
  }

  #route(event: LooseEvent): void {
    switch (event.type) {
      case EventType.TEXT_MESSAGE_CONTENT:
        return this.#pushDelta("text", event);
      case EventType.TOOL_CALL_ARGS:
        return this.#pushDelta("tool", event);
      case EventType.REASONING_MESSAGE_CONTENT:
        return this.#pushThought(event);
      case EventType.TEXT_MESSAGE_CHUNK:
      case EventType.TOOL_CALL_CHUNK:
      case EventType.REASONING_MESSAGE_CHUNK:
        if (this.#pushChunk(event)) return;
        this.repair("malformed");
        return this.send(
          withTag({ type: EventType.RAW, event, source: "agent" }, event.subagentRunId),
        );
      default:
        this.#hot.invalidate();
        this.#chunks?.before(event);
        this.#routeRest(event);
    }
  }

  #routeRest(event: LooseEvent): void {
    const parts = this.#parts;
    if (parts.push(event)) return;
    switch (event.type) {
      case EventType.REASONING_ENCRYPTED_VALUE:
      case EventType.TOOL_CALL_RESULT:
      case EventType.ACTIVITY_SNAPSHOT:
      case EventType.ACTIVITY_DELTA:
        return this.#sendIf(parts.attribute(event));
      case EventType.MESSAGES_SNAPSHOT:
        return this.send(parts.learn(event));
      case EventType.STEP_STARTED:
      case EventType.STEP_FINISHED:
      case EventType.SUBAGENT_STARTED:
      case EventType.SUBAGENT_FINISHED:
      case EventType.SUBAGENT_ERROR:
        return (this.#brackets ??= new StepsAndSubagents(this)).push(event);
      case EventType.STATE_SNAPSHOT:
        this.#state.snapshot(event.snapshot);
        return this.send(event);
      case EventType.STATE_DELTA:
        return this.send(adoptStateDelta(event, this.#state, this));
      default:
        this.send(event);
    }
  }

  #finish(own?: LooseEvent): void {
    this.#beginEnd();
    this.#closeAll(true);
    const named = own?.outcome === undefined ? own : this.#callNames.applyEnd(own);
    const kept = named && withoutTakenCalls(named, this.#parts);
    this.#terminate(kept ? adoptFinish(kept, this) : finished(this));
  }

  #violated(reason: unknown): void {
    if (reason instanceof BudgetError) {
      this.#failNow({ code: reason.code, message: reason.message });
    } else if (reason instanceof Violation) {
      this.#failNow({ code: "protocol-violation", message: reason.message });
    } else throw reason;
  }

  #failNow(error: RunFailure): void {
    this.#isStrict = false;
    this.#beginEnd();
    this.#closeAll(false, error);
    this.#terminate(failed(this, error));
  }

  #beginEnd(): void {
    this.#closing = true;
    this.#hot.invalidate();
    this.#ensureStarted();
  }

  #closeAll(isFault: boolean, error?: RunFailure): void {
    closeLeftOpen(this.#parts, this, isFault);
    this.#brackets?.closeAll(isFault, error);
  }

  #terminate(event: LooseEvent): void {
    if (this.ended) return;
    this.#hot.invalidate();
    this.#closing = true;
    this.ended = true;
    this.#emit(event);
  }
}
