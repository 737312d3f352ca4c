import type { Clock, RunRecord, SessionStore, ThreadKey } from "@holodeck/agui-core";
import { ended } from "./acquire.ts";

export interface StopFirstOptions {
  readonly clock: Clock;
  /** How long a run may take to end after it was stopped. */
  readonly patienceMs: number;
}

// How long clients in other processes have to read the end of a run before its log is removed.
const drainMs = 2_000;
const lookMs = 20;
// A thread that is used while it is deleted: so many runs are stopped, and the next one is lost.
const attempts = 3;

/**
 * The store, with a `delete` that first stops the run of the thread and waits for its end: its clients, in
 * every process, receive that end, and nothing of the run is stored afterwards.
 */
export function stopFirst(store: SessionStore, options: StopFirstOptions): SessionStore {
  const { runs, blobs, count } = store;

  async function stopRun(key: ThreadKey): Promise<boolean> {
    const record = await runs.active(key);
    if (!record || !(await runs.send(record, { type: "stop" }))) return false;
    await ended(record, { runs, ...options });
    await drained(record);
    return true;
  }

  async function drained(record: RunRecord): Promise<void> {
    const { clock } = options;
    const deadline = clock.now() + drainMs;
    while ((await runs.watchers(record)) > 0 && clock.now() < deadline) {
      await new Promise<void>((resolve) => void clock.setTimeout(resolve, lookMs));
    }
  }

  return {
    runs,
    ...(blobs ? { blobs } : {}),
    ...(count ? { count: () => count.call(store) } : {}),
    get: (key) => store.get(key),
    create: (key, init) => store.create(key, init),
    update: (key, change, condition) => store.update(key, change, condition),
    touch: (key) => store.touch(key),
    list: (query) => store.list(query),
    cleanupExpired: () => store.cleanupExpired(),
    take: (bucket, cost, rate) => store.take(bucket, cost, rate),
    close: () => store.close(),
    async delete(key) {
      for (let attempt = 0; attempt < attempts && (await stopRun(key)); attempt++);
      return store.delete(key);
    },
  };
}
