// Files that the fuzz has found: their reader goes on after it has answered, and then fails.
import { readdirSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { createExtractor } from "../src/extract/extractor.ts";
import { makePdf } from "./_make.ts";

const corpus = new URL("../../../hardening/corpus/pdf/", import.meta.url);
const found = readdirSync(corpus).filter((name) => name.startsWith("find-"));

test.for(found)("%s does not fail the file that is read after it", async (name) => {
  const extractor = createExtractor({
    timeoutMs: 300_000,
    memoryBytes: 512 * 1024 * 1024,
    workers: 1,
    queue: 10,
  });
  const read = (from: Uint8Array, owner: string): Promise<string> => {
    const job = { kind: "pdf" as const, from, maxChars: 1_000, inflatedBytes: 1_000_000 };
    return extractor.extract(name, { ...job, ocr: { language: "eng" } }, { owner });
  };
  const hostile = new Uint8Array(readFileSync(new URL(name, corpus)));
  const fine = await makePdf("Fine");
  for (let round = 0; round < 5; round++) {
    await read(hostile, "mallory").catch(() => undefined);
    expect(await read(fine, "ann")).toBe("Fine");
    expect(extractor.countThreads()).toBe(1);
  }
  await extractor.close();
});
