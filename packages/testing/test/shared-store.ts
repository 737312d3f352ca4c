import { memorySessions } from "@holodeck/agui";
import { AgentError, EventType, isAgentError, systemClock } from "@holodeck/agui-core";
import type { Lease, LogEntry, RunKey, RunLog, RunRecord, SessionStore } from "@holodeck/agui-core";
import type { CreateStore, StoreSetup } from "../src/vitest/index.ts";
import { createCaller } from "./database-caller.ts";
import type { CallDatabase, CreateCaller } from "./database-caller.ts";
import { smallestLease } from "./smallest-lease.ts";

interface Shared {
  readonly store: SessionStore;
  /** The leases of all processes, and until when. */
  readonly held: Map<string, { lease: Lease; until: number }>;
}

export interface SharedStores {
  create: CreateStore;
  second: CreateStore;
}

/**
 * What a store would be if several processes shared one memory: it answers later, leases run out, and calls to
 * its memory may fail.
 */
export function sharedStores(
  lostType: EventType = EventType.RUN_ERROR,
  toCaller: CreateCaller = createCaller,
): SharedStores {
  let shared: Shared;
  return {
    create(setup) {
      const { leaseMs: _ours, through: _through, callMs: _callMs, ...rest } = setup;
      shared = { store: memorySessions(rest), held: new Map() };
      return openView(shared, setup, { lostType, call: toCaller(setup) });
    },
    second: (setup) => openView(shared, setup, { lostType, call: toCaller(setup) }),
  };
}

function openView(
  shared: Shared,
  setup: StoreSetup,
  { lostType, call }: { lostType: EventType; call: CallDatabase },
): SessionStore {
  const { store, held } = shared;
  // Fences of leases with a write that was not answered, and of those with an end that was not.
  const doubtful = new Set<number>();
  const abandoned = new Set<number>();
  const { clock = systemClock, leaseMs = 15_000 } = setup;
  const closed = new AbortController();

  const idOf = (key: { principal: string; runId: string }): string =>
    JSON.stringify([key.principal, key.runId]);

  // Whoever looks at a run whose owner is gone ends it, in one step: two may look at once.
  function reap(principal: string, runId: string): void {
    const owner = held.get(idOf({ principal, runId }));
    const record = store.runs.find(principal, runId) as RunRecord | undefined;
    if (!owner || record?.status !== "running" || owner.until > clock.now()) return;
    const [offset, at] = [record.last + 1, clock.now()];
    const event = { type: lostType, code: "run-lost", message: "The owner of the run died." };
    void store.runs.close(owner.lease, { from: offset, to: offset, at, event }, "lost");
    held.delete(idOf(owner.lease));
  }

  function renew(lease: Lease, onLost: () => void): void {
    if (closed.signal.aborted || abandoned.has(lease.fence)) return;
    const owner = held.get(idOf(lease));
    if (owner?.lease.fence !== lease.fence || owner.until <= clock.now()) return onLost();
    owner.until = clock.now() + leaseMs;
    clock.setTimeout(() => renew(lease, onLost), leaseMs / 3);
  }

  const runs: RunLog = {
    ...store.runs,
    async open(key, init) {
      const opened = await call(async () => {
        const active = await store.runs.active(key);
        if (active) reap(active.principal, active.runId);
        reap(key.principal, key.runId);
        const lease = await store.runs.open(key, init);
        if (!("busy" in lease)) held.set(idOf(key), { lease, until: clock.now() + leaseMs });
        return lease;
      });
      return "busy" in opened ? opened : smallestLease(opened, (lose) => renew(opened, lose));
    },
    async append(lease, entries) {
      try {
        await call(() => store.runs.append(lease, entries));
      } catch (error) {
        doubtful.add(lease.fence);
        throw error;
      }
    },
    async close(lease, terminal, status) {
      try {
        await call(() => {
          const record = store.runs.find(lease.principal, lease.runId) as RunRecord | undefined;
          const offset = record && doubtful.has(lease.fence) ? record.last + 1 : terminal.from;
          const at = { ...terminal, from: offset, to: offset };
          return store.runs.close(lease, at, status);
        });
      } catch (error) {
        // Its end was not stored: the lease runs out.
        if (isAgentError(error) && error.code === "store-unavailable") abandoned.add(lease.fence);
        throw error;
      }
      held.delete(idOf(lease));
    },
    find: (principal, runId) =>
      call(() => {
        reap(principal, runId);
        return store.runs.find(principal, runId);
      }),
    active: (key) => call(() => store.runs.active(key)),
    read: (key, after, limit) => call(() => store.runs.read(key, after, limit)),
    watchers: (key) => call(() => store.runs.watchers(key)),
    send: (key, command) => call(() => store.runs.send(key, command)),
    requestStop: (key) => call(() => store.runs.requestStop(key)),
    async *follow(key, after, signal) {
      await call(() => undefined);
      let timer: unknown;
      const look = (): void => {
        timer = clock.setTimeout(look, leaseMs / 4);
        reap(key.principal, key.runId);
      };
      look();
      try {
        yield* store.runs.follow(key, after, AbortSignal.any([signal, closed.signal]));
      } finally {
        clock.clearTimeout(timer);
      }
    },
  };

  return {
    ...store,
    runs,
    get: (key) => call(() => store.get(key)),
    create: (key, init) => call(() => store.create(key, init)),
    update: (key, change, options) => call(() => store.update(key, change, options)),
    touch: (key) => call(() => store.touch(key)),
    list: (query) => call(() => store.list(query)),
    cleanupExpired: () => call(() => store.cleanupExpired()),
    take: (bucket, cost, rate) => call(() => store.take(bucket, cost, rate)),
    close: async () => closed.abort(),
  };
}

/** A store with something wrong in it. */
export function breakStore(
  { create, second }: SharedStores,
  change: (
    store: SessionStore,
    setup: StoreSetup,
  ) => Partial<Omit<SessionStore, "runs">> & { runs?: Partial<RunLog> },
): SharedStores {
  const broken =
    (make: CreateStore): CreateStore =>
    async (setup) => {
      const store = await make(setup);
      const { runs, ...rest } = change(store, setup);
      return { ...store, ...rest, runs: { ...store.runs, ...runs } };
    };
  return { create: broken(create), second: broken(second) };
}

/** All entries that end after an offset, as they are stored. */
export async function readUncut(
  runs: RunLog,
  key: RunKey,
  after: number,
): Promise<readonly LogEntry[]> {
  const record = await runs.find(key.principal, key.runId);
  if (record && after < record.first - 1) throw new AgentError("replay-gone", "Trimmed.");
  const entries = await runs.read(key, (record?.first ?? 1) - 1);
  return entries.filter(({ to }) => to > after);
}
