import { AgentError, EventType } from "@holodeck/agui-core";
import { dateOf, isPromise, withDeadline } from "@holodeck/agui-core/internal";
import type { Awaitable, Clock, Lease, RunLog, SessionStore } from "@holodeck/agui-core";
import { answeringFollow } from "./answering-follow.ts";
import { storeWith } from "./store-with.ts";

export interface AnsweringOptions {
  readonly ms: number;
  readonly clock: Clock;
}

/**
 * The store of a host, with an answer to every call that a request waits for: `store-unavailable` when it takes too
 * long. Appends and ends have their own time in the run; a tail may be silent for as long as its run is.
 */
export function answeringStore(store: SessionStore, options: AnsweringOptions): SessionStore {
  const within = createWithin(options);
  return storeWith(store, {
    runs: answeringLog(store.runs, options),
    get: (key) => within(store.get(key)),
    create: (key, init) => within(store.create(key, init)),
    update: (key, change, guard) => within(store.update(key, change, guard)),
    delete: (key) => within(store.delete(key)),
    touch: (key) => within(store.touch(key)),
    list: (query) => within(store.list(query)),
    take: (bucket, cost, rate) => within(store.take(bucket, cost, rate)),
  });
}

function answeringLog(log: RunLog, options: AnsweringOptions): RunLog {
  const within = createWithin(options);
  const find: RunLog["find"] = (principal, runId) => within(log.find(principal, runId));
  const tailing = { ...options, find, late: () => late(options.ms) };
  return {
    open(key, init) {
      const opening = log.open(key, init);
      return within(opening, () => free(opening));
    },
    append: (lease, entries) => log.append(lease, entries),
    close: (lease, terminal, status) => log.close(lease, terminal, status),
    find,
    active: (key) => within(log.active(key)),
    read: (key, after, limit) => within(log.read(key, after, limit)),
    follow: (key, after, signal) => answeringFollow(log, { key, after, signal }, tailing),
    watchers: (key) => within(log.watchers(key)),
    send: (key, command) => within(log.send(key, command)),
    requestStop: (key) => within(log.requestStop(key)),
    commands: (lease, on) => log.commands(lease, on),
  };

  /** Ends a run that was opened too late for its request. One with nothing but its end counts as never begun. */
  async function free(opening: Awaitable<Lease | object>): Promise<void> {
    const lease = await opening;
    if (!("fence" in lease)) return;
    const { code, message } = late(options.ms);
    const event = { type: EventType.RUN_ERROR, code, message };
    await log.close(lease, { from: 1, to: 1, at: dateOf(options.clock), event }, "failed");
  }
}

type Within = <T>(answer: Awaitable<T>, onLate?: () => Promise<void>) => Awaitable<T>;

function createWithin({ ms, clock }: AnsweringOptions): Within {
  return (answer, onLate) => {
    if (!isPromise(answer)) return answer;
    const give = (): AgentError => {
      onLate?.().catch(() => undefined);
      return late(ms);
    };
    return withDeadline(answer, { ms, clock, late: give });
  };
}

function late(ms: number): AgentError {
  const cause = new Error(`A call to it took longer than ${ms} ms.`);
  return new AgentError("store-unavailable", "The store does not answer.", {
    cause,
    retryAfter: 2,
  });
}
