import { memorySessions } from "@holodeck/agui";
import { AgentError, EventType, systemClock } from "@holodeck/agui-core";
import type { Lease, LogEntry, RunKey, RunLog, RunRecord, SessionStore } from "@holodeck/agui-core";
import type { CreateStore, StoreSetup } from "../src/vitest/index.ts";
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

/** What a store would be if several processes shared one memory: answers late, and leases run out. */
export function sharedStores(lostType: EventType = EventType.RUN_ERROR): SharedStores {
  let shared: Shared;
  return {
    create(setup) {
      const { leaseMs: _ours, ...rest } = setup;
      shared = { store: memorySessions(rest), held: new Map() };
      return openView(shared, setup, lostType);
    },
    second: (setup) => openView(shared, setup, lostType),
  };
}

function openView(shared: Shared, setup: StoreSetup, lostType: EventType): SessionStore {
  const { store, held } = shared;
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
    if (closed.signal.aborted) return;
    const owner = held.get(idOf(lease));
    if (owner?.lease.fence !== lease.fence || owner.until <= clock.now()) return onLost();
    owner.until = clock.now() + leaseMs;
    clock.setTimeout(() => renew(lease, onLost), leaseMs / 3);
  }

  const runs: RunLog = {
    ...store.runs,
    async open(key, init) {
      const active = await store.runs.active(key);
      if (active) reap(active.principal, active.runId);
      reap(key.principal, key.runId);
      const opened = await store.runs.open(key, init);
      if ("busy" in opened) return opened;
      held.set(idOf(key), { lease: opened, until: clock.now() + leaseMs });
      return smallestLease(opened, (lose) => renew(opened, lose));
    },
    append: async (lease, entries) => store.runs.append(lease, entries),
    async close(lease, terminal, status) {
      await store.runs.close(lease, terminal, status);
      held.delete(idOf(lease));
    },
    async find(principal, runId) {
      reap(principal, runId);
      return store.runs.find(principal, runId);
    },
    async read(key, after, limit) {
      return store.runs.read(key, after, limit);
    },
    async *follow(key, after, signal) {
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
    get: async (key) => store.get(key),
    create: async (key, init) => store.create(key, init),
    update: async (key, change, options) => store.update(key, change, options),
    take: async (bucket, cost, rate) => store.take(bucket, cost, rate),
    close: async () => closed.abort(),
  };
}

/** A store with something wrong in it. */
export function breakStore(
  { create, second }: SharedStores,
  change: (store: SessionStore) => Partial<Omit<SessionStore, "runs">> & { runs?: Partial<RunLog> },
): SharedStores {
  const broken =
    (make: CreateStore): CreateStore =>
    async (setup) => {
      const store = await make(setup);
      const { runs, ...rest } = change(store);
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
