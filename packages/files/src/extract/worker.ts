import { readFile } from "node:fs/promises";
import { parentPort } from "node:worker_threads";
import { extractDocx } from "./extract-docx.ts";
import { extractImage } from "./extract-image.ts";
import { extractPdf } from "./extract-pdf.ts";
import { extractPptx } from "./extract-pptx.ts";
import { extractXlsx } from "./extract-xlsx.ts";
import { Faulty } from "./job.ts";
import type { ExtractAnswer, ExtractJob, ExtractKind } from "./job.ts";
import { ZipError } from "./zip.ts";

const extractors: Record<
  ExtractKind,
  (bytes: Uint8Array, job: ExtractJob) => string | Promise<string>
> = {
  pdf: extractPdf,
  docx: extractDocx,
  xlsx: extractXlsx,
  pptx: extractPptx,
  ocr: extractImage,
};

const port = parentPort!;
port.on("message", (job: ExtractJob) => {
  void answer(job).then(say);
});
say("ready");

function say(word: ExtractAnswer | "ready"): void {
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- A thread has no origin.
  port.postMessage(word);
}

async function answer(job: ExtractJob): Promise<ExtractAnswer> {
  try {
    const { kind, from, maxChars } = job;
    const bytes = typeof from === "string" ? new Uint8Array(await readFile(from)) : from;
    const text = await extractors[kind](bytes, job);
    // One more than fits, so that the other side sees that it has to be cut.
    return { text: text.slice(0, maxChars + 1) };
  } catch (error) {
    return explain(error);
  }
}

function explain(error: unknown): ExtractAnswer {
  if (error instanceof Faulty) return { fault: error.fault };
  if (error instanceof ZipError) return { fault: error.reason };
  const { code, message } = error as { code?: unknown; message?: unknown };
  if (code === "ERR_MODULE_NOT_FOUND" || code === "MODULE_NOT_FOUND") {
    const missing = /Cannot find (?:package|module) '([^']+)'/.exec(String(message))?.[1];
    if (missing !== undefined) return { missing };
  }
  return { error: error instanceof Error ? error.message : String(error) };
}
