// Longer than our usual file: the tools that all cases of both store suites share.
import { EventType, isAgentError, systemClock } from "@holodeck/agui-core";
import { dateOf } from "@holodeck/agui-core/internal";
import type {
  Awaitable,
  BaseEvent,
  Clock,
  Lease,
  LogEntry,
  RunKey,
  RunLog,
  SessionStore,
} from "@holodeck/agui-core";
import { test } from "vitest";
import { fakeClock, settle } from "../../fake-clock.ts";
import type { FakeClock } from "../../fake-clock.ts";
import { repeatIfStalled } from "../binding/_stalls.ts";

/** What a store under test is made with; each option means what it means in `memorySessions`. */
export interface StoreSetup {
  /**
   * With `clock: "injected"` all of the store's time. With `clock: "real"` it is only given where an
   * owner is to hang, and the store renews its leases with this clock's timers, and in cases of faults, where the
   * store waits for its calls with them.
   */
  readonly clock?: Clock;
  readonly ttlMs?: number;
  readonly maxSessions?: number;
  readonly maxMessagesPerThread?: number;
  readonly maxTokens?: number;
  readonly runLogEvents?: number;
  readonly runLogBytes?: number;
  readonly runLogMs?: number;
  /** How long the owner of a run may be silent before the run counts as lost. */
  readonly leaseMs?: number;
  /** In cases of faults: every call of the store to its database has to be made through this. */
  readonly through?: <T>(call: () => PromiseLike<T>) => Promise<T>;
  /** In cases of faults: how long the store waits for one call. */
  readonly callMs?: number;
}

export type CreateStore = (setup: StoreSetup) => Awaitable<SessionStore>;

export interface TestStoreOptions {
  /**
   * `"injected"`: the store takes all its time from `setup.clock`. `"real"`: it cannot, so the suite
   * waits, and runs a case again that failed while the machine stood still. @default "injected"
   */
  clock?: "injected" | "real";
  /**
   * Another process' view of the data of the store that `create` made last. Without it, what takes two
   * processes is reported as skipped.
   */
  second?: CreateStore;
  /**
   * `true`: `create` makes a store whose calls go through `setup.through`, each of them given up after
   * `setup.callMs`. Without it the cases of a database that fails are reported as skipped.
   */
  faults?: true;
  /** `false`: the store keeps no blobs, and their cases are reported as skipped. */
  blobs?: false;
  /** Titles of cases that this store does not claim. They are reported as skipped. */
  skip?: readonly string[];
}

/** An owner whose clock can be stopped. */
interface HungClock {
  readonly clock: Clock;
  /** From here on its timers fire again. */
  wake(): Promise<void>;
}

export interface StoreBench {
  /** Whether stores take all their time from the suite. */
  readonly isInjected: boolean;
  /** A store on separate data. */
  open(setup?: StoreSetup): Promise<SessionStore>;
  /** A second view on the data of the last one. */
  openSecond(setup?: StoreSetup): Promise<SessionStore>;
  closeAll(): Promise<void>;
  /** Lets time pass. */
  pass(ms: number): Promise<void>;
  /** Waits, while time advances, until a condition is true. */
  until(condition: () => Awaitable<boolean>): Promise<void>;
  /** Waits, while time advances, for a promise that must settle. */
  within<T>(promise: PromiseLike<T>): Promise<T>;
  hang(): HungClock;
  /** A clock whose date can be set, while its moments and timers go on. */
  jumpingClock(): { readonly clock: Clock; by(ms: number): void };
  /** Runs a case; with a real clock again where it failed because time went by that it did not ask for. */
  play(body: () => Promise<void>): Promise<void>;
}

// What never comes shows after so long; a busy machine must not look like that.
const patienceMs = 30_000;

/** Stores and their time, for one suite. */
export function createStoreBench(create: CreateStore, options: TestStoreOptions): StoreBench {
  const stores: SessionStore[] = [];
  let clock = fakeClock(1_000_000);
  let askedMs = 0;
  const injected = options.clock !== "real";

  async function add(make: CreateStore, setup: StoreSetup): Promise<SessionStore> {
    const store = await make(injected ? { clock, ...setup } : setup);
    stores.push(store);
    return store;
  }

  async function pump(): Promise<void> {
    if (injected) await clock.advance(20);
    await wait(2);
  }

  async function until(condition: () => Awaitable<boolean>): Promise<void> {
    const began = performance.now();
    await settle();
    while (!(await condition())) {
      const waitedMs = performance.now() - began;
      if (waitedMs > patienceMs) throw new Error(`It did not happen within ${patienceMs} ms.`);
      await pump();
    }
    askedMs += performance.now() - began;
  }

  async function closeAll(): Promise<void> {
    for (const store of stores.splice(0).toReversed()) await store.close();
  }

  return {
    isInjected: injected,
    open(setup = {}) {
      clock = fakeClock(clock.now());
      return add(create, setup);
    },
    openSecond: (setup = {}) => add(options.second!, setup),
    closeAll,
    async pass(ms) {
      if (injected) return clock.advance(ms);
      // Timers may fire a little early, and another process' clock is not quite ours.
      askedMs += ms + 25;
      await wait(ms + 25);
    },
    until,
    async within(promise) {
      let settled = false;
      const done = (): void => void (settled = true);
      promise.then(done, done);
      await until(() => settled);
      return promise;
    },
    jumpingClock() {
      // The clock of the store that is opened next.
      const base = (): Clock => (injected ? clock : systemClock);
      let shift = 0;
      return {
        clock: {
          now: () => base().now(),
          date: () => dateOf(base()) + shift,
          setTimeout: (callback, ms) => base().setTimeout(callback, ms),
          clearTimeout: (handle) => base().clearTimeout(handle),
        },
        by: (ms) => void (shift += ms),
      };
    },
    hang: () => (injected ? hangFake(fakeClock(clock.now()), () => clock.now()) : hangReal()),
    play: (body) =>
      injected ? body() : repeatIfStalled({ run: body, askedMs: () => askedMs, reset: closeAll }),
  };
}

function hangFake(clock: FakeClock, now: () => number): HungClock {
  return { clock, wake: () => clock.advance(Math.max(0, now() - clock.now())) };
}

function hangReal(): HungClock {
  const held = new Map<object, () => void>();
  let awake = false;
  return {
    clock: {
      ...systemClock,
      setTimeout(callback, ms) {
        if (awake) return systemClock.setTimeout(callback, ms);
        const handle = {};
        held.set(handle, callback);
        return handle;
      },
      clearTimeout(handle) {
        if (!held.delete(handle as object)) systemClock.clearTimeout(handle);
      },
    },
    async wake() {
      awake = true;
      for (const [handle, callback] of held) {
        held.delete(handle);
        callback();
      }
      await settle();
    },
  };
}

function wait(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

/** One case of a suite; `needs` is what the store must bring for it. */
export type DefineCase = (
  title: string,
  body: () => Promise<void>,
  needs?: "second" | "faults",
) => void;

/** Defines cases, and takes care that none is left out in silence. */
export function defineCases(
  options: TestStoreOptions,
  play: StoreBench["play"] = (body) => body(),
): { define: DefineCase; finish(): void } {
  const unknown = new Set(options.skip);
  return {
    define(title, body, needs) {
      const isSkipped = unknown.delete(title) || (needs !== undefined && !options[needs]);
      test.skipIf(isSkipped)(title, () => play(body));
    },
    finish() {
      if (unknown.size === 0) return;
      throw new Error(`There is no such case to skip: ${[...unknown].join("; ")}.`);
    },
  };
}

/** The code of what a call throws or rejects with; nothing when it does not. */
export async function codeOf(work: () => unknown): Promise<string | undefined> {
  try {
    await work();
  } catch (error) {
    if (isAgentError(error)) return error.code;
    throw error;
  }
  return undefined;
}

export function entry(offset: number, event: object): LogEntry {
  return { from: offset, to: offset, at: 1_000 + offset, event: event as BaseEvent };
}

export function delta(offset: number, text: string, messageId = "m1"): LogEntry {
  return entry(offset, { type: EventType.TEXT_MESSAGE_CONTENT, messageId, delta: text });
}

/** An entry that cannot be merged. */
export function mark(offset: number, value: unknown = offset): LogEntry {
  return entry(offset, { type: EventType.CUSTOM, name: "mark", value });
}

export function ending(offset: number, { threadId, runId }: RunKey): LogEntry {
  return entry(offset, { type: EventType.RUN_FINISHED, threadId, runId });
}

/** Opens a run that must not be refused. */
export async function openBenchRun(runs: RunLog, key: RunKey): Promise<Lease> {
  const opened = await runs.open(key, { agentId: "agent" });
  if ("busy" in opened) throw new Error(`Busy with run "${opened.busy.runId}".`);
  return opened;
}

/** Appends marks up to an offset and ends the run. */
export async function playRun(runs: RunLog, lease: Lease, marks = 2): Promise<void> {
  await runs.append(
    lease,
    Array.from({ length: marks }, (_, index) => mark(index + 1)),
  );
  await runs.close(lease, ending(marks + 1, lease), "finished");
}

export interface Piece {
  readonly offset: number;
  readonly event: BaseEvent;
}

/** Entries as they were before anything was merged, each at its offset; throws on a bad `cuts`. */
export function piecesOf(entries: readonly LogEntry[]): Piece[] {
  return entries.flatMap(({ from, to, event, cuts }) => {
    if (from === to) return [{ offset: from, event }];
    const text = event.delta as string;
    if (cuts?.length !== to - from + 1 || cuts.at(-1) !== text.length) {
      throw new Error(`Offsets ${from} to ${to} do not fit the cuts ${JSON.stringify(cuts)}.`);
    }
    return cuts.map((end, index) => ({
      offset: from + index,
      event: { ...event, delta: text.slice(cuts[index - 1] ?? 0, end) },
    }));
  });
}

export function offsetsOf(entries: readonly LogEntry[]): number[] {
  return piecesOf(entries).map(({ offset }) => offset);
}

/** All of a log, page by page. */
export async function readWholeLog(runs: RunLog, key: RunKey, after = 0): Promise<LogEntry[]> {
  const all: LogEntry[] = [];
  for (let at = after; ; at = all.at(-1)!.to) {
    const page = await runs.read(key, at);
    if (page.length === 0) return all;
    all.push(...page);
  }
}

export interface Watching {
  readonly entries: LogEntry[];
  /** Resolves when the log has ended; rejects when following failed. */
  readonly ended: Promise<void>;
  leave(): void;
}

/** Follows a run in the background. */
export function watch(runs: RunLog, key: RunKey, after = 0): Watching {
  const entries: LogEntry[] = [];
  const left = new AbortController();
  const follow = async (): Promise<void> => {
    for await (const batch of runs.follow(key, after, left.signal)) entries.push(...batch);
  };
  const ended = follow();
  // A case that awaits it gets the error; other cases ignore it.
  ended.catch(() => undefined);
  return { entries, ended, leave: () => left.abort() };
}

export const numbersTo = (to: number, from = 1): number[] =>
  Array.from({ length: Math.max(0, to - from + 1) }, (_, index) => from + index);

/**
 * Pairs of principal and thread that are easily taken for one another: joined by a separator, encoded
 * twice or not at all, or folded to one case.
 */
export const oddKeys: readonly (readonly [principal: string, threadId: string])[] = [
  ["a:b", "c"],
  ["a", "b:c"],
  ["a:b:c", "d"],
  ["", "a:b:c"],
  ["a%3Ab", "c"],
  ["a", "b%3Ac"],
  ["a/b", "c"],
  ["a", "b/c"],
  ["{a}", "b"],
  ["a", "{b}"],
  ["a}", "{b"],
  ["a b", "c"],
  ["a", "b c"],
  ["a", "*"],
  ["a", "?"],
  ["a", "[b]"],
  ["a", "%"],
  ["a", "_"],
  ["A", "b"],
  ["a", "B"],
  ["a", "b"],
  ["ä", "😀"],
  ["a\u0308", "😀"],
  ["a", "'; --"],
  ["a", '"b"'],
  ["a", "\\"],
  ["__proto__", "constructor"],
  ["a", "x".repeat(256)],
];
