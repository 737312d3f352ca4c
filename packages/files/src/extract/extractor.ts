import { quoteText } from "@holodeck/agui-core/internal";
import { Worker } from "node:worker_threads";
import type { WorkerOptions } from "node:worker_threads";
import { AgentError } from "@holodeck/agui-core";
import { FileError } from "../shared/file-error.ts";
import type { FileFault } from "../shared/file-error.ts";
import type { ExtractAnswer, ExtractJob } from "./job.ts";

export interface ExtractorOptions {
  readonly timeoutMs: number;
  readonly memoryBytes: number;
}

/** Gets at the text of files away from the event loop. */
export interface Extractor {
  /** Rejects with a `FileError` that names the file, or when the signal is aborted. */
  extract(name: string, job: ExtractJob, signal?: AbortSignal): Promise<string>;
  close(): Promise<void>;
}

interface Task {
  readonly name: string;
  readonly job: ExtractJob;
  readonly signal: AbortSignal | undefined;
  resolve(text: string): void;
  reject(reason: unknown): void;
}

const MiB = 1024 * 1024;
const watchMs = 25;
const idleMs = 30_000;

/**
 * One worker thread, one file at a time: what the process grows by meanwhile is then that file's doing.
 * (A thread's own limits do not count what it holds outside its heap, which is where a bomb goes off.)
 */
export function createExtractor({ timeoutMs, memoryBytes }: ExtractorOptions): Extractor {
  const waiting: Task[] = [];
  let worker: Promise<Worker> | undefined;
  let isBusy = false;
  let isClosed = false;
  let idle: NodeJS.Timeout | undefined;

  async function next(): Promise<void> {
    if (isBusy) return;
    const task = waiting.shift();
    if (!task) return rest();
    if (isClosed) {
      task.reject(closed());
      return next();
    }
    if (task.signal?.aborted) {
      task.reject(task.signal.reason);
      return next();
    }
    isBusy = true;
    clearTimeout(idle);
    try {
      const thread = await (worker ??= start());
      thread.ref();
      task.resolve(await perform(thread, task));
      thread.unref();
    } catch (error) {
      task.reject(error);
    }
    isBusy = false;
    await next();
  }

  function rest(): void {
    if (!worker || isClosed) return;
    idle = setTimeout(() => void stop(), idleMs).unref();
  }

  async function stop(): Promise<void> {
    clearTimeout(idle);
    const stopping = worker;
    worker = undefined;
    // One that could not start is gone already.
    const thread = await stopping?.catch(() => undefined);
    await thread?.terminate();
  }

  async function start(): Promise<Worker> {
    const maxOldGenerationSizeMb = Math.ceil(memoryBytes / MiB);
    const thread = startWorker({
      // The readers' output about a file does not belong on the host's console.
      stdout: true,
      stderr: true,
      resourceLimits: { maxOldGenerationSizeMb },
    });
    return new Promise((resolve, reject) => {
      thread.once("message", () => resolve(thread));
      thread.once("error", (error) => {
        worker = undefined;
        reject(error);
      });
    });
  }

  function perform(thread: Worker, { name, job, signal }: Task): Promise<string> {
    const base = process.memoryUsage.rss();
    return new Promise<string>((resolve, reject) => {
      const onMessage = (answer: ExtractAnswer): void => {
        settle();
        if ("text" in answer) resolve(answer.text);
        else reject(toError(name, answer));
      };
      // It has no more memory, or broke; either way it is gone.
      const onError = (error: Error & { code?: string }): void => {
        worker = undefined;
        settle();
        const isFull = error.code === "ERR_WORKER_OUT_OF_MEMORY";
        reject(isFull ? refuse(name, "too-large") : error);
      };
      // The handler was closed under it.
      const onExit = (): void => {
        settle();
        reject(closed());
      };
      const kill = (reason: unknown): void => {
        settle();
        void stop().then(() => reject(reason));
      };
      const onAbort = (): void => kill(signal!.reason);
      const timer = setTimeout(() => kill(refuse(name, "too-slow")), timeoutMs);
      const watch = setInterval(() => {
        if (process.memoryUsage.rss() - base > memoryBytes) kill(refuse(name, "too-large"));
      }, watchMs);
      function settle(): void {
        clearTimeout(timer);
        clearInterval(watch);
        thread.off("message", onMessage).off("error", onError).off("exit", onExit);
        signal?.removeEventListener("abort", onAbort);
      }
      thread.on("message", onMessage).on("error", onError).on("exit", onExit);
      signal?.addEventListener("abort", onAbort);
      // oxlint-disable-next-line unicorn/require-post-message-target-origin -- A thread has no origin.
      thread.postMessage(job);
    });
  }

  return {
    extract(name, job, signal) {
      if (isClosed) return Promise.reject(closed());
      return new Promise((resolve, reject) => {
        waiting.push({ name, job, signal, resolve, reject });
        void next();
      });
    },
    async close() {
      isClosed = true;
      await stop();
    },
  };
}

function closed(): AgentError {
  return new AgentError("shutting-down", "The server is shutting down.");
}

function startWorker(options: WorkerOptions): Worker {
  const here = import.meta.url;
  if (!here.endsWith(".ts")) return new Worker(new URL("./worker.js", here), options);
  // From its sources, as our own tests run it: not every Node reads TypeScript, so a loader goes first.
  const url = JSON.stringify(new URL("./worker.ts", here).href);
  const boot = `import("tsx/esm/api").then(({ tsImport }) => tsImport(${url}, ${url}))`;
  return new Worker(boot, { ...options, eval: true });
}

const words: Partial<Record<FileFault, string>> = {
  damaged: "is damaged and cannot be read",
  encrypted: "is protected by a password",
  "too-large": "takes too much memory to read",
  "too-slow": "takes too long to read",
};

function refuse(name: string, fault: FileFault): FileError {
  return new FileError(name, fault, `${quoteText(name, 100)} ${words[fault] ?? "cannot be read"}.`);
}

function toError(name: string, answer: Exclude<ExtractAnswer, { text: string }>): Error {
  if ("fault" in answer) return refuse(name, answer.fault);
  if ("error" in answer)
    return new Error(`${quoteText(name, 100)} could not be read: ${answer.error}`);
  const { missing } = answer;
  return new Error(
    `Reading ${quoteText(name, 100)} requires the package ${missing}, which is not installed: npm install ${missing}.`,
  );
}
