import { readFile } from "node:fs/promises";
import { parentPort } from "node:worker_threads";
import type { MessagePort } from "node:worker_threads";
import { extractText } from "./extract-text.ts";
import { Faulty } from "./job.ts";
import type { ExtractAnswer, ExtractJob } from "./job.ts";
import type { ReaderAnswer } from "./pool/reader-thread.ts";
import { serveParent } from "./pool/serve-parent.ts";
import { ZipError } from "./zip.ts";

// One file is both: a process that reads files, and each of its threads.
if (parentPort) readFor(parentPort);
else serveParent();

function readFor(port: MessagePort): void {
  const send = (message: ReaderAnswer | "ready"): void => {
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- A thread has no origin.
    port.postMessage(message);
  };
  port.on("message", (job: ExtractJob) => {
    void answer(job).then((found) => send({ answer: found, held: heldNow() }));
  });
  // Readers go on after they have failed: what fails then is of no file that is being read.
  process.on("unhandledRejection", ignore);
  send("ready");
}

function ignore(): void {}

function heldNow(): number {
  const { heapTotal, external } = process.memoryUsage();
  return heapTotal + external;
}

async function answer(job: ExtractJob): Promise<ExtractAnswer> {
  try {
    const { from, maxChars } = job;
    const bytes = typeof from === "string" ? new Uint8Array(await readFile(from)) : from;
    const text = await extractText(bytes, job);
    // One more than fits, so that the other side sees that it has to be cut.
    return { text: text.slice(0, maxChars + 1) };
  } catch (error) {
    return explain(error);
  }
}

function explain(error: unknown): ExtractAnswer {
  if (error instanceof Faulty) return { fault: error.fault };
  if (error instanceof ZipError) return { fault: error.reason, detail: error.detail };
  const { code, message } = error as { code?: unknown; message?: unknown };
  if (code === "ERR_MODULE_NOT_FOUND" || code === "MODULE_NOT_FOUND") {
    const missing = /Cannot find (?:package|module) '([^']+)'/.exec(String(message))?.[1];
    if (missing !== undefined) return { missing };
  }
  return { error: error instanceof Error ? error.message : String(error) };
}
