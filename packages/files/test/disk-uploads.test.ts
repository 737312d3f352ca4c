import { mkdtemp, readdir, readFile, rm, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fakeClock } from "@holodeck/agui-testing";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createDiskUploads } from "../src/uploads/disk-uploads.ts";
import type { UploadsOptions, UploadStore } from "../src/uploads/upload-store.ts";

let dir = "";
const clock = fakeClock();
const opened: { close(): Promise<void> }[] = [];

beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), "disk-uploads-test-"));
});
afterEach(async () => {
  for (const store of opened.splice(0)) await store.close();
  await rm(dir, { recursive: true });
});

function open(options: UploadsOptions = {}): UploadStore {
  const store = createDiskUploads({ dir, ...options }, { clock, tempDir: undefined });
  opened.push(store);
  return store;
}

async function put(store: UploadStore, who: string, size: number): Promise<string> {
  async function* bytes(): AsyncGenerator<Uint8Array> {
    yield new Uint8Array(size).fill(65);
  }
  const upload = { name: "a.txt", owner: who, bytes: bytes(), maxBytes: 1e9 };
  return (await store.put(who, { ...upload, check: async () => "text/plain" })).id;
}

async function isKept(store: UploadStore, who: string, id: string): Promise<boolean> {
  const place = { spool: undefined as never, admit() {} };
  return (await store.get(who, id, place)) !== undefined;
}

const full = (limit: string): object => ({
  code: "capacity-exceeded",
  status: 429,
  retryAfter: 60,
  message: `The upload store is full: this server keeps at most ${limit}.`,
});

describe("uploads on disk", () => {
  test("have a bound on their number, and make room when they expire", async () => {
    const store = open({ maxFiles: 3, ttlMs: 1000 });
    for (let at = 0; at < 3; at++) await put(store, "ann", 1);
    await expect(put(store, "ann", 1)).rejects.toMatchObject(full("3 files"));
    expect(await readdir(dir)).toHaveLength(6);
    await clock.advance(1000);
    await put(store, "ann", 1);
    expect(await readdir(dir)).toHaveLength(2);
  });

  test("of the principal that has most make room for one that has less than its share", async () => {
    const store = open({ maxBytes: 1000 });
    const [oldest, newer] = [await put(store, "mallory", 500), await put(store, "mallory", 500)];
    const own = await put(store, "ann", 400);
    expect(await isKept(store, "ann", own)).toBe(true);
    expect(await isKept(store, "mallory", oldest)).toBe(false);
    expect(await isKept(store, "mallory", newer)).toBe(true);
    // Beyond an equal share there is no more room.
    await expect(put(store, "ann", 200)).rejects.toMatchObject(full("1000 bytes"));
    await expect(put(store, "mallory", 200)).rejects.toMatchObject(full("1000 bytes"));
    await put(store, "mallory", 100);
  });

  test("of a principal that fills the number of uploads make room as well", async () => {
    const store = open({ maxFiles: 4 });
    for (let at = 0; at < 4; at++) await put(store, "mallory", 1);
    const own = [await put(store, "ann", 1), await put(store, "ann", 1)];
    for (const id of own) expect(await isKept(store, "ann", id)).toBe(true);
    await expect(put(store, "ann", 1)).rejects.toMatchObject(full("4 files"));
  });

  test("that arrive together count before they are complete", async () => {
    const store = open({ maxBytes: 1000 });
    const all = await Promise.allSettled([1, 2, 3].map(() => put(store, "ann", 400)));
    expect(all.filter(({ status }) => status === "fulfilled")).toHaveLength(2);
    expect(await readdir(dir)).toHaveLength(4);
  });

  test("are counted again after a restart, and with those of another process", async () => {
    await put(open({ maxBytes: 1000 }), "ann", 600);
    const [one, other] = [open({ maxBytes: 1000 }), open({ maxBytes: 1000 })];
    await expect(put(one, "ann", 600)).rejects.toMatchObject(full("1000 bytes"));
    const id = await put(other, "ann", 300);
    expect(await isKept(one, "ann", id)).toBe(true);
    await expect(put(one, "ann", 300)).rejects.toMatchObject(full("1000 bytes"));
    expect(await one.delete("ann", id)).toBe(true);
    await put(other, "ann", 300);
  });

  test("that a process has not completed are removed by a later one", async () => {
    await writeFile(join(dir, "abandoned"), "x");
    await utimes(join(dir, "abandoned"), 0, 0);
    await writeFile(join(dir, "arriving"), "x");
    const store = open({ ttlMs: 60_000 });
    const id = await put(store, "ann", 1);
    expect(await isKept(store, "ann", id)).toBe(true);
    const names = await readdir(dir);
    expect(names).toContain("arriving");
    expect(names).not.toContain("abandoned");
  });

  test("keep no principal in their records", async () => {
    await put(open(), "ann@example.com", 1);
    for (const name of await readdir(dir)) {
      expect(await readFile(join(dir, name), "utf8")).not.toContain("ann@");
    }
  });
});
