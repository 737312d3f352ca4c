import { flattenText } from "@holodeck/agui-core/internal";
import { cutAfter } from "@holodeck/agui-core";
import { mergeInto } from "@holodeck/agui-core/internal";
import type { Lease, LogEntry, RunKey, RunStatus } from "@holodeck/agui-core";
import type { StoredEntry } from "@holodeck/agui-core/internal";
import { assertFollows } from "../kit/runs/assert-follows.ts";
import { createCommandInbox } from "../kit/runs/command-inbox.ts";
import type { CommandInbox } from "../kit/runs/command-inbox.ts";
import { both } from "../kit/runs/own-lease.ts";
import { replayGone } from "../kit/storage/store-errors.ts";

/** An entry with what it was counted as. */
interface KeptEntry extends StoredEntry {
  bytes: number;
}

const fewEntries = 8;

// What an entry costs besides its text: the objects around it.
const entryOverhead = 160;

/**
 * A run in memory: its log, and while it is active the lease of its owner. One object for both,
 * because there is one for every open stream.
 */
export class StoredRun implements Lease {
  readonly principal: string;
  readonly threadId: string;
  readonly runId: string;
  readonly fence: number;
  readonly agentId: string;
  readonly protocolVersion: string | undefined;
  /** Its names in the maps of the log. */
  readonly name: string;
  readonly threadName: string;
  /** Its neighbours among the runs of its thread. */
  older: StoredRun | undefined = undefined;
  newer: StoredRun | undefined = undefined;
  status: RunStatus = "running";
  /** The next three only while it runs, and only if they are used. */
  #onLost: (() => void) | undefined = undefined;
  #inbox: CommandInbox | undefined = undefined;
  #waiters: Set<() => void> | undefined = undefined;
  entries: KeptEntry[] = [];
  first = 1;
  last = 0;
  bytes = 0;
  closedAt: number | undefined = undefined;
  followers = 0;

  constructor(
    key: RunKey,
    init: { agentId: string; protocolVersion?: string | undefined },
    place: { name: string; threadName: string; fence: number },
  ) {
    this.principal = key.principal;
    this.threadId = key.threadId;
    this.runId = key.runId;
    this.fence = place.fence;
    this.agentId = init.agentId;
    this.protocolVersion = init.protocolVersion;
    this.name = place.name;
    this.threadName = place.threadName;
  }

  onLost(listener: () => void): void {
    if (this.status === "lost") return listener();
    this.#onLost = both(this.#onLost, listener);
  }

  /** Its owner may not continue, and its output is not needed. */
  abandon(): void {
    if (this.status !== "running") return;
    this.status = "lost";
    this.#inbox = undefined;
    const onLost = this.#onLost;
    this.#onLost = undefined;
    onLost?.();
    this.wake();
  }

  /** What is kept after the end is the log, and nothing of its owner. */
  release(): void {
    for (const entry of this.entries) settle(entry);
    this.#inbox = undefined;
    this.#onLost = undefined;
  }

  get inbox(): CommandInbox {
    return (this.#inbox ??= createCommandInbox());
  }

  /** Calls back at the next news of it; returns a function that unsubscribes. */
  wait(wake: () => void): () => void {
    (this.#waiters ??= new Set()).add(wake);
    return () => void this.#waiters?.delete(wake);
  }

  /** Adds entries, all or none of them. */
  write(entries: readonly LogEntry[]): void {
    // Most batches are one event, and it follows the last.
    const next = this.last + 1;
    if (entries.length > 1 || entries[0]!.from !== next || entries[0]!.to !== next) {
      assertFollows(this.runId, this.last, entries);
    }
    let newest = this.entries.at(-1);
    for (const entry of entries) {
      // Most entries that are not deltas differ in their type from the one before.
      if (newest?.event.type === entry.event.type && mergeInto(newest, entry)) {
        const more = (entry.event.delta as string).length * 2 + (entry.cuts?.length ?? 1) * 8;
        newest.bytes += more;
        this.bytes += more;
        continue;
      }
      const { from, to, at, cuts } = entry;
      const bytes = costOf(entry);
      // What is merged grows in place, and the caller's own must not.
      const event = cuts ? { ...entry.event } : entry.event;
      newest = { from, to, at, event, cuts: cuts ? [...cuts] : undefined, bytes };
      // A list that is pushed to gets room for sixteen more; most runs have a few entries.
      if (this.entries.length < fewEntries) this.entries = this.entries.concat(newest);
      else this.entries.push(newest);
      this.bytes += bytes;
    }
    this.last = entries.at(-1)!.to;
  }

  /** Forgets the oldest entries past the bounds, but never the newest one. */
  trim(maxEntries: number, maxBytes: number): void {
    const { entries } = this;
    let gone = 0;
    while (
      entries.length - gone > 1 &&
      (entries.length - gone > maxEntries || this.bytes > maxBytes)
    ) {
      this.bytes -= entries[gone++]!.bytes;
    }
    if (gone === 0) return;
    entries.splice(0, gone);
    this.first = entries[0]!.from;
  }

  wake(): void {
    if (this.#waiters) for (const wake of this.#waiters) wake();
  }
}

/** Copies of the entries after an offset. */
export function slice(run: StoredRun, after: number, limit: number): readonly LogEntry[] {
  if (after < run.first - 1) throw replayGone(run.runId, run.first, after);
  const { entries } = run;
  let low = 0;
  let high = entries.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (entries[middle]!.to > after) high = middle;
    else low = middle + 1;
  }
  const found = entries.slice(low, low + limit);
  // Copies: the newest entry may still grow while a reader holds it.
  return found.map((entry) => {
    const { from, to, at, event, cuts } = cutAfter(entry, after);
    return { from, to, at, event: { ...event }, cuts: cuts && [...cuts] };
  });
}

// About how many bytes an entry takes. A run has measured its events already.
function costOf({ event, cuts, size }: LogEntry & { readonly size?: number }): number {
  const { delta, rawEvent, metadata } = event;
  if (typeof delta === "string" && rawEvent === undefined && metadata === undefined) {
    return entryOverhead + delta.length * 2 + (cuts?.length ?? 0) * 8;
  }
  return entryOverhead + (size ?? JSON.stringify(event)?.length ?? 0) * 2;
}

/**
 * Concatenated text is a rope of its pieces until it is read. For small pieces that takes far more
 * memory than their characters; large ones are better shared with the message that also contains
 * them.
 */
function settle(entry: StoredEntry): void {
  const { event, cuts, joins } = entry;
  const { delta } = event;
  if (!cuts || typeof delta !== "string") return;
  if (joins && delta.length < joins * 256) flattenText(delta);
  // The list is complete: drop its spare capacity.
  entry.cuts = cuts.slice();
}
