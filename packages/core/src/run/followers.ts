import { endReplay } from "./end-replay.ts";
import { Follower, encodeAll } from "./follower.ts";
import type { FollowerHost } from "./follower.ts";
import type { SizedEntry } from "../delta/merged-entry.ts";
import type { RunLease, RunSettings } from "./types.ts";
import { sizeOfEvent } from "../delta/event-size.ts";
import type { BaseEvent } from "@ag-ui/core";
import type { Chunk, Encoder, Sink } from "../contract/exchange.ts";
import { Collector } from "./collector.ts";
import type { ClientPresence, CollectorHost } from "./collector.ts";

/** What an audience asks of the run it follows. */
export interface FollowersHost {
  readonly settings: RunSettings;
  /** The last offset a client can have seen. */
  readonly delivered: number;
  /** Whether the end was told. */
  readonly isTold: boolean;
  /** The end of a run whose store failed: no log has it. */
  readonly unstored: SizedEntry | undefined;
  /** A client left, or has everything. */
  left(complete: boolean): void;
  /** Whether somebody keeps up may have changed. */
  paceChanged(): void;
  /** A client could not be written to. */
  clientFailed(error: unknown, message: string): void;
}

const nobody: readonly never[] = Object.freeze([]);

/** The clients of a run: who they are, who is behind, and what each of them is told. */
export class Followers implements FollowerHost, CollectorHost {
  readonly #stage: FollowersHost;
  // Replaced and never changed: whoever is told something may leave over it.
  #followers: readonly Follower[] = nobody;
  /** Who waits for the end only. */
  #waiters: readonly Collector[] = nobody;

  constructor(stage: FollowersHost) {
    this.#stage = stage;
  }

  get size(): number {
    return this.#followers.length + this.#waiters.length;
  }

  /** Whether nobody is sent anything before the end. */
  get isQuiet(): boolean {
    return this.#followers.length === 0;
  }

  /** Whether there is somebody, and everybody is behind. */
  get isBehind(): boolean {
    if (this.#waiters.length > 0) return false;
    for (const follower of this.#followers) if (!follower.blocked) return false;
    return this.#followers.length > 0;
  }

  /** `after` is the offset that the client has seen. */
  add(encoder: Encoder, sink: Sink, after: number): Follower {
    const follower = new Follower(this, { encoder, sink, after });
    // Not spread: a list that is made piece by piece gets room for sixteen.
    this.#followers = this.#followers.concat(follower);
    return follower;
  }

  /** Adds somebody who waits for the end. */
  wait(client: ClientPresence, onEvent?: (event: BaseEvent) => void): void {
    const waiter = new Collector(this, onEvent);
    this.#waiters = [...this.#waiters, waiter];
    waiter.watch(client);
  }

  deliver(batch: readonly SizedEntry[]): void {
    for (const waiter of this.#waiters) waiter.deliver(batch);
    const followers = this.#followers;
    if (followers.length === 1) return this.#hand(followers[0]!, batch);
    // Followers that speak the same language share the bytes.
    let key: string | undefined;
    let chunk: Chunk | undefined;
    for (const follower of followers) {
      const { encoder } = follower;
      if (encoder.key === undefined || follower.isCatchingUp) this.#hand(follower, batch);
      else {
        if (encoder.key !== key) {
          key = encoder.key;
          chunk = this.#encode(encoder, batch);
        }
        if (chunk === undefined) follower.cut();
        else this.#hand(follower, batch, chunk);
      }
    }
  }

  /** Nothing more will come. Whoever is still catching up is told when it has. */
  close(): void {
    for (const waiter of this.#waiters) waiter.leave(true);
    for (const follower of this.#followers) if (!follower.isCatchingUp) follower.close();
  }

  /** Drops every client. */
  cut(): void {
    for (const waiter of this.#waiters) waiter.leave(false);
    for (const follower of this.#followers) follower.cut();
  }

  tick(now: number): void {
    for (const follower of this.#followers) follower.tick(now);
  }

  /** Tells a client what the log has after an offset, until it has come to what is live. */
  catchUp(follower: Follower, after: number, log: RunLease): void {
    follower.isCatchingUp = true;
    this.#read(follower, after, log).catch((error: unknown) => {
      this.#stage.clientFailed(error, "A replay failed.");
      endReplay(follower, error, this.now());
    });
  }

  async #read(follower: Follower, start: number, { runs, lease }: RunLease): Promise<void> {
    const { principal, threadId, runId } = lease;
    const stage = this.#stage;
    let after = start;
    while (!follower.isGone) {
      if (follower.blocked) await new Promise<void>((resolve) => (follower.wake = resolve));
      if (after >= stage.delivered) break;
      const entries = await runs.read({ principal, threadId, runId }, after, 256);
      if (entries.length === 0) break;
      follower.deliver(entries.map((entry) => ({ ...entry, size: sizeOfEvent(entry.event) })));
      after = entries.at(-1)!.to;
    }
    follower.isCatchingUp = false;
    // While the end is being stored it is still to come.
    if (!stage.isTold) return;
    if (stage.unstored && after <= stage.delivered) follower.deliver([stage.unstored]);
    follower.close();
  }

  #hand(follower: Follower, batch: readonly SizedEntry[], chunk?: Chunk): void {
    if (follower.isCatchingUp) return;
    try {
      follower.deliver(batch, chunk);
    } catch (error) {
      this.failed(error);
      follower.cut();
    }
  }

  #encode(encoder: Encoder, batch: readonly SizedEntry[]): Chunk | undefined {
    try {
      return encodeAll(encoder, batch);
    } catch (error) {
      this.failed(error);
      return undefined;
    }
  }

  // ── What followers ask ───────────────────────────────────────────────────────────────────────

  get maxBytes(): number {
    return this.#stage.settings.limits.followerBytes;
  }

  get stallMs(): number {
    return this.#stage.settings.limits.stallMs;
  }

  get heartbeatMs(): number {
    return this.#stage.settings.heartbeatMs;
  }

  now(): number {
    return this.#stage.settings.clock.now();
  }

  left(follower: Follower, complete: boolean): void {
    this.#followers = this.#followers.filter((one) => one !== follower);
    this.#stage.left(complete);
  }

  waited(waiter: Collector, complete: boolean): void {
    this.#waiters = this.#waiters.filter((one) => one !== waiter);
    this.#stage.left(complete);
  }

  paceChanged(): void {
    this.#stage.paceChanged();
  }

  failed(error: unknown): void {
    this.#stage.clientFailed(error, "A client could not be written to.");
  }
}
