import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { countPixels } from "./image-size.ts";
import type { Worker as Reader } from "tesseract.js";
import { Faulty } from "./job.ts";
import type { ExtractJob, OcrJob } from "./job.ts";

// What a camera makes; a few kilobytes can claim far more.
const maxPixels = 50_000_000;

let reader: { readonly key: string; readonly made: Promise<Reader> } | undefined;

/** The text that can be read in an image. */
export async function extractImage(bytes: Uint8Array, { ocr }: ExtractJob): Promise<string> {
  const pixels = countPixels(bytes);
  if (pixels === undefined) throw new Faulty("damaged");
  if (pixels > maxPixels) throw new Faulty("too-large");
  const key = JSON.stringify(ocr);
  // It takes longer to start than to read a page.
  if (reader?.key !== key) reader = { key, made: start(ocr) };
  const worker = await reader.made.catch((error: unknown) => {
    // The next image tries again.
    reader = undefined;
    throw error;
  });
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const { data } = await worker.recognize(buffer).catch(() => {
    throw new Faulty("damaged");
  });
  return data.text.trim();
}

async function start({ language, langPath }: OcrJob): Promise<Reader> {
  // First, so that when both are missing the error names the reader and not its data.
  const { createWorker } = await import("tesseract.js");
  return createWorker(language, 1, {
    langPath: langPath ?? findData(language),
    gzip: true,
    // Nothing is downloaded, so nothing is kept.
    cacheMethod: "none",
    // An unreadable image rejects the promise.
    errorHandler: () => undefined,
  });
}

function findData(language: string): string {
  const main = createRequire(import.meta.url).resolve(`@tesseract.js-data/${language}`);
  return join(dirname(main), "4.0.0_best_int");
}
