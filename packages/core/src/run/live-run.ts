import type { BaseEvent } from "@ag-ui/core";
import { hasClientTools } from "../agent/context.ts";
import type { RunContext } from "../contract/context.ts";
import { AgentError } from "../contract/errors.ts";
import type { Encoder, Sink } from "../contract/exchange.ts";
import type { RunResult } from "../contract/protocol.ts";
import type { RunStatus } from "../contract/run-log.ts";
import type { SizedEntry } from "../delta/merged-entry.ts";
import type { ToolResultCommand } from "../tools/client-tools.ts";
import { settleTools } from "../tools/definitions.ts";
import { createRunView } from "../view/run-view.ts";
import type { RunView } from "../view/run-view.ts";
import type { ClientPresence } from "./clients/collector.ts";
import { Followers } from "./clients/followers.ts";
import { Ending } from "./ending.ts";
import { HostedAgent } from "./hosted-agent.ts";
import { Intake } from "./intake.ts";
import { isEndDelivered, isGoing, toPhase } from "./phase.ts";
import type { RunPhase } from "./phase.ts";
import { TurnLog } from "./turn-log.ts";
import type { RunInit, RunLease, RunPersistence, RunSettings } from "./types.ts";

const none: readonly never[] = Object.freeze([]);

/**
 * A run. The values of its agent (HostedAgent) become valid events (Intake), which are numbered and stored
 * (TurnLog) and sent to the clients (Followers), up to exactly one terminal event (Ending). This class
 * connects them and holds the phase of the run; which phase follows which is in phase.ts.
 */
export class LiveRun {
  readonly settings: RunSettings;
  readonly context: RunContext;
  readonly clients: Followers;
  readonly keeper: RunPersistence;
  readonly lease: RunLease | undefined;
  /** What the clients have received; the guard is ahead of it while the store is busy. */
  readonly view: RunView;
  /** When it was made. */
  readonly began: number;
  /** The last offset a client can have seen. */
  delivered = 0;
  /** True once a client has followed it. */
  wasFollowed = false;
  #phase: RunPhase = "waiting";
  readonly #agent: HostedAgent;
  readonly #turns: TurnLog;
  readonly #intake: Intake;
  #ending: Ending | undefined = undefined;
  /** In the ticker. */
  #handle: number;

  /** `keeper` stores the run, where that is not `init` itself. */
  constructor(init: RunInit, settings: RunSettings, keeper: RunPersistence = init) {
    const { logger, limits, clock, ticker } = settings;
    const { runId, tools = none } = init.context;
    // Without tools of the client there is nothing to settle.
    const hasTools = init.input.tools.length > 0 || hasClientTools(tools);
    const input = hasTools ? settleTools(init.input, { runId, tools, logger }) : init.input;
    this.settings = settings;
    this.keeper = keeper;
    this.lease = init.log;
    this.began = clock.now();
    const agent = new HostedAgent(this, init, input);
    const turns = new TurnLog(this, init.log);
    const intake = new Intake(this, init, { input, agent, turns });
    this.#agent = agent;
    this.#turns = turns;
    this.#intake = intake;
    this.clients = new Followers(this);
    const { state } = init.input;
    const maxBytes = limits.runLogBytes;
    this.view = createRunView({ messages: agent.history, state, maxBytes });
    this.context = agent.createContext(init.context, intake.output);
    // From now on, not from its beginning: the client that asked for it may never follow it.
    this.#handle = ticker.add(this);
    init.log?.lease.onLost(() => this.post(() => this.ending.leaseLost()));
  }

  // ── Its phase ────────────────────────────────────────────────────────────────────────────────

  get phase(): RunPhase {
    return this.#phase;
  }

  /** Whether the terminal event is known. */
  get ended(): boolean {
    return !isGoing(this.#phase);
  }

  get isEndDelivered(): boolean {
    return isEndDelivered(this.#phase);
  }

  #enter(next: RunPhase): void {
    this.#phase = toPhase(this.#phase, next);
  }

  /** Starts the agent. Called by the first follower, or by `collect`. */
  begin(): void {
    if (this.#phase !== "waiting") return;
    this.#enter("running");
    this.#agent.start(this.#intake);
  }

  /** The guard accepted the terminal event. */
  finish(terminal: BaseEvent, size: number): void {
    // After a failure of the store the guard's own end is dropped.
    if (this.ended) return;
    this.#enter("ending");
    this.#turns.finish(terminal, size);
  }

  /** The store failed: nothing more is stored. */
  abandon(): void {
    if (!this.ended) this.#enter("ending");
    this.#turns.abandon();
  }

  deliverEnd(terminal: SizedEntry): void {
    this.#enter("delivering");
    this.stored([terminal]);
    this.clients.close();
  }

  /** The end was delivered, and the result is known. */
  finished(): void {
    this.#intake.wake();
    this.#agent.dispose();
    this.keeper.onEnd?.(this);
    this.#enter("ended");
    this.#drain();
  }

  // Not before `onEnd` was called: the last client may have everything by then.
  #drain(): void {
    if (this.#phase !== "ended" || this.followers > 0) return;
    this.#enter("drained");
    this.settings.ticker.remove(this.#handle);
    this.ending.drained();
    this.keeper.onIdle?.(this);
  }

  #followed(): void {
    this.wasFollowed = true;
    if (this.#phase !== "drained") return;
    this.#enter("ended");
    this.#handle = this.settings.ticker.add(this);
  }

  // ── Its end ──────────────────────────────────────────────────────────────────────────────────

  get ending(): Ending {
    return (this.#ending ??= new Ending(this, this.#agent, this.#intake));
  }

  get status(): RunStatus {
    return this.#ending?.status ?? "running";
  }

  /** Resolves when the terminal event was delivered. Never rejects. */
  get done(): Promise<RunResult> {
    return this.ending.done;
  }

  /** Resolves when moreover no client is owed anything. */
  get idle(): Promise<void> {
    return this.ending.idle;
  }

  /** Ends the run. The clients receive the terminal event first; then the agent is stopped. */
  abort(reason: AgentError): void {
    this.#intake.abort(reason);
  }

  /** Does what another request asks of this run: at once, or in its own request where it has to be. */
  post(task: () => void): void {
    this.settings.ticker.post(this.#handle, task);
  }

  /** Whether the request that carries it has ended before it: nothing of it will go on. */
  get isForsaken(): boolean {
    return this.settings.ticker.isForsaken(this.#handle);
  }

  /** Ends a run that no client has followed. */
  discard(): void {
    if (this.#phase !== "waiting") return;
    this.abort(new AgentError("disconnected", "The client left before the run began."));
  }

  // ── Its clients ──────────────────────────────────────────────────────────────────────────────

  /** Adds a client, and begins the run if it is waiting. `from` is the last offset that the client has seen. */
  follow(encoder: Encoder, sink: Sink, from: number | "join" = 0): void {
    this.#followed();
    this.clients.follow(encoder, sink, from);
  }

  /** Waits for the end, and begins the run if it is waiting. A client counts as a follower until it has left. */
  collect(client?: ClientPresence, onEvent?: (event: BaseEvent) => void): Promise<RunResult> {
    if (client && !this.ended) {
      this.#followed();
      this.clients.collect(client, onEvent);
    }
    this.begin();
    return this.done;
  }

  /** Passes a client's result to the call that waits for it. Returns false when none does. */
  answer(command: ToolResultCommand): boolean {
    return this.#agent.answer(command);
  }

  /** Drops every client. */
  cut(): void {
    this.clients.cut();
  }

  get followers(): number {
    return this.clients.size;
  }

  get isLogClosed(): boolean {
    return this.#turns.isClosed;
  }

  /** Entries are stored, or cannot be: the clients may receive them. */
  stored(batch: readonly SizedEntry[]): void {
    this.delivered = Math.max(this.delivered, batch.at(-1)!.to);
    for (const { event, at } of batch) this.view.apply(event, at);
    this.clients.deliver(batch);
  }

  left(): void {
    this.paceChanged();
    this.#drain();
  }

  // ── Pace and time ────────────────────────────────────────────────────────────────────────────

  ready(): Promise<void> | undefined {
    return this.#intake.ready();
  }

  paceChanged(): void {
    this.#intake.paceChanged();
  }

  tick(now: number): void {
    const { appendMs, runTimeoutMs } = this.settings.limits;
    this.clients.tick(now);
    const since = this.#turns.storingSince ?? this.#ending?.storingSince;
    if (since !== undefined && now - since >= appendMs) {
      this.ending.storeFailed(new Error(`No acknowledgement in ${appendMs} ms.`));
    }
    if (this.ended) return this.#drain();
    if (now - this.began < runTimeoutMs) return this.clients.checkGrace(now);
    this.abort(new AgentError("timeout", `The run took longer than ${runTimeoutMs} ms.`));
  }
}
