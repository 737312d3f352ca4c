import { createHash, randomUUID } from "node:crypto";
import { mkdir, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { dateOf } from "@holodeck/agui-core/internal";
import type { Clock } from "@holodeck/agui-core";
import { openBatchFile } from "../shared/batch-file.ts";
import { createDiskFile, makeTempFolder } from "./spool.ts";
import { createUploadCounter, uploadDefaults } from "./upload-store.ts";
import type { StoredUpload, UploadsOptions, UploadStore } from "./upload-store.ts";

/** Uploads on disk, each under a name that only its owner and its id lead to. */
export function createDiskUploads(
  { ttlMs = uploadDefaults.ttlMs, dir, maxBytes = uploadDefaults.maxBytes }: UploadsOptions,
  { clock, tempDir }: { clock: Clock; tempDir: string | undefined },
): UploadStore & { close(): Promise<void> } {
  let folder: Promise<string> | undefined;
  const counter = createUploadCounter();

  function openFolder(): Promise<string> {
    folder ??=
      dir === undefined ? makeTempFolder(tempDir) : mkdir(dir, { recursive: true }).then(() => dir);
    return folder;
  }

  // Expired uploads are removed when room is needed.
  async function sweep(): Promise<number> {
    const root = await openFolder();
    let used = 0;
    for (const name of await readdir(root)) {
      if (!name.endsWith(".json")) continue;
      const key = name.slice(0, -".json".length);
      const record = await readRecord(root, key);
      if (record && record.expiresAt > dateOf(clock)) used += record.size;
      else await remove(root, key);
    }
    return used;
  }

  async function remove(root: string, key: string): Promise<void> {
    await rm(join(root, key), { force: true });
    await rm(join(root, `${key}.json`), { force: true });
  }

  return {
    async put(principal, { name, bytes, maxBytes: fileBytes, check }) {
      const root = await openFolder();
      const id = randomUUID();
      const key = keyOf(principal, id);
      const path = join(root, key);
      const count = counter.begin({ used: await sweep(), maxBytes, fileBytes });
      try {
        const size = await receive(path, bytes, count.take);
        const file = createDiskFile({ name, mimeType: "application/octet-stream", size }, path);
        const mimeType = await check(file);
        const stored: StoredUpload = { id, name, mimeType, size, expiresAt: dateOf(clock) + ttlMs };
        await writeFile(`${path}.json`, JSON.stringify(stored), { mode: 0o600 });
        return stored;
      } catch (error) {
        await remove(root, key);
        throw error;
      } finally {
        count.end();
      }
    },
    async get(principal, id) {
      const root = await openFolder();
      const key = keyOf(principal, id);
      const record = await readRecord(root, key);
      if (!record || record.expiresAt <= dateOf(clock)) return undefined;
      const path = join(root, key);
      const { size } = await stat(path);
      const { name, mimeType } = record;
      return createDiskFile({ name, mimeType, size }, path);
    },
    async delete(principal, id) {
      const root = await openFolder();
      const key = keyOf(principal, id);
      const record = await readRecord(root, key);
      await remove(root, key);
      return record !== undefined && record.expiresAt > dateOf(clock);
    },
    async close() {
      const root = await folder;
      folder = undefined;
      if (root !== undefined && dir === undefined) await rm(root, { recursive: true, force: true });
    },
  };
}

async function receive(
  path: string,
  bytes: AsyncIterable<Uint8Array>,
  take: (more: number) => void,
): Promise<number> {
  const file = await openBatchFile(path);
  let size = 0;
  try {
    for await (const chunk of bytes) {
      take(chunk.byteLength);
      size += chunk.byteLength;
      await file.write(chunk);
    }
    await file.end();
  } finally {
    await file.close();
  }
  return size;
}

async function readRecord(root: string, key: string): Promise<StoredUpload | undefined> {
  try {
    return JSON.parse(await readFile(join(root, `${key}.json`), "utf8")) as StoredUpload;
  } catch {
    // Not there, or half written by a process that died.
    return undefined;
  }
}

// No part of a path comes from a client.
function keyOf(principal: string, id: string): string {
  return createHash("sha256")
    .update(JSON.stringify([principal, id]))
    .digest("hex");
}
