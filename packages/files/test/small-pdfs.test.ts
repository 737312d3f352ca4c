import { readFileSync } from "node:fs";
import { afterEach, describe, expect, test, vi } from "vitest";
import { createExtractor } from "../src/extract/extractor.ts";
import type { Extractor } from "../src/extract/extractor.ts";
import { fontBomb } from "./_font-bomb.ts";
import { millionPages } from "./_pages.ts";

const MiB = 1024 * 1024;
const memoryBytes = 1024 * MiB;
const timeoutMs = 3_600_000;
const timeout = 300_000;
const found = "../../../hardening/corpus/pdf/slow-8b92b5165a02.pdf";

let extractor: Extractor | undefined;
afterEach(async () => {
  realTimers();
  await extractor?.close();
});

function read(from: Uint8Array): Promise<string> {
  extractor = createExtractor({ timeoutMs, memoryBytes, workers: 1, queue: 1 });
  const job = { kind: "pdf" as const, from, maxChars: 100_000, inflatedBytes: 100 * MiB };
  return extractor.extract("a.pdf", { ...job, ocr: { language: "eng" } }, { owner: "ann" });
}

/** The result, and what this process has grown by meanwhile. */
async function watched(work: Promise<string>): Promise<{ outcome: unknown; grown: number }> {
  const before = process.memoryUsage.rss();
  let most = before;
  const watch = setInterval(() => (most = Math.max(most, process.memoryUsage.rss())), 5);
  const outcome = await work.catch((error: unknown) => error);
  clearInterval(watch);
  return { outcome, grown: most - before };
}

describe("a small PDF", () => {
  test("with a font of a thousand characters is read", { timeout }, async () => {
    expect(await read(fontBomb(1_000))).toBe("AAAA");
  });

  test.for([
    ["that the fuzz has found", new Uint8Array(readFileSync(new URL(found, import.meta.url)))],
    ["with a font that claims four billion characters", fontBomb(2 ** 32 - 1)],
  ] as const)(
    "is refused before it has taken all of the memory: %s",
    { timeout },
    async ([, pdf]) => {
      const { outcome, grown } = await watched(read(pdf));
      expect(outcome).toMatchObject({ fault: "too-large" });
      // It has a half; the rest is what the process takes between two looks.
      expect(grown / memoryBytes).toBeLessThan(3 / 4);
    },
  );

  test("has a part of the time, a large one all of it", { timeout }, async () => {
    for (const [bytes, share] of [
      [20_000, 1 / 4],
      [128 * 1024, 1 / 2],
      [256 * 1024, 1],
      [300_000, 1],
    ] as const) {
      vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
      const asked = watchTimers();
      const allowed = (): number | undefined => asked.find((ms) => ms > timeoutMs / 10);
      const isOver = vi.fn<() => void>();
      const reading = read(toSize(millionPages(""), bytes)).catch((error: unknown) => error);
      void reading.then(isOver);
      // Its time begins when the thread has started.
      while (!allowed()) await new Promise((resolve) => setImmediate(resolve));
      expect(allowed()).toBe(share * timeoutMs);
      await vi.advanceTimersByTimeAsync(share * timeoutMs - 60_000);
      expect(isOver).not.toHaveBeenCalled();
      await vi.advanceTimersByTimeAsync(60_000);
      expect(await reading).toMatchObject({ fault: "too-slow" });
      realTimers();
      await extractor?.close();
    }
  });
});

/** The times that timers are set for, from now on. */
function watchTimers(): number[] {
  const asked: number[] = [];
  const { setTimeout } = globalThis;
  vi.stubGlobal("setTimeout", (work: () => void, ms = 0) => {
    asked.push(ms);
    return setTimeout(work, ms);
  });
  return asked;
}

function realTimers(): void {
  // In this order: the stub puts back what it found, which is the fake.
  vi.unstubAllGlobals();
  vi.useRealTimers();
}

/** The same PDF with so many bytes: a comment follows. */
function toSize(pdf: Uint8Array, bytes: number): Uint8Array {
  return new Uint8Array(Buffer.concat([pdf, Buffer.alloc(bytes - pdf.length, "\n%")]));
}
