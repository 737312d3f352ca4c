import type { AgentError, Clock, LogEntry, RunKey, RunLog } from "@holodeck/agui-core";

export interface AnsweringFollowOptions {
  /** Answers in time, or fails. */
  readonly find: RunLog["find"];
  /** How long the tail may be silent before the store is asked whether it has more. */
  readonly ms: number;
  readonly clock: Clock;
  /** Makes the error of a tail that does not deliver what the store has. */
  readonly late: () => AgentError;
}

/** A place in the log of a run that is followed. */
interface Place {
  readonly key: RunKey;
  readonly after: number;
  readonly signal: AbortSignal;
}

type Next = IteratorResult<readonly LogEntry[]>;

/**
 * The live tail of a run, with an end when the store does not deliver what it has. Silence alone is no failure: a run
 * may have nothing to send. So `find` is called after a while, and the tail fails when it twice in a row has not
 * delivered what `find` knows of, or `find` fails too. It also ends with its signal, whatever the store does.
 */
export async function* answeringFollow(
  log: RunLog,
  { key, after, signal }: Place,
  options: AnsweringFollowOptions,
): AsyncGenerator<readonly LogEntry[]> {
  const tail = log.follow(key, after, signal)[Symbol.asyncIterator]();
  let at = after;
  try {
    for (;;) {
      const next = await delivered(tail.next(), { key, after: at, signal }, options);
      if (!next || next.done) return;
      at = next.value.at(-1)?.to ?? at;
      yield next.value;
    }
  } finally {
    // Not awaited: a tail that does not answer does not end either.
    tail.return?.().catch(() => undefined);
  }
}

/** What a tail delivers next. Resolves to undefined when the signal aborts. */
function delivered(
  next: Promise<Next>,
  { key, after, signal }: Place,
  { find, ms, clock, late }: AnsweringFollowOptions,
): Promise<Next | undefined> {
  return new Promise((resolve, reject) => {
    let isSettled = false;
    let misses = 0;
    let timer = clock.setTimeout(look, ms);

    function settle(): boolean {
      if (isSettled) return false;
      isSettled = true;
      clock.clearTimeout(timer);
      signal.removeEventListener("abort", leave);
      return true;
    }
    function leave(): void {
      if (settle()) resolve(undefined);
    }
    function fail(error: unknown): void {
      if (settle()) reject(error);
    }
    async function look(): Promise<void> {
      misses = (await isBehind()) ? misses + 1 : 0;
      if (misses > 1) fail(late());
      else if (!isSettled) timer = clock.setTimeout(look, ms);
    }

    // Whether the store has entries, or the end of the run, that were not delivered.
    async function isBehind(): Promise<boolean> {
      try {
        const record = await find(key.principal, key.runId);
        return record?.status !== "running" || record.last > after;
      } catch {
        return true;
      }
    }

    signal.addEventListener("abort", leave, { once: true });
    next.then((value) => settle() && resolve(value), fail);
    if (signal.aborted) leave();
  });
}
