import type { BaseEvent } from "@ag-ui/core";
import { dateOf } from "../base/time/clock.ts";
import { atTurnEnd } from "../base/time/turns.ts";
import type { TurnMember } from "../base/time/turns.ts";
import { AgentError } from "../contract/errors.ts";
import { appendDelta, sealDeltas } from "../delta/merged-entry.ts";
import type { OpenEntry, SizedEntry } from "../delta/merged-entry.ts";
import { storeCheckpoint } from "./checkpoint.ts";
import type { TrimmedRun } from "./checkpoint.ts";
import type { Followers } from "./clients/followers.ts";
import type { Ending } from "./ending.ts";
import type { RunLease } from "./types.ts";

/** What the log of a run needs from the run. */
export interface TurnLogHost extends TrimmedRun {
  /** Made when it is asked for. */
  readonly ending: Pick<Ending, "close" | "storeFailed">;
  readonly clients: Pick<Followers, "isQuiet">;
  /** These entries are stored. */
  stored(batch: readonly SizedEntry[]): void;
  /** Fewer bytes wait for the store. */
  paceChanged(): void;
  abort(reason: AgentError): void;
}

// A turn with more than this is not kept until its end.
const turnBytes = 64 * 1024;

/**
 * Numbers the events of a run, merges the deltas of a turn, and appends them in batches. One append is in
 * progress at a time; what comes meanwhile waits for it.
 *
 *   state    to               when
 *   open     busy             an append begins, or a stored batch is delivered
 *   busy     open             it is done
 *   any      closed           the terminal event is next, or the store failed: nothing more is appended
 */
export class TurnLog implements TurnMember {
  /** The last entry, while it can take further deltas. */
  tail: OpenEntry | undefined = undefined;
  /** Bytes that the store does not have yet. */
  unacknowledged = 0;
  /** When the append in progress began. */
  storingSince: number | undefined = undefined;
  readonly #run: TurnLogHost;
  readonly #lease: RunLease | undefined;
  #state: "open" | "busy" | "closed" = "open";
  #offset = 0;
  #unlogged: OpenEntry[] | undefined = undefined;
  /** The batch that the store is appending. */
  #stored: readonly SizedEntry[] | undefined = undefined;
  #sinceCheckpoint = 0;
  #turnOpen = false;
  #turnAt = 0;
  #terminal: SizedEntry | undefined = undefined;

  /** Without a lease nothing is stored, and every batch is delivered at once. */
  constructor(run: TurnLogHost, lease: RunLease | undefined) {
    this.#run = run;
    this.#lease = lease;
  }

  /** Takes an event. `isDelta`: it is a delta with nothing else in it, so that others can be merged into it. */
  add(event: BaseEvent, size: number, isDelta: boolean): void {
    if (this.#state === "closed" || this.#terminal) return;
    // Once per turn, which lasts a few milliseconds for an agent that waits at all.
    if (!this.#turnOpen) this.#turnAt = dateOf(this.#run.settings.clock);
    const entry = this.#number(event, size);
    this.unacknowledged += size;
    if (!this.#turnOpen) this.#openTurn(entry);
    else this.#keep(entry, isDelta);
    this.#grown();
  }

  /** Merges a delta into the tail. Returns false when the tail is full. */
  prolong(tail: OpenEntry, delta: string, size: number): boolean {
    if (!appendDelta(tail, delta, size)) return false;
    this.#offset++;
    this.unacknowledged += size;
    this.#grown();
    return true;
  }

  /** Takes the last event of the run. It is closed with it as soon as all others are stored. */
  finish(terminal: BaseEvent, size: number): void {
    // An agent may have worked for long in this turn: the end has its own time.
    this.#turnAt = dateOf(this.#run.settings.clock);
    this.#terminal = this.#number(terminal, size);
    this.tail = undefined;
    this.#flush();
  }

  /** Drops what is not stored and appends nothing more. */
  abandon(): void {
    this.#state = "closed";
    this.#unlogged = undefined;
    this.tail = undefined;
    this.storingSince = undefined;
  }

  /** The events that are not delivered yet. */
  pendingEvents(): BaseEvent[] {
    const events: BaseEvent[] = [];
    for (const { event } of this.#stored ?? []) events.push(event);
    for (const { event, deltas } of this.#unlogged ?? []) {
      events.push(deltas ? { ...event, delta: deltas.join("") } : event);
    }
    return events;
  }

  /** Whether the terminal event is next, or the store failed. */
  get isClosed(): boolean {
    return this.#state === "closed";
  }

  endTurn(): void {
    this.#turnOpen = false;
    this.#flush();
  }

  #number(event: BaseEvent, size: number): OpenEntry {
    const offset = ++this.#offset;
    const at = this.#turnAt;
    return { from: offset, to: offset, at, event, size, cuts: undefined, deltas: undefined };
  }

  #grown(): void {
    if (this.unacknowledged > turnBytes) this.#flush();
    // An agent that cannot be paused, and a store that does not answer.
    if (this.#state === "busy" && this.unacknowledged > this.#run.settings.limits.runLogBytes) {
      const message = "The store does not keep up with the run.";
      this.#run.abort(new AgentError("store-unavailable", message));
    }
  }

  // The first event of a turn is sent at once; those that follow in the same turn are sent as one write. The
  // end of the turn is scheduled first, so that a sink that gathers the writes of a tick gathers these, too.
  #openTurn(first: OpenEntry): void {
    this.#turnOpen = true;
    atTurnEnd(this);
    // Where no client receives anything yet, none waits for the first event.
    if (this.#state !== "open" || this.#run.clients.isQuiet) this.#keep(first, false);
    // At the pace of a model that is all of the turn.
    else this.#store([first]);
  }

  // Only the last entry can grow: during an append the entry of an earlier turn may still be here.
  #keep(entry: OpenEntry, canGrow: boolean): void {
    if (this.#unlogged) this.#unlogged.push(entry);
    else this.#unlogged = [entry];
    this.tail = canGrow ? entry : undefined;
  }

  #flush(): void {
    if (this.#state !== "open") return;
    const batch = this.#unlogged;
    if (batch) {
      this.#unlogged = undefined;
      this.tail = undefined;
      for (let at = 0; at < batch.length; at++) sealDeltas(batch[at]!);
      this.#store(batch);
    } else if (this.#terminal) {
      this.#state = "closed";
      this.#run.ending.close(this.#terminal);
    }
  }

  #store(batch: readonly SizedEntry[]): void {
    const lease = this.#lease;
    if (!lease) return this.#acknowledged(batch);
    let storing: void | Promise<void>;
    try {
      storing = lease.runs.append(lease.lease, batch);
    } catch (error) {
      return this.#run.ending.storeFailed(error);
    }
    if (!storing) return this.#acknowledged(batch);
    if (this.#state === "open") {
      this.#state = "busy";
      this.#stored = batch;
      this.storingSince = this.#run.settings.clock.now();
    }
    storing.then(
      () => this.#appended(batch),
      (error: unknown) => this.#run.ending.storeFailed(error),
    );
  }

  #appended(batch: readonly SizedEntry[]): void {
    this.#stored = undefined;
    this.storingSince = undefined;
    this.#acknowledged(batch);
  }

  #acknowledged(batch: readonly SizedEntry[]): void {
    if (this.#state === "closed") return;
    for (let at = 0; at < batch.length; at++) {
      const { size } = batch[at]!;
      this.unacknowledged -= size;
      this.#sinceCheckpoint += size;
    }
    this.#deliver(batch);
    if (this.#sinceCheckpoint > this.#run.settings.limits.runLogBytes / 4) {
      this.#sinceCheckpoint = 0;
      storeCheckpoint(this.#run);
    }
    this.#run.paceChanged();
    if (this.#terminal || (this.#unlogged && !this.#turnOpen)) this.#flush();
  }

  // An encoder or a sink may make the agent emit: those events wait until every client has this batch.
  #deliver(batch: readonly SizedEntry[]): void {
    this.#state = "busy";
    try {
      this.#run.stored(batch);
    } finally {
      this.#reopen();
    }
  }

  // The store may have failed during the delivery.
  #reopen(): void {
    if (this.#state === "busy") this.#state = "open";
  }
}
