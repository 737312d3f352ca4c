import type { ExtractJob } from "./job.ts";
import { allowanceOf } from "./pool/allowance.ts";
import type { Allowance } from "./pool/allowance.ts";
import { closed, refuse, toError, queueFull } from "./pool/answers.ts";
import { createFairQueue } from "./pool/fair-queue.ts";
import { createMemoryWatch } from "./pool/memory-watch.ts";
import { startReader } from "./pool/reader-thread.ts";
import type { ReaderThread } from "./pool/reader-thread.ts";

export interface ExtractorOptions {
  readonly timeoutMs: number;
  readonly memoryBytes: number;
  /** How many files are read at the same time. */
  readonly workers: number;
  /** How many may wait. */
  readonly queue: number;
  /** How long a thread without work is kept. */
  readonly idleMs?: number;
}

/** Whose file is read, and until when. */
export interface ExtractFor {
  readonly owner: string;
  readonly signal?: AbortSignal | undefined;
  /** Whether it is read while nothing else is. */
  readonly isAlone?: boolean;
  /** Called when its reading begins. */
  begin?(): void;
}

/** Gets at the text of files away from the event loop. */
export interface Extractor {
  /** Rejects with a `FileError` that names the file, when too many wait, or when the signal is aborted. */
  extract(name: string, job: ExtractJob, by: ExtractFor): Promise<string>;
  /** How many threads there are. */
  countThreads(): number;
  /** What the threads without work hold. */
  countHeldBytes(): number;
  close(): Promise<void>;
}

interface Task {
  readonly owner: string;
  readonly bytes: number;
  readonly name: string;
  readonly job: ExtractJob;
  readonly allowance: Allowance;
  begin?: (() => void) | undefined;
  resolve(text: string): void;
  reject(reason: unknown): void;
  /** It is not read by a thread that has read other files. */
  needsFresh?: boolean;
}

interface Seat {
  readonly task: Task;
  readonly thread: ReaderThread;
  /** Why its thread was ended. */
  ending: { readonly reason: unknown } | "again" | undefined;
}

const watchMs = 25;

/**
 * Threads that read a file each. Owners take turns, and one of them never has all threads: a file waits for those
 * of the same owner, and hardly for those of others. What the process grows by cannot be assigned to one of several
 * threads; when it grows too much, the files that are being read are read again, one at a time.
 */
export function createExtractor(options: ExtractorOptions): Extractor {
  const { memoryBytes, workers, queue: maxWaiting, idleMs = 30_000 } = options;
  const share = Math.max(1, workers - 1);
  // A thread that has grown is not kept for the next file.
  const keepBytes = memoryBytes / 4;
  const queue = createFairQueue<Task>({ items: maxWaiting, bytes: memoryBytes });
  const watch = createMemoryWatch(memoryBytes);
  const suspects: Task[] = [];
  const seats = new Set<Seat>();
  const idle = new Map<ReaderThread, { readonly end: NodeJS.Timeout; readonly held: number }>();
  const ending = new Set<Promise<void>>();
  let watching: NodeJS.Timeout | undefined;
  let isAlone = false;
  let isClosed = false;

  function startNext(): void {
    for (;;) {
      const task = takeNext();
      if (!task) return;
      void perform(task);
    }
  }

  function takeNext(): Task | undefined {
    if (isClosed || seats.size >= workers || (isAlone && seats.size > 0)) return undefined;
    isAlone = suspects.length > 0;
    // A file that has to be alone waits for the others to end.
    if (isAlone) return seats.size === 0 ? suspects.shift() : undefined;
    return queue.take((owner) => countOf(owner) < share);
  }

  function countOf(owner: string): number {
    let count = 0;
    for (const { task } of seats) if (task.owner === owner) count++;
    return count;
  }

  async function perform(task: Task): Promise<void> {
    if (seats.size === 0) watch.begin();
    const kept = task.needsFresh ? undefined : takeKept();
    const seat: Seat = { task, thread: kept ?? startReader(memoryBytes), ending: undefined };
    seats.add(seat);
    task.begin?.();
    watching ??= setInterval(look, watchMs);
    let timer: NodeJS.Timeout | undefined;
    try {
      await seat.thread.ready;
      const { timeoutMs: ms } = task.allowance;
      timer = setTimeout(() => end(seat, { reason: refuse(task.name, "too-slow") }), ms);
      const { answer, held } = await seat.thread.read(task.job);
      if (held > keepBytes || seat.ending || isClosed) stop(seat.thread);
      else keep(seat.thread, held);
      if ("text" in answer) task.resolve(answer.text);
      else task.reject(toError(task.name, answer));
    } catch (error) {
      // It has ended: by us, for want of memory, or because it could not start.
      if (seat.ending === "again") suspects.push(task);
      else if (!seat.ending && kept) again(task);
      else task.reject(seat.ending ? seat.ending.reason : toFailure(task.name, error));
    } finally {
      clearTimeout(timer);
      seats.delete(seat);
      if (seats.size === 0) {
        clearInterval(watching);
        watching = undefined;
      }
      startNext();
    }
  }

  function look(): void {
    let allowed = 0;
    for (const { task } of seats) allowed += task.allowance.memoryBytes;
    if (!watch.isExceeded(Math.min(allowed, memoryBytes))) return;
    const [first, ...others] = seats;
    if (first && others.length === 0) end(first, { reason: refuse(first.task.name, "too-large") });
    else for (const seat of seats) end(seat, "again");
  }

  function end(seat: Seat, why: NonNullable<Seat["ending"]>): void {
    if (seat.ending) return;
    seat.ending = why;
    stop(seat.thread);
  }

  // What an earlier file left behind may have ended its thread: a new one shows whether it was this file.
  function again(task: Task): void {
    task.needsFresh = true;
    suspects.push(task);
  }

  function takeKept(): ReaderThread | undefined {
    const [kept] = [...idle].at(-1) ?? [];
    if (!kept) return undefined;
    clearTimeout(idle.get(kept)!.end);
    idle.delete(kept);
    return kept;
  }

  function keep(thread: ReaderThread, held: number): void {
    thread.rest();
    idle.set(thread, { end: setTimeout(() => stop(thread), idleMs).unref(), held });
  }

  function stop(thread: ReaderThread): void {
    clearTimeout(idle.get(thread)?.end);
    idle.delete(thread);
    const stopping = thread.stop().finally(() => ending.delete(stopping));
    ending.add(stopping);
  }

  function cancel(task: Task, reason: unknown): void {
    const at = suspects.indexOf(task);
    if (at >= 0) suspects.splice(at, 1);
    if (queue.remove(task) || at >= 0) return task.reject(reason);
    for (const seat of seats) if (seat.task === task) end(seat, { reason });
  }

  return {
    extract(name, job, { owner, signal, isAlone: needsAll = false, begin }) {
      if (isClosed) return Promise.reject(closed());
      if (signal?.aborted) return Promise.reject(signal.reason);
      const { promise, resolve, reject } = withResolvers();
      const bytes = typeof job.from === "string" ? 0 : job.from.byteLength;
      const allowance = allowanceOf(job, options);
      const task: Task = { owner, bytes, name, job, allowance, begin, resolve, reject };
      const onAbort = (): void => cancel(task, signal!.reason);
      signal?.addEventListener("abort", onAbort);
      if (needsAll) suspects.push(task);
      else queue.add(task);
      // What can be read at once does not wait.
      startNext();
      for (const dropped of queue.trim()) dropped.reject(queueFull(maxWaiting));
      return promise.finally(() => signal?.removeEventListener("abort", onAbort));
    },
    countThreads: () => idle.size + seats.size + ending.size,
    countHeldBytes: () => [...idle.values()].reduce((sum, { held }) => sum + held, 0),
    async close() {
      isClosed = true;
      for (const task of [...queue.clear(), ...suspects.splice(0)]) task.reject(closed());
      for (const seat of seats) end(seat, { reason: closed() });
      for (const thread of idle.keys()) stop(thread);
      await Promise.all(ending);
    },
  };
}

function toFailure(name: string, error: unknown): unknown {
  const isFull = (error as { code?: unknown }).code === "ERR_WORKER_OUT_OF_MEMORY";
  return isFull ? refuse(name, "too-large") : error;
}

function withResolvers(): { promise: Promise<string> } & Pick<Task, "resolve" | "reject"> {
  let settle!: Pick<Task, "resolve" | "reject">;
  const promise = new Promise<string>((resolve, reject) => {
    settle = { resolve, reject };
  });
  return { promise, ...settle };
}
