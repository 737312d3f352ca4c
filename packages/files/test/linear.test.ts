import { describe, expect, test } from "vitest";
import { extractText } from "../src/extract/extract-text.ts";
import { Faulty } from "../src/extract/job.ts";
import type { ExtractKind } from "../src/extract/job.ts";
import { ZipError } from "../src/extract/zip.ts";
import { hostiles } from "./_hostile.ts";
import type { Hostile } from "./_hostile.ts";

const MiB = 1024 * 1024;

async function read(kind: ExtractKind, bytes: Uint8Array): Promise<string | undefined> {
  const job = { kind, from: bytes, maxChars: 100_000, inflatedBytes: 100 * MiB };
  try {
    return await extractText(bytes, { ...job, ocr: { language: "eng" } });
  } catch (error) {
    if (error instanceof Faulty || error instanceof ZipError) return undefined;
    throw error;
  }
}

// Time at work, in µs: waiting for a busy machine is not in it.
async function timeOf(kind: ExtractKind, bytes: Uint8Array): Promise<number> {
  const start = process.cpuUsage();
  await read(kind, bytes);
  const { user, system } = process.cpuUsage(start);
  return Math.max(100, user + system);
}

// Of several tries the shortest: what else the machine does can only add to it. The sizes take turns, and trying ends as
// soon as the answer is clear.
async function growthOf(kind: ExtractKind, make: Hostile): Promise<number> {
  const [small, large] = [make(size), make(times * size)];
  let [one, all] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY];
  for (let tries = 0; tries < 12 && !(tries > 1 && all / one < most); tries++) {
    one = Math.min(one, await timeOf(kind, small));
    all = Math.min(all, await timeOf(kind, large));
  }
  return all / one;
}

// 16 times as much takes 16 times as long, and 256 times as long where each byte leads to a look at all others.
const size = 64 * 1024;
const times = 16;
const most = 80;

describe("reading takes as long as there is text, with", () => {
  test.each(hostiles)("$what", async ({ kind, make }) => {
    expect(await growthOf(kind, make)).toBeLessThan(most);
  });
});
