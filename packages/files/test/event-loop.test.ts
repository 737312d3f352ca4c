import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { setImmediate } from "node:timers/promises";
import type { InputFile } from "@holodeck/agui-core";
import { defaultLimits, silentLogger } from "@holodeck/agui-core";
import { PDFDocument } from "pdf-lib";
import { expect, test } from "vitest";
import { extractFiles } from "../src/index.ts";
import { types } from "./_serve.ts";

const MiB = 1024 * 1024;

async function heavyPdf(): Promise<Uint8Array> {
  const pdf = await PDFDocument.create();
  for (let page = 0; page < 50; page++) pdf.addPage().drawText(`Page ${page} of many`);
  await pdf.attach(new Uint8Array(20 * MiB), "weight.bin", { mimeType: "application/zip" });
  return pdf.save({ useObjectStreams: false });
}

// Work of the server's own, in small steps, until it is told to stop.
async function p99While(work: () => Promise<unknown>): Promise<number> {
  const histogram = monitorEventLoopDelay({ resolution: 5 });
  let isOver = false;
  histogram.enable();
  const busy = (async () => {
    for (let sum = 0; !isOver;) {
      for (let i = 0; i < 20_000; i++) sum += Math.sqrt(i);
      await setImmediate();
    }
  })();
  await work();
  isOver = true;
  await busy;
  histogram.disable();
  return histogram.percentile(99) / 1e6;
}

test("goes on serving while ten PDFs of 20 MB are read", async () => {
  const tempDir = await mkdtemp(join(tmpdir(), "loop-test-"));
  const processor = extractFiles({ tempDir });
  const spool = processor.spool!();
  const bytes = await heavyPdf();
  const uploads: InputFile[] = [];
  for (let at = 0; at < 10; at++) {
    const writer = spool.open();
    await writer.write(bytes);
    uploads.push(await writer.end({ name: `${at}.pdf`, mimeType: types.pdf }));
  }
  const input = {
    threadId: "t",
    runId: "r",
    messages: [{ id: "m", role: "user" as const, content: "Read" }],
    tools: [],
    context: [],
    state: {},
    forwardedProps: {},
  };
  const process = async (files: readonly InputFile[]): Promise<string> => {
    const job = { input, uploads: files, principal: undefined, requestId: "q" };
    const read = await processor.process({ ...job, limits: defaultLimits, logger: silentLogger });
    return JSON.stringify([...read.messages.values()]);
  };
  // The thread is started outside of what is measured, and the other half takes as long.
  await process(uploads.slice(0, 1));
  let text = "";
  const start = performance.now();
  const withFiles = await p99While(async () => (text = await process(uploads)));
  const ms = performance.now() - start;
  const alone = await p99While(async () => {
    for (const end = performance.now() + ms; performance.now() < end;) await setImmediate();
  });
  expect(text.match(/Page 49 of many/g)).toHaveLength(10);
  // A machine with nothing else to do has delays so short that their ratio says nothing.
  expect(withFiles).toBeLessThanOrEqual(3 * Math.max(alone, 15));
  await spool.release();
  await processor.close!();
  expect(await readdir(tempDir)).toEqual([]);
  await rm(tempDir, { recursive: true });
});
