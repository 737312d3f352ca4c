import { createExtractor } from "./extractor.ts";
import type { Extractor, ExtractorOptions, ExtractFor } from "./extractor.ts";
import type { ExtractJob } from "./job.ts";
import { closed } from "./pool/answers.ts";
import { fromOutcome } from "./pool/messages.ts";
import type { ReaderReport } from "./pool/messages.ts";
import { startReadingProcess } from "./pool/reading-process.ts";
import type { ReadingProcess } from "./pool/reading-process.ts";

/** Gets at the text of files in another process. */
export interface FileReader extends Pick<Extractor, "extract" | "close"> {
  /** How many processes there are. */
  countProcesses(): number;
}

interface Task {
  readonly name: string;
  readonly job: ExtractJob;
  readonly by: ExtractFor;
  readonly resolve: (text: string) => void;
  readonly reject: (reason: unknown) => void;
  /** Whether its reading has begun in the process that it was sent to. */
  hasBegun: boolean;
  /** How often a process ended while it was read. */
  crashes: number;
}

/** A process, and what it has to read. */
interface Running {
  readonly process: ReadingProcess;
  readonly tasks: Map<number, Task>;
  idle: NodeJS.Timeout | undefined;
  isReady: boolean;
  /** It gets no more tasks. */
  isLeaving: boolean;
}

const maxCrashes = 2;

/**
 * Files are read in one process besides this one, by threads. It is started for the first file, and ends when there was
 * nothing to read for a while, or when files have left memory behind that its allocator keeps. When it ends unexpectedly,
 * what it was reading is read again, one file at a time: the file that ends it twice is refused.
 */
export function createFileReader(options: ExtractorOptions): FileReader {
  const { idleMs = 30_000, queue } = options;
  const running = new Set<Running>();
  const leaving = new Set<Promise<unknown>>();
  /** Where processes cannot be started. */
  let here: Extractor | undefined = canStartProcesses() ? undefined : createExtractor(options);
  let hasStarted = false;
  let isClosed = false;
  let lastId = 0;

  function current(): Running {
    for (const one of running) if (!one.isLeaving) return one;
    const process = startReadingProcess(options, {
      received: (report) => receive(one, report),
      ended: () => afterEnd(one),
    });
    const one: Running = {
      process,
      tasks: new Map(),
      idle: undefined,
      isReady: false,
      isLeaving: false,
    };
    running.add(one);
    return one;
  }

  function start(task: Task): void {
    if (here) return readHere(here, task);
    let one: Running;
    try {
      one = current();
    } catch {
      // It may not even be tried, by the permissions of this process.
      return readHere((here = createExtractor(options)), task);
    }
    clearTimeout(one.idle);
    one.process.hold(true);
    const id = ++lastId;
    task.hasBegun = false;
    one.tasks.set(id, task);
    const { name, job, by } = task;
    const isAlone = task.crashes > 0;
    one.process.send({ type: "read", id, name, job, owner: by.owner, isAlone });
  }

  function readHere(extractor: Extractor, { name, job, by, resolve, reject }: Task): void {
    void extractor.extract(name, job, by).then(resolve, reject);
  }

  function receive(one: Running, report: ReaderReport): void {
    if (report.type === "ready") return void (one.isReady = hasStarted = true);
    const task = one.tasks.get(report.id);
    if (report.type === "began") {
      if (task) task.hasBegun = true;
      return;
    }
    one.tasks.delete(report.id);
    one.isLeaving ||= report.isGrown;
    const { outcome } = report;
    if ("text" in outcome) task?.resolve(outcome.text);
    else task?.reject(fromOutcome(outcome, { name: task.name, queue }));
    if (one.tasks.size === 0) rest(one);
  }

  function rest(one: Running): void {
    clearTimeout(one.idle);
    if (one.isLeaving) return end(one);
    one.process.hold(false);
    one.idle = setTimeout(() => end(one), idleMs).unref();
  }

  function end(one: Running): void {
    one.isLeaving = true;
    clearTimeout(one.idle);
    const ended = one.process.end().finally(() => leaving.delete(ended));
    leaving.add(ended);
  }

  function afterEnd(one: Running): void {
    running.delete(one);
    clearTimeout(one.idle);
    // This host does not let it start.
    if (!hasStarted && !isClosed) here ??= createExtractor(options);
    for (const task of one.tasks.values()) {
      if (task.hasBegun || !one.isReady) task.crashes++;
      if (task.crashes < maxCrashes) start(task);
      else task.reject(new Error(`The process that read ${JSON.stringify(task.name)} has ended.`));
    }
  }

  function cancel(task: Task, reason: unknown): void {
    for (const one of running) {
      for (const [id, known] of one.tasks) {
        if (known !== task) continue;
        one.tasks.delete(id);
        one.process.send({ type: "cancel", id });
        if (one.tasks.size === 0) rest(one);
      }
    }
    task.reject(reason);
  }

  return {
    extract(name, job, by) {
      const { signal } = by;
      if (isClosed) return Promise.reject(closed());
      if (signal?.aborted) return Promise.reject(signal.reason);
      let task!: Task;
      const promise = new Promise<string>((resolve, reject) => {
        task = { name, job, by, resolve, reject, hasBegun: false, crashes: 0 };
      });
      const onAbort = (): void => cancel(task, signal!.reason);
      signal?.addEventListener("abort", onAbort);
      start(task);
      return promise.finally(() => signal?.removeEventListener("abort", onAbort));
    },
    countProcesses: () => running.size,
    async close() {
      isClosed = true;
      for (const one of running) {
        for (const task of one.tasks.values()) task.reject(closed());
        one.tasks.clear();
        end(one);
      }
      await Promise.all([...leaving, here?.close()]);
    },
  };
}

// An application that has Node inside of it would start itself.
function canStartProcesses(): boolean {
  return /^(?:node|bun|deno)[^/\\]*$/i.test(process.execPath.split(/[/\\]/).at(-1) ?? "");
}
