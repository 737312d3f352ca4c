import type { BaseEvent } from "@ag-ui/core";
import { toShareOwner } from "../../base/byte-budget.ts";
import type { ByteBudget } from "../../base/byte-budget.ts";
import { dateOf } from "../../base/time/clock.ts";
import { SafeLogger } from "../../base/logger.ts";
import type { Logger, RunContext } from "../../contract/context.ts";
import { AgentError } from "../../contract/errors.ts";
import type { Chunk, Encoder, Sink } from "../../contract/exchange.ts";
import type { SizedEntry } from "../../delta/merged-entry.ts";
import { toPrelude } from "../../view/prelude.ts";
import type { RunView } from "../../view/run-view.ts";
import type { RunLease, RunSettings } from "../types.ts";
import { catchUp } from "./catch-up.ts";
import type { RunAhead } from "./catch-up.ts";
import { Collector } from "./collector.ts";
import type { ClientPresence, CollectorHost } from "./collector.ts";
import { endReplay } from "./end-replay.ts";
import { Follower, encodeAll } from "./follower.ts";
import type { FollowerHost } from "./follower-host.ts";

/** What the clients of a run need from the run. */
export interface FollowersHost extends RunAhead {
  readonly settings: RunSettings;
  readonly context: RunContext;
  readonly view: RunView;
  readonly lease: RunLease | undefined;
  /** Whether the terminal event is known. */
  readonly ended: boolean;
  /** Whether no more live entries will come. */
  readonly isLogClosed: boolean;
  begin(): void;
  abort(reason: AgentError): void;
  /** Does what another request asks of the run. */
  post(task: () => void): void;
  /** A client left, or has everything. */
  left(): void;
  /** Whether a client keeps up may have changed. */
  paceChanged(): void;
}

const none: readonly never[] = Object.freeze([]);

/** The clients of a run: which of them are behind, what each of them is sent, and what happens when the last leaves. */
export class Followers implements FollowerHost, CollectorHost {
  readonly #run: FollowersHost;
  // Replaced and never changed: a client may leave while the list is iterated.
  #followers: readonly Follower[] = none;
  /** Clients that wait for the end only. */
  #collectors: readonly Collector[] = none;
  /** When a run without clients is aborted. */
  #graceUntil: number | undefined = undefined;

  constructor(run: FollowersHost) {
    this.#run = run;
  }

  get size(): number {
    return this.#followers.length + this.#collectors.length;
  }

  /** Whether no client is sent anything before the end. */
  get isQuiet(): boolean {
    return this.#followers.length === 0;
  }

  /** Whether there are clients, and all of them are behind. */
  get isBehind(): boolean {
    if (this.#collectors.length > 0) return false;
    const followers = this.#followers;
    for (let at = 0; at < followers.length; at++) if (!followers[at]!.blocked) return false;
    return followers.length > 0;
  }

  /**
   * Adds a client. `from` is the last offset it has seen; entries before the live ones come from the log.
   * An encoder with memory receives all of them, and sends those after the offset.
   */
  follow(encoder: Encoder, sink: Sink, from: number | "join"): void {
    const run = this.#run;
    const after = from === "join" ? 0 : from;
    const follower = this.#add(encoder, sink, after);
    follower.open();
    if (follower.isGone) return run.begin();
    if (from === "join" && run.delivered > 0 && !run.isEndDelivered) {
      const place = { offset: run.delivered, at: this.#date };
      return follower.prelude(toPrelude(run.context, run.view, place));
    }
    if (after === run.delivered && !run.isLogClosed) return run.begin();
    if (!run.lease) return follower.cut();
    this.#catchUp(follower, encoder.key === undefined ? 0 : after, run.lease);
  }

  #add(encoder: Encoder, sink: Sink, after: number): Follower {
    this.#graceUntil = undefined;
    const follower = new Follower(this, { encoder, sink, after });
    // Not spread: a list that is built element by element reserves room for sixteen.
    this.#followers = this.#followers.concat(follower);
    return follower;
  }

  #catchUp(follower: Follower, after: number, lease: RunLease): void {
    follower.isCatchingUp = true;
    catchUp(follower, this.#run, { after, lease }).catch((error: unknown) => {
      this.#logger.error({ error, runId: this.#run.context.runId }, "A replay failed.");
      endReplay(follower, error, this.#date);
    });
  }

  /** Adds a client that waits for the end. */
  collect(client: ClientPresence, onEvent?: (event: BaseEvent) => void): void {
    this.#graceUntil = undefined;
    const collector = new Collector(this, onEvent);
    this.#collectors = [...this.#collectors, collector];
    collector.watch(client);
  }

  /** Sends entries to every client that is not catching up, and cuts one that fails. */
  deliver(batch: readonly SizedEntry[]): void {
    if (this.#collectors !== none) {
      for (const collector of this.#collectors) collector.deliver(batch);
    }
    const followers = this.#followers;
    // Followers with the same encoding share the bytes.
    let key: string | undefined;
    let chunk: Chunk | undefined;
    for (const follower of followers) {
      const { encoder } = follower;
      if (follower.isCatchingUp) continue;
      try {
        if (followers.length === 1 || encoder.key === undefined) follower.deliver(batch);
        else {
          if (encoder.key !== key) chunk = undefined;
          key = encoder.key;
          chunk ??= encodeAll(encoder, batch);
          follower.deliver(batch, chunk);
        }
      } catch (error) {
        this.failed(error);
        follower.cut();
      }
    }
  }

  /** Nothing more will come. A client that is catching up is closed when it has everything. */
  close(): void {
    for (const collector of this.#collectors) collector.leave(true);
    for (const follower of this.#followers) if (!follower.isCatchingUp) follower.close();
  }

  /** Drops every client. */
  cut(): void {
    for (const collector of this.#collectors) collector.leave(false);
    for (const follower of this.#followers) follower.cut();
  }

  tick(now: number): void {
    for (const follower of this.#followers) follower.tick(now);
  }

  // ── What its clients ask ───────────────────────────────────────────────────────────────────────

  get maxBytes(): number {
    return this.#run.settings.limits.followerBytes;
  }

  get stallMs(): number {
    return this.#run.settings.limits.stallMs;
  }

  get heartbeatMs(): number {
    return this.#run.settings.heartbeatMs;
  }

  get unsent(): ByteBudget | undefined {
    return this.#run.settings.unsent;
  }

  get owner(): string {
    const { principal, request } = this.#run.context;
    return toShareOwner(principal, request?.ip);
  }

  now(): number {
    return this.#run.settings.clock.now();
  }

  post(task: () => void): void {
    this.#run.post(task);
  }

  left(follower: Follower, complete: boolean): void {
    this.#followers = this.#followers.filter((one) => one !== follower);
    this.#gone(complete);
  }

  waited(collector: Collector, complete: boolean): void {
    this.#collectors = this.#collectors.filter((one) => one !== collector);
    this.#gone(complete);
  }

  paceChanged(): void {
    this.#run.paceChanged();
  }

  failed(error: unknown): void {
    const { runId } = this.#run.context;
    this.#logger.error({ error, runId }, "A client could not be written to.");
  }

  // ── The last one leaves ──────────────────────────────────────────────────────────────────────

  #gone(complete: boolean): void {
    const run = this.#run;
    run.left();
    if (run.ended || this.size > 0 || complete) return;
    if (run.settings.onDisconnect === "abort") run.abort(lastLeft());
    else this.#beginGrace();
  }

  #beginGrace(): void {
    const { onDisconnect } = this.#run.settings;
    if (typeof onDisconnect === "object") this.#graceUntil = this.now() + onDisconnect.graceMs;
  }

  /** Aborts a run that has had no client for too long. */
  checkGrace(now: number): void {
    if (this.#graceUntil === undefined || now < this.#graceUntil) return;
    this.#graceUntil = undefined;
    void this.#endGrace();
  }

  async #endGrace(): Promise<void> {
    const { lease } = this.#run;
    try {
      // Clients may follow the run through other processes.
      if (lease && (await lease.runs.watchers(lease.lease)) > 0) return this.#beginGrace();
    } catch (error) {
      const { runId } = this.#run.context;
      this.#logger.warn({ error, runId }, "Counting watchers failed.");
    }
    if (this.size === 0) this.#run.abort(lastLeft());
  }

  get #date(): number {
    return dateOf(this.#run.settings.clock);
  }

  get #logger(): Logger {
    return new SafeLogger(this.#run.settings.logger);
  }
}

function lastLeft(): AgentError {
  return new AgentError("disconnected", "The last client left.");
}
