/**
 * A run: the agent's events are guarded, numbered, logged and handed to followers, until exactly one
 * terminal event. Longer than our usual file: this is the one place where the order of things
 * (append, deliver, end) is decided, and it reads best in one piece.
 */
import { EventType } from "@ag-ui/core";
import type { BaseEvent, Message, RunAgentInput } from "@ag-ui/core";
import { Followers } from "./followers.ts";
import type { FollowersHost } from "./followers.ts";
import { ClientToolBroker } from "../tools/client-tools.ts";
import type { ToolResultCommand } from "../tools/client-tools.ts";
import { chain } from "../middleware/compose.ts";
import { changesOf, createRunContext } from "../agent/context.ts";
import type { ContextSession } from "../agent/context-session.ts";
import type { RunMode } from "../agent/context.ts";
import { EarlierCalls } from "../guard/calls/earlier-calls.ts";
import { AgentError, describeError } from "../contract/errors.ts";
import { BegunParts } from "../guard/parts/begun-parts.ts";
import { createGuard } from "../guard/guard.ts";
import type { CallOrigins, Guard } from "../guard/guard.ts";
import { HistoryBudget } from "../guard/history/history-budget.ts";
import type { BudgetedRun } from "../guard/history/history-budget.ts";
import { atTurnEnd, nextMacrotask } from "../base/turns.ts";
import type { TurnMember } from "../base/turns.ts";
import { appendDelta, continues, noOffset, sealDeltas } from "../delta/merged-entry.ts";
import type { OpenEntry, SizedEntry } from "../delta/merged-entry.ts";
import { warnLate } from "../agent/calls/late-calls.ts";
import { LazyAbortController } from "../base/lazy-abort-controller.ts";
import { createRunView, isTerminal, toPrelude } from "../view/run-view.ts";
import type { RunView } from "../view/run-view.ts";
import { reportRepairs } from "../guard/report-repairs.ts";
import { reportUnmade } from "../tools/report-unmade.ts";
import { SafeLogger } from "../base/logger.ts";
import { pump } from "../agent/pump.ts";
import type { Pumping } from "../agent/pump.ts";
import {
  after,
  copyEvent,
  errorOf,
  failureOf,
  isPromise,
  lostRun,
  onLost,
  statusOf,
} from "./run-parts.ts";
import { RunOutcome } from "./outcome.ts";
import type { RunSummary } from "../view/run-summary.ts";
import type { RunInit, RunPersistence, RunLease, RunSettings } from "./types.ts";
import { isEndless, sizeOf, sizeOfText, withoutEndless } from "../json/size.ts";
import { serverToolsOf, settleTools } from "../tools/definitions.ts";
import { nothingAsked, RunTools } from "../tools/run-tools.ts";
import { startAgent, toRun } from "../agent/call-agent.ts";
import type { Logger, RunContext } from "../contract/context.ts";
import type { Encoder, Sink } from "../contract/exchange.ts";
import type { RunResult } from "../contract/protocol.ts";
import type { LogEntry, RunStatus } from "../contract/run-log.ts";
import { AgentOutput } from "../agent/output.ts";
import type { OutputListener } from "../agent/output.ts";
import type { ClientPresence } from "./collector.ts";

// A turn that says more than this is not kept until its end.
const turnBytes = 64 * 1024;

const cancelling = new Set<string>(["stopped", "disconnected", "replaced"]);

// Each server has one of these per open stream, so what a run may never need is made when it does.
export class LiveRun
  implements OutputListener, RunMode, CallOrigins, FollowersHost, TurnMember, BudgetedRun
{
  readonly settings: RunSettings;
  readonly context: RunContext;
  status: RunStatus = "running";
  /** True once a client has followed it. */
  wasFollowed = false;

  /** Only until it begins. */
  #init: RunInit | undefined;
  readonly #hasMiddleware: boolean;
  /** What the agent began, before its middleware. */
  readonly begun: BegunParts | undefined;
  readonly #log: RunLease | undefined;
  readonly #keeper: RunPersistence;
  readonly #stopping = new LazyAbortController();
  readonly #clientTools: ClientToolBroker | undefined;
  /** What the clients have been told; the guard is ahead of it while a store is asked. */
  readonly #view: RunView;
  readonly #guard: Guard;
  /** Where the client has to send back what it receives. */
  readonly #budget: HistoryBudget | undefined;
  readonly #output: AgentOutput;
  readonly #audience: Followers;
  readonly #began: number;
  /** Ids of the calls in its input that only the client vouches for. */
  readonly claimed: ReadonlySet<string> | undefined;
  /** What its thread held before; a list that is not changed. */
  readonly #history: readonly Message[];
  /** Whether the client named its tools. */
  readonly #hasClientTools: boolean;
  /** Names of server tools besides those of the handler. */
  #otherTools: Set<string> | undefined;
  #earlierCalls: EarlierCalls | undefined;
  #outcome: RunOutcome | undefined;
  #desk: RunTools | undefined;
  #agent: Pumping | undefined;
  #started = false;
  #error: AgentError | undefined;

  #offset = 0;
  #delivered = 0;
  #unlogged: OpenEntry[] | undefined;
  /** The last of them, while it can take up what follows. */
  #tail: OpenEntry | undefined = undefined;
  #appending = false;
  /** What the store was asked to keep and has not yet. */
  #stored: readonly SizedEntry[] | undefined;
  #unacknowledged = 0;
  #sinceCheckpoint = 0;
  #turnOpen = false;
  #turnAt = 0;
  #terminal: SizedEntry | undefined;
  /** Nothing is appended any more: the end is being stored, or the store failed. */
  #over = false;
  #told = false;
  #finished = false;
  #unstored: SizedEntry | undefined;
  #storingSince: number | undefined;
  #guarding = false;
  #abortLater: AgentError | undefined;
  #aborting = false;
  #isLateReported = false;

  /** What the guard is looking at. */
  #heard: unknown;
  #size = 0;
  #wake: (() => void) | undefined;
  #waiting: Promise<void> | undefined;
  #graceUntil: number | undefined;
  /** Its place in the ticker; 0 when it has none. */
  #place: number;
  readonly #leaveLease: (() => void) | undefined;

  /** `keeper` is who stores what the run did, where that is not `init` itself. */
  constructor(init: RunInit, settings: RunSettings, keeper: RunPersistence = init) {
    const { threadId, runId, tools } = init.context;
    const input = settleTools(init.input, { runId, tools, logger: settings.logger });
    this.#init = init;
    this.#hasMiddleware = init.middleware.length > 0;
    this.begun = this.#hasMiddleware ? new BegunParts() : undefined;
    this.#log = init.log;
    this.#keeper = keeper;
    this.settings = settings;
    this.#began = settings.clock.now();
    // The agent may change the list it is given.
    this.#history = init.history ?? init.input.messages.slice();
    this.#hasClientTools = init.input.tools.length > 0;
    const { claimed } = init.context;
    this.claimed = claimed?.length ? new Set(claimed) : undefined;
    this.#view = createRunView({
      messages: this.#history,
      state: init.input.state,
      maxBytes: settings.limits.runLogBytes,
    });
    this.#output = new AgentOutput(input, this);
    const { questions } = init;
    this.#clientTools = questions && new ClientToolBroker({ runId, tools: input.tools, questions });
    this.context = createRunContext(
      {
        threadId,
        runId,
        agentId: init.context.agentId,
        principal: init.context.principal,
        requestId: init.context.requestId,
        request: init.context.request,
        files: init.context.files,
        tools,
        metadata: init.context.metadata,
        data: init.context.data,
        answers: init.context.answers,
        lost: init.context.lost,
        stopping: this.#stopping,
        logger: settings.logger,
      },
      this,
      this.#output,
    );
    const { sentHistory } = init;
    this.#budget = sentHistory && new HistoryBudget(this, sentHistory, settings.limits);
    this.#guard = createGuard({
      threadId: this.context.threadId,
      runId: this.context.runId,
      parentRunId: init.input.parentRunId,
      emit: (event, isDelta = false) => this.#accept(event, isDelta),
      state: this.#output.tracker,
      ending: this.#output.ending,
      calls: this,
      strict: settings.strict,
      budget: this.#budget,
      begun: this.begun,
      adopts: init.adopts,
    });
    this.#audience = new Followers(this);
    this.#leaveLease = init.log && onLost(init.log.lease, () => this.#leaseLost());
    // From now on, not from its beginning: whoever asked for it may never come to follow it.
    this.#place = settings.ticker.add(this);
  }

  /** Resolves when the terminal event was delivered. Never rejects. */
  get done(): Promise<RunResult> {
    return this.#ending.done;
  }

  /** Resolves when moreover no client is owed anything. */
  get idle(): Promise<void> {
    return this.#ending.idle;
  }

  get #ending(): RunOutcome {
    return (this.#outcome ??= new RunOutcome());
  }

  /** What its tools share. Most runs call none. */
  desk(): RunTools {
    if (!this.#desk) {
      const { logger, clock, limits } = this.settings;
      const { answers, lost } = this.context.session as ContextSession;
      const { toolTimeoutMs } = limits;
      const clientTools = this.#clientTools;
      const history = answers.length > 0 || lost.length > 0 ? this.#view.messages : undefined;
      const init = { logger, clock, toolTimeoutMs, clientTools, lost, history };
      this.#desk = new RunTools(init, answers);
      // Whatever comes from now on is tidied up at once.
      if (this.#told) this.#desk.disposers.run();
    }
    return this.#desk;
  }

  knowTools(names: readonly string[]): void {
    for (const name of names) (this.#otherTools ??= new Set()).add(name);
  }

  // A client that names no tools has those that the server does not have.
  isClientTool(name: string): boolean {
    if (this.#otherTools?.has(name)) return false;
    if (this.context.tools.some((tool) => tool.name === name)) return false;
    if (this.#output.input.tools.some((tool) => tool.name === name)) return true;
    return !this.#hasClientTools;
  }

  earlierCalls(): EarlierCalls {
    return (this.#earlierCalls ??= new EarlierCalls(this.#history));
  }

  isSettledCall(toolCallId: string, name: string): boolean {
    return this.#desk?.isSettled(toolCallId, name) ?? false;
  }

  callId(id: string): string {
    return this.#guard.callId(id);
  }

  get ended(): boolean {
    return this.#guard.ended;
  }

  get strict(): boolean {
    return this.settings.strict;
  }

  aborting(): boolean {
    return this.#aborting;
  }

  /** The last offset a client can have seen. */
  get delivered(): number {
    return this.#delivered;
  }

  /** Whether the end was told to the clients. */
  get isTold(): boolean {
    return this.#told;
  }

  /** The end of a run whose store failed: no log has it. */
  get unstored(): SizedEntry | undefined {
    return this.#unstored;
  }

  /** What the client sent. */
  get sent(): RunAgentInput {
    return this.#output.input;
  }

  /** All that its clients hold or are about to. */
  held(): ReturnType<BudgetedRun["held"]> {
    if (!this.#view.isWhole) return undefined;
    const events: BaseEvent[] = [];
    for (const { event } of this.#stored ?? []) events.push(event);
    for (const { event, deltas } of this.#unlogged ?? []) {
      events.push(deltas ? { ...event, delta: deltas.join("") } : event);
    }
    return { messages: this.#view.messages, events };
  }

  get followers(): number {
    return this.#audience.size;
  }

  /** Starts the agent. Called by the first follower, or by `collect`. */
  begin(): void {
    if (this.#started || this.ended) return;
    this.#started = true;
    const init = this.#init!;
    this.#init = undefined;
    if (init.prologue && init.prologue.length > 0) this.open();
    for (const event of init.prologue ?? []) this.push(event);
    try {
      this.#agent = pump(this.#call(init), this.#output);
    } catch (error) {
      this.failed(error);
    }
    // The agent may have ended the run before it returned.
    if (this.ended) this.#releaseAgent();
  }

  /** Ends a run that nobody came to follow. */
  discard(): void {
    if (this.#started) return;
    this.#init = undefined;
    this.abort(new AgentError("disconnected", "The client left before the run began."));
  }

  /**
   * Adds a client. `after` is the offset it has seen; entries before the live ones come from the log,
   * for an encoder with memory all of them, told up to the offset in silence.
   */
  follow(encoder: Encoder, sink: Sink, from: number | "join" = 0): void {
    const after = from === "join" ? 0 : from;
    const follower = this.#audience.add(encoder, sink, after);
    this.#followed();
    follower.open();
    if (follower.isGone) return this.begin();
    if (from === "join" && this.#delivered > 0 && !this.#told) {
      const place = { offset: this.#delivered, at: this.settings.clock.now() };
      follower.prelude(toPrelude(this.context, this.#view, place));
      return;
    }
    if (after === this.#delivered && !this.#over) {
      this.begin();
      return;
    }
    const log = this.#log;
    if (!log) return follower.cut();
    // An encoder with memory has to hear all of it.
    this.#audience.catchUp(follower, encoder.key === undefined ? 0 : after, log);
  }

  #followed(): void {
    this.wasFollowed = true;
    this.#graceUntil = undefined;
    if (this.#place === 0) this.#place = this.settings.ticker.add(this);
  }

  /** Drops every client. */
  cut(): void {
    this.#audience.cut();
  }

  /** Waits for the end, and makes it begin if it has not. A client counts as a follower until it has left. */
  collect(client?: ClientPresence, onEvent?: (event: BaseEvent) => void): Promise<RunResult> {
    if (client && !this.ended) {
      this.#audience.wait(client, onEvent);
      this.#followed();
    }
    this.begin();
    return this.done;
  }

  /** Ends the run from outside. The terminal event is told first; then the agent learns of it. */
  abort(reason: AgentError): void {
    if (this.#conclude(reason)) this.#stop(reason);
  }

  /** Hands a client's result to the call that waits for it. False: none does. */
  answer(command: ToolResultCommand): boolean {
    return this.#clientTools?.answer(command) ?? false;
  }

  /** A promise while every client is behind or too much waits for the store; else nothing. */
  ready(): Promise<void> | undefined {
    if (!this.#paused()) return undefined;
    return (this.#waiting ??= new Promise((resolve) => (this.#wake = resolve)));
  }

  tick(now: number): void {
    const { limits } = this.settings;
    this.#audience.tick(now);
    if (this.#storingSince !== undefined && now - this.#storingSince >= limits.appendMs) {
      this.#storeFailed(new Error(`No acknowledgement in ${limits.appendMs} ms.`));
    }
    if (this.ended) return this.#retire();
    if (now - this.#began >= limits.runTimeoutMs) {
      this.abort(new AgentError("timeout", `The run took longer than ${limits.runTimeoutMs} ms.`));
    } else if (this.#graceUntil !== undefined && now >= this.#graceUntil) {
      this.#graceUntil = undefined;
      void this.#graceOver();
    }
  }

  // ── The agent ────────────────────────────────────────────────────────────────────────────────

  // What middleware itself emits does not pass the middleware again.
  #call({ agent, middleware }: RunInit): unknown {
    const { input } = this.#output;
    this.knowTools(serverToolsOf(agent));
    return middleware.length > 0
      ? chain(toRun(agent), middleware)(input, this.context)
      : startAgent(agent, input, this.context);
  }

  open(): void {
    this.#guarding = true;
    try {
      this.#guard.open();
    } finally {
      this.#guarding = false;
    }
    if (this.#abortLater) this.#abortNow(this.#abortLater);
  }

  isLate(): boolean {
    return this.ended;
  }

  reportLate(call: string): void {
    if (this.#isLateReported) return;
    this.#isLateReported = true;
    warnLate(this, call);
  }

  // Once: whoever is unsubscribed from twice may take it amiss.
  #releaseAgent(): void {
    const agent = this.#agent;
    this.#agent = undefined;
    agent?.stop();
  }

  #stop(reason: AgentError | undefined): void {
    this.#aborting = true;
    this.#stopping.abort(reason);
    this.#aborting = false;
    this.#releaseAgent();
  }

  push(said: unknown): void {
    if (this.#tail && this.#hearMore(this.#tail, said)) return;
    let value = said;
    let size = measure(value);
    if (isEndless(size)) {
      value = withoutEndless(said);
      size = measure(value);
    }
    if (size > this.settings.limits.eventBytes) {
      const type = (value as { type?: unknown } | null)?.type;
      return this.abort(
        new AgentError(
          "event-too-large",
          `One ${typeof type === "string" ? type : typeof value} event is larger than ${this.settings.limits.eventBytes} bytes.`,
        ),
      );
    }
    // The guard passes most events on as they are; then their size is known already.
    const before = this.#heard;
    const sizeBefore = this.#size;
    this.#heard = value;
    this.#size = size;
    this.#guarding = true;
    try {
      this.#guard.push(value);
    } finally {
      this.#guarding = false;
      // Whoever listens may have said this while something else is still being told.
      this.#heard = before;
      this.#size = sizeBefore;
    }
    if (this.#abortLater) this.#abortNow(this.#abortLater);
  }

  // What goes on with the last text passes every stage by a look: nothing about it can be wrong.
  #hearMore(tail: OpenEntry, said: unknown): boolean {
    const { type, messageId, toolCallId } = tail.event;
    let delta = said;
    if (typeof said === "string") {
      if (said === "" || messageId === undefined || messageId !== this.#guard.textId) return false;
      if (type !== EventType.TEXT_MESSAGE_CONTENT) return false;
    } else {
      if (!this.#guard.isDelta(said) || !continues(tail, said)) return false;
      delta = said.delta;
    }
    if (typeof delta !== "string") return false;
    const size = sizeOfText(type, (messageId ?? toolCallId) as string, delta);
    if (size > this.settings.limits.eventBytes) return false;
    if (this.#budget && !this.#budget.spend(delta)) return false;
    return this.#prolong(tail, delta, size);
  }

  completed(): void {
    this.#guarding = true;
    try {
      this.#guard.complete();
    } finally {
      this.#guarding = false;
    }
    if (this.#abortLater) this.#abortNow(this.#abortLater);
  }

  #abortNow(reason: AgentError): void {
    this.#abortLater = undefined;
    if (this.ended) this.#releaseAgent();
    else this.abort(reason);
  }

  /** Says the last word of the run. False: it was said, or it has to wait. */
  #conclude(reason: AgentError): boolean {
    if (this.ended) return false;
    // A client can be cut while the guard is still speaking; its sentence is finished first.
    if (this.#guarding) {
      this.#abortLater ??= reason;
      return false;
    }
    this.#error = cancelling.has(reason.code) ? undefined : reason;
    if (cancelling.has(reason.code)) this.#guard.cancel();
    else this.#guard.fail({ message: reason.message, code: reason.code });
    return true;
  }

  advise(advice: string): void {
    if (this.ended || !this.settings.development) return;
    const { runId, threadId, agentId } = this.context;
    this.#logger.warn({ runId, threadId, agentId }, advice);
  }

  failed(reason: unknown): void {
    if (this.ended) return;
    const { debug } = this.settings;
    const { runId, threadId, agentId } = this.context;
    this.#logger.error({ error: reason, runId, threadId, agentId }, "The agent failed.");
    const { code, message } = describeError(reason, debug);
    // It ended itself: what it has left hears of it after the clients have.
    this.#conclude(new AgentError(code, message, { cause: reason }));
  }

  // ── Number, append, deliver ──────────────────────────────────────────────────────────────────

  #accept(said: BaseEvent, isDelta: boolean): void {
    if (this.#terminal) return;
    if (isDelta && this.#tail && continues(this.#tail, said)) {
      const { delta } = said;
      const size = said === this.#heard ? this.#size : sizeOf(said);
      if (typeof delta === "string" && this.#prolong(this.#tail, delta, size)) return;
    }
    // The agent's own object, which it may change or use again while ours waits to be sent.
    const isForeign = said === this.#heard;
    // Of a text the guard makes events in which nothing is the agent's.
    const event = typeof this.#heard === "string" ? said : copyEvent(said, isForeign);
    // A getter of the author's that says now this, now that: nobody could fold or keep it.
    if (isDelta && typeof event.delta !== "string") return;
    const size = isForeign ? this.#size : sizeOf(event);
    const offset = ++this.#offset;
    // For texts the clock is looked at once per turn, which lasts a few milliseconds at most.
    if (!this.#turnOpen || typeof this.#heard !== "string")
      this.#turnAt = this.settings.clock.now();
    const at = this.#turnAt;
    const entry: OpenEntry = {
      from: offset,
      to: offset,
      at,
      event,
      size,
      cuts: undefined,
      deltas: undefined,
    };
    if (isTerminal(event)) {
      this.#terminal = entry;
      this.#flush();
      return;
    }
    this.#unacknowledged += size;
    if (!this.#turnOpen) this.#openTurn(entry);
    else {
      this.#keep(entry, isDelta);
    }
    this.#accepted();
  }

  // Most of what an agent says goes on with what it said just before, in the same turn.
  #prolong(tail: OpenEntry, delta: string, size: number): boolean {
    if (!appendDelta(tail, delta, size)) return false;
    this.#offset++;
    this.#unacknowledged += size;
    this.#accepted();
    return true;
  }

  #accepted(): void {
    if (this.#unacknowledged > turnBytes) this.#flush();
    // An agent that cannot be paused, and a store that does not answer.
    if (this.#appending && this.#unacknowledged > this.settings.limits.runLogBytes) {
      this.abort(new AgentError("store-unavailable", "The store does not keep up with the run."));
    }
  }

  // The first event of a turn goes out at once; what follows in the same turn leaves as one write. The end
  // of the turn is asked for first, so that a sink that gathers a tick's writes gathers these, too.
  #openTurn(first: OpenEntry): void {
    this.#turnOpen = true;
    atTurnEnd(this);
    // Where nobody is sent anything, nobody waits for the first.
    if (this.#appending || this.#over || this.#audience.isQuiet) this.#keep(first, false);
    // At the pace of a model that is all of the turn.
    else this.#store([first]);
  }

  endTurn(): void {
    this.#turnOpen = false;
    this.#flush();
  }

  // Only what stands last can grow: while a store is asked, the line of an earlier turn may still be here.
  #keep(entry: OpenEntry, canGrow: boolean): void {
    if (this.#unlogged) this.#unlogged.push(entry);
    else this.#unlogged = [entry];
    this.#tail = canGrow ? entry : undefined;
  }

  #flush(): void {
    if (this.#appending || this.#over) return;
    const batch = this.#unlogged;
    if (!batch) {
      if (this.#terminal) this.#close(this.#terminal);
      return;
    }
    this.#unlogged = undefined;
    this.#tail = undefined;
    for (const entry of batch) sealDeltas(entry);
    this.#store(batch);
  }

  #store(batch: readonly SizedEntry[]): void {
    const log = this.#log;
    if (!log) return this.#acknowledged(batch);
    let stored: void | Promise<void>;
    try {
      stored = log.runs.append(log.lease, batch);
    } catch (error) {
      return this.#storeFailed(error);
    }
    if (!stored) return this.#acknowledged(batch);
    this.#appending = true;
    this.#stored = batch;
    this.#storingSince = this.settings.clock.now();
    stored.then(
      () => {
        this.#appending = false;
        this.#stored = undefined;
        this.#storingSince = undefined;
        if (!this.#over) this.#acknowledged(batch);
      },
      (error: unknown) => this.#storeFailed(error),
    );
  }

  #acknowledged(batch: readonly SizedEntry[]): void {
    for (const entry of batch) {
      this.#unacknowledged -= entry.size;
      this.#sinceCheckpoint += entry.size;
    }
    // An encoder or a sink may make the agent emit: that waits until every client has this batch.
    this.#appending = true;
    try {
      this.#deliver(batch);
    } finally {
      this.#appending = false;
    }
    if (this.#sinceCheckpoint > this.settings.limits.runLogBytes / 4) this.#checkpoint();
    this.paceChanged();
    if (this.#terminal || (this.#unlogged && !this.#turnOpen)) this.#flush();
  }

  // Whoever joins through another process folds the log over the session; what the log is about to
  // lose has to be there by then.
  #checkpoint(): void {
    this.#sinceCheckpoint = 0;
    const keeper = this.#keeper;
    if (!keeper.checkpoint) return;
    const store = async (): Promise<unknown> =>
      keeper.checkpoint!({
        messages: this.#view.messages,
        state: this.#view.state,
        offset: this.#delivered,
        open: this.#view.open(),
        times: this.#view.times,
      });
    store().catch((error: unknown) => {
      this.settings.logger.warn({ error, runId: this.context.runId }, "A checkpoint failed.");
    });
  }

  #deliver(batch: readonly SizedEntry[]): void {
    this.#delivered = Math.max(this.#delivered, batch.at(-1)!.to);
    for (const { event, at } of batch) this.#view.apply(event, at);
    this.#audience.deliver(batch);
  }

  // ── The end: save, close the log, tell the clients ───────────────────────────────────────────

  #close(terminal: SizedEntry): void {
    this.#over = true;
    this.status = statusOf(terminal.event);
    const log = this.#log;
    const summary: RunSummary = {
      status: this.status,
      terminal: terminal.event,
      messages: this.#view.messages,
      state: this.#view.state,
      times: this.#view.times,
      metadata: changesOf(this.context),
      asked: this.#desk?.asked ?? nothingAsked,
      pendingCalls: this.#pendingCalls(),
      hasBegun: this.#started,
    };
    try {
      const saved = this.#keeper.save?.(summary);
      const closed = after(saved, () => log?.runs.close(log.lease, terminal, this.status));
      const told = after(closed, () => this.#tell(terminal));
      if (!isPromise(told)) return;
      this.#storingSince = this.settings.clock.now();
      told.catch((error: unknown) => this.#storeFailed(error));
    } catch (error) {
      this.#storeFailed(error);
    }
  }

  // A call that was waited for in the run is given up with it.
  #pendingCalls(): readonly string[] {
    const calls = this.#guard.pendingCalls();
    const inline = this.#clientTools;
    return inline ? calls.filter((id) => !inline.hasAsked(id)) : calls;
  }

  #tell(terminal: SizedEntry): void {
    if (this.#told) return;
    this.#told = true;
    this.#storingSince = undefined;
    this.#deliver([terminal]);
    this.#audience.close();
    const stage = this.#hasMiddleware ? "middleware" : "agent";
    reportRepairs(this.context, stage, this.#guard);
    if (this.status === "finished") reportUnmade(this.context, this.#desk, this.#view.messages);
    // A run that failed of itself (the agent's own RUN_ERROR, a violation) has no use for its agent: it
    // tidies up, and in the next turn whatever it has left is told to stop.
    if (this.status === "failed" && !this.#stopping.aborted) {
      this.#releaseAgent();
      nextMacrotask(() => this.#stop(this.#error ?? errorOf(terminal.event)));
    } else {
      // After its own RUN_FINISHED it may tidy up, but is not asked for more.
      nextMacrotask(() => this.#releaseAgent());
    }
    this.#finish(terminal.event);
    this.#retire();
  }

  // The store is away: the clients still get an end, without an offset of its own.
  #storeFailed(error: unknown, reason = failureOf(error)): void {
    if (this.#told) return;
    const { clock } = this.settings;
    const { runId, threadId } = this.context;
    this.#logger.error({ error, runId, threadId }, "The run could not be stored.");
    this.#over = true;
    this.#unlogged = undefined;
    this.status = "failed";
    this.#error = reason;
    const { code, message } = reason;
    const event = { type: EventType.RUN_ERROR, message, code };
    const to = this.#delivered;
    this.#release({ from: to + 1, to: to + 1, at: clock.now(), event });
    // The guard ends too; what it says finds the run over and goes nowhere.
    this.abort(reason);
    this.#unstored = { from: noOffset, to: noOffset, at: clock.now(), event, size: 64 };
    this.#tell(this.#unstored);
  }

  // The thread is freed if the store can still be reached; if not, the lease runs out by itself.
  #release(terminal: LogEntry): void {
    const log = this.#log;
    if (!log) return;
    const { runs, lease } = log;
    const close = async (): Promise<void> => {
      // What was given up on may have been stored after all: the log knows its last offset best.
      const record = await runs.find(lease.principal, lease.runId);
      if (record?.status !== "running") return;
      const at = record.last + 1;
      await runs.close(lease, { ...terminal, from: at, to: at }, "failed");
    };
    close().catch((error: unknown) => {
      this.#logger.debug({ error, runId: this.context.runId }, "The lease was not freed.");
    });
  }

  #leaseLost(): void {
    this.#storeFailed(new Error("The lease of the run was lost."), lostRun());
  }

  #finish(terminal: BaseEvent): void {
    this.#finished = true;
    this.#ending.finish({
      messages: this.#view.messages,
      state: this.#view.state,
      error: this.#error ?? errorOf(terminal),
      usage: (terminal.usage as RunResult["usage"] | undefined) ?? [],
      ms: this.settings.clock.now() - this.#began,
    });
    this.#wake?.();
    this.#desk?.disposers.run();
    // The log outlives the run; through this listener it would keep all of it.
    this.#leaveLease?.();
    this.#keeper.onEnd?.(this);
  }

  // ── Followers and pace ───────────────────────────────────────────────────────────────────────

  get #logger(): Logger {
    return new SafeLogger(this.settings.logger);
  }

  clientFailed(error: unknown, message: string): void {
    this.#logger.error({ error, runId: this.context.runId }, message);
  }

  #paused(): boolean {
    return this.#unacknowledged > this.settings.limits.appendBytes || this.#audience.isBehind;
  }

  paceChanged(): void {
    if (!this.#waiting || this.#paused()) return;
    this.#waiting = undefined;
    this.#wake?.();
  }

  left(complete: boolean): void {
    this.paceChanged();
    if (this.ended) return this.#retire();
    if (this.#audience.size > 0 || complete) return;
    const { onDisconnect, clock } = this.settings;
    if (onDisconnect === "abort") this.abort(disconnected());
    else if (onDisconnect !== "continue") this.#graceUntil = clock.now() + onDisconnect.graceMs;
  }

  async #graceOver(): Promise<void> {
    const log = this.#log;
    try {
      if (log && (await log.runs.watchers(log.lease)) > 0) {
        const { onDisconnect, clock } = this.settings;
        if (typeof onDisconnect === "object") this.#graceUntil = clock.now() + onDisconnect.graceMs;
        return;
      }
    } catch (error) {
      this.#logger.warn({ error, runId: this.context.runId }, "Counting watchers failed.");
    }
    if (this.#audience.size === 0) this.abort(disconnected());
  }

  // Not before it has finished: the last client may have everything by then, and a promise that is
  // resolved twice is dear on Node.
  #retire(): void {
    if (!this.#finished || this.#audience.size > 0) return;
    this.settings.ticker.remove(this.#place);
    this.#place = 0;
    this.#ending.rest();
    this.#keeper.onIdle?.(this);
  }
}

// What cannot be read is not an event, and the guard says so.
function measure(value: unknown): number {
  try {
    return sizeOf(value);
  } catch {
    return 0;
  }
}

function disconnected(): AgentError {
  return new AgentError("disconnected", "The last client left.");
}
