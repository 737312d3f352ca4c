import type { BlobStore, SessionStore } from "@holodeck/agui-core";
import { describe, expect } from "vitest";
import { hour, ttlMs } from "./_store-kit.ts";
import type { SessionKit } from "./_store-kit.ts";
import { codeOf, oddKeys } from "./_store-bench.ts";

const KiB = 1024;
const key = { principal: "ann", id: "b1" } as const;
const about = { ttlMs: hour, metadata: { name: "a.pdf", nested: { list: [1, null, "ü"] } } };

/** Bytes that a store keeps next to its sessions: complete, for their owner, for the given time. */
export function testSessionBlobs(
  { bench, define }: SessionKit,
  { hasBlobs }: { hasBlobs: boolean },
): void {
  describe.runIf(hasBlobs)("blobs", () => {
    define("come back as they were kept, however they were cut", async () => {
      const blobs = blobsOf(await bench.open());
      const whole = noise(700 * KiB + 13);
      const cuts = [0, 1, 1, 64 * KiB, 64 * KiB + 1, 400_000, whole.length];
      await blobs.put(key, cutAt(whole, cuts), about);
      const blob = await blobs.get(key);
      expect(blob).toMatchObject({ size: whole.length, metadata: about.metadata });
      // As often as one likes.
      for (let turn = 0; turn < 2; turn++) expect(equal(await readAll(blob!), whole)).toBe(true);
    });

    define("pass through in pieces, never as a whole", async () => {
      const blobs = blobsOf(await bench.open());
      const whole = noise(3 * KiB * KiB);
      let taken = 0;
      async function* slowly(): AsyncGenerator<Uint8Array> {
        for (; taken < whole.length; taken += 64 * KiB) yield whole.slice(taken, taken + 64 * KiB);
      }
      await blobs.put(key, slowly(), about);
      const blob = await blobs.get(key);
      let largest = 0;
      for await (const piece of blob!.read()) largest = Math.max(largest, piece.byteLength);
      expect(largest).toBeLessThanOrEqual(KiB * KiB);
    });

    define("may be empty", async () => {
      const blobs = blobsOf(await bench.open());
      await blobs.put(key, cutAt(new Uint8Array(), [0]), { ...about, metadata: {} });
      const blob = await blobs.get(key);
      expect(blob).toMatchObject({ size: 0, metadata: {} });
      expect(await readAll(blob!)).toHaveLength(0);
    });

    define("belong to one principal", async () => {
      const blobs = blobsOf(await bench.open());
      await blobs.put(key, cutAt(noise(10)), about);
      const other = { ...key, principal: "bob" };
      expect(await blobs.get(other)).toBeUndefined();
      expect(await blobs.delete(other)).toBe(false);
      expect(await blobs.get(key)).toBeDefined();
    });

    define("are separated by principal and id, whatever is in them", async () => {
      const blobs = blobsOf(await bench.open());
      for (const [principal, id] of oddKeys) {
        await blobs.put({ principal, id }, cutAt(noise(1)), {
          ttlMs: hour,
          metadata: { principal, id },
        });
      }
      for (const [principal, id] of oddKeys) {
        const blob = await blobs.get({ principal, id });
        expect(blob?.metadata).toEqual({ principal, id });
      }
    });

    define("are written once", async () => {
      const blobs = blobsOf(await bench.open());
      const first = noise(100);
      await blobs.put(key, cutAt(first), about);
      expect(await codeOf(() => blobs.put(key, cutAt(noise(50)), about))).toBe("run-exists");
      expect(equal(await readAll((await blobs.get(key))!), first)).toBe(true);
    });

    define(
      "are not seen before they are whole, and leave nothing when they break off",
      async () => {
        const blobs = blobsOf(await bench.open());
        const half = noise(500 * KiB);
        const seen: unknown[] = [];
        async function* breaking(): AsyncGenerator<Uint8Array> {
          yield half;
          seen.push(await blobs.get(key));
          throw new Error("The client has left.");
        }
        await expect(blobs.put(key, breaking(), about)).rejects.toThrow("The client has left.");
        expect(seen).toEqual([undefined]);
        expect(await blobs.get(key)).toBeUndefined();
        expect(await blobs.size()).toBe(0);
        // The key is free again.
        await blobs.put(key, cutAt(noise(3)), about);
        expect(await blobs.get(key)).toMatchObject({ size: 3 });
      },
    );

    define("are gone when they are deleted", async () => {
      const blobs = blobsOf(await bench.open());
      await blobs.put(key, cutAt(noise(300 * KiB)), about);
      const blob = await blobs.get(key);
      expect(await blobs.delete(key)).toBe(true);
      expect(await blobs.delete(key)).toBe(false);
      expect(await blobs.get(key)).toBeUndefined();
      // A reader that found it before gets an error, not half of it.
      expect(await codeOf(() => readAll(blob!))).toBe("file-not-found");
    });

    define("expire by themselves, each in its own time", async () => {
      const blobs = blobsOf(await bench.open());
      await blobs.put(key, cutAt(noise(10)), { ...about, ttlMs });
      await blobs.put({ ...key, id: "b2" }, cutAt(noise(10)), about);
      expect(await blobs.get(key)).toBeDefined();
      await bench.pass(ttlMs);
      expect(await blobs.get(key)).toBeUndefined();
      expect(await blobs.get({ ...key, id: "b2" })).toBeDefined();
      // Its key may be used again.
      await blobs.put(key, cutAt(noise(5)), about);
      expect(await blobs.get(key)).toMatchObject({ size: 5 });
    });

    define("are counted together", async () => {
      const blobs = blobsOf(await bench.open());
      expect(await blobs.size()).toBe(0);
      await blobs.put(key, cutAt(noise(1000)), about);
      await blobs.put({ principal: "bob", id: "b1" }, cutAt(noise(234)), about);
      expect(await blobs.size()).toBe(1234);
      await blobs.delete(key);
      expect(await blobs.size()).toBe(234);
    });

    define("outlive the thread they were stored for", async () => {
      const store = await bench.open();
      const thread = { principal: "ann", threadId: "b1" };
      await store.create(thread, { agentId: "agent" });
      await blobsOf(store).put(key, cutAt(noise(10)), about);
      await store.delete(thread);
      expect(await blobsOf(store).get(key)).toMatchObject({ size: 10 });
    });

    define(
      "are found by another process",
      async () => {
        const blobs = blobsOf(await bench.open());
        const second = blobsOf(await bench.openSecond());
        const whole = noise(300 * KiB);
        await blobs.put(key, cutAt(whole), about);
        const blob = await second.get(key);
        expect(blob).toMatchObject({ size: whole.length, metadata: about.metadata });
        expect(equal(await readAll(blob!), whole)).toBe(true);
        expect(await second.size()).toBe(whole.length);
        expect(await codeOf(() => second.put(key, cutAt(noise(1)), about))).toBe("run-exists");
        expect(await second.delete(key)).toBe(true);
        expect(await blobs.get(key)).toBeUndefined();
      },
      "second",
    );
  });
}

function blobsOf({ blobs }: SessionStore): BlobStore {
  if (!blobs) throw new Error("The store has no `blobs`; set `blobs: false` if this is intended.");
  return blobs;
}

// The same at every run, and never the same piece twice.
function noise(length: number): Uint8Array {
  const bytes = new Uint8Array(length);
  for (let at = 0, state = length + 1; at < length; at++) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    bytes[at] = state >>> 24;
  }
  return bytes;
}

async function* cutAt(
  whole: Uint8Array,
  cuts: readonly number[] = [0, whole.length],
): AsyncGenerator<Uint8Array> {
  for (const [index, from] of cuts.slice(0, -1).entries()) yield whole.slice(from, cuts[index + 1]);
}

async function readAll(blob: { read(): AsyncIterable<Uint8Array> }): Promise<Uint8Array> {
  const pieces: Uint8Array[] = [];
  for await (const piece of blob.read()) pieces.push(piece);
  return new Uint8Array(await new Blob(pieces as Uint8Array<ArrayBuffer>[]).arrayBuffer());
}

// A comparison of a million numbers by a matcher takes its time.
function equal(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && a.every((byte, at) => byte === b[at]);
}
