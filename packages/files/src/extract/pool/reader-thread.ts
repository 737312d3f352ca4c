import { Worker } from "node:worker_threads";
import type { WorkerOptions } from "node:worker_threads";
import type { ExtractAnswer, ExtractJob } from "../job.ts";
import { isSource, workerUrl } from "./worker-url.ts";

/** What a thread answers to a job. */
export interface ReaderAnswer {
  readonly answer: ExtractAnswer;
  /** What the thread has kept in memory. */
  readonly held: number;
}

/** A thread that reads one file at a time. */
export interface ReaderThread {
  /** Resolves when it can take a job. */
  readonly ready: Promise<unknown>;
  /** Rejects when the thread ends before it has answered. */
  read(job: ExtractJob): Promise<ReaderAnswer>;
  /** Between two jobs it does not keep the process alive. */
  rest(): void;
  stop(): Promise<void>;
}

const MiB = 1024 * 1024;

/** Its heap has a limit; what it holds outside of its heap is for the caller to watch. */
export function startReader(memoryBytes: number): ReaderThread {
  const thread = startWorker({
    // The readers' output about a file does not belong on the host's console.
    stdout: true,
    stderr: true,
    resourceLimits: { maxOldGenerationSizeMb: Math.ceil(memoryBytes / MiB) },
  });
  let hasEnded = false;

  function next<T>(): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      if (hasEnded) return reject(new Error("The thread has ended."));
      const onMessage = (message: T): void => settle(() => resolve(message));
      const onError = (error: Error): void => settle(() => reject(error));
      const onExit = (): void => settle(() => reject(new Error("The thread has ended.")));
      function settle(report: () => void): void {
        thread.off("message", onMessage).off("error", onError).off("exit", onExit);
        report();
      }
      thread.on("message", onMessage).on("error", onError).on("exit", onExit);
    });
  }

  const ready = next();
  ready.catch(() => undefined);
  // One that fails between two jobs fails the next one.
  thread.on("error", () => undefined).on("exit", () => (hasEnded = true));
  return {
    ready,
    read(job) {
      thread.ref();
      const answer = next<ReaderAnswer>();
      // oxlint-disable-next-line unicorn/require-post-message-target-origin -- A thread has no origin.
      thread.postMessage(job);
      return answer;
    },
    rest: () => thread.unref(),
    async stop() {
      await thread.terminate();
    },
  };
}

function startWorker(options: WorkerOptions): Worker {
  const url = workerUrl();
  if (!isSource(url)) return new Worker(url, options);
  const href = JSON.stringify(url.href);
  const boot = `import("tsx/esm/api").then(({ tsImport }) => tsImport(${href}, ${href}))`;
  return new Worker(boot, { ...options, eval: true });
}
