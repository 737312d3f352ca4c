// Reads an ordinary file and then bombs, as a server would, and prints what this process takes after each of them.
import { createFileReader } from "../src/extract/file-reader.ts";
import { makePdf } from "./_make.ts";
import { pdfBomb } from "./_pages.ts";

const MiB = 1024 * 1024;
const memoryBytes = Number(process.argv[2]);
const reader = createFileReader({ timeoutMs: 300_000, memoryBytes, workers: 2, queue: 10 });

async function read(from: Uint8Array): Promise<void> {
  const job = { kind: "pdf" as const, from, maxChars: 1_000, inflatedBytes: 100 * MiB };
  const owner = "ann";
  const outcome = await reader
    .extract("a.pdf", { ...job, ocr: { language: "eng" } }, { owner })
    .then(
      (text) => text,
      (error: { fault?: string }) => error.fault,
    );
  globalThis.gc?.();
  const { rss } = process.memoryUsage();
  process.stdout.write(`${JSON.stringify({ outcome, rss })}\n`);
}

const bomb = pdfBomb(1024 * MiB);
await read(await makePdf("Fine"));
for (let round = 0; round < 2; round++) await read(bomb);
await read(await makePdf("Fine"));
// Not closed: an idle process keeps no other alive, and the other ends with it.
