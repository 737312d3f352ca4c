import { createHash, randomUUID } from "node:crypto";
import { mkdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { dateOf } from "@holodeck/agui-core/internal";
import type { Clock } from "@holodeck/agui-core";
import { openBatchFile } from "../shared/batch-file.ts";
import { createDiskFile, makeTempFolder } from "./spool.ts";
import { createDiskIndex } from "./disk-index.ts";
import type { DiskIndex } from "./disk-index.ts";
import { createUploadShares } from "./upload-shares.ts";
import type { KeptUpload } from "./upload-shares.ts";
import { uploadDefaults, uploadTooLarge } from "./upload-store.ts";
import type { StoredUpload, UploadsOptions, UploadStore } from "./upload-store.ts";

interface Opened {
  readonly root: string;
  readonly index: DiskIndex;
}

/** Uploads on disk, each under a name that only its owner and its id lead to. */
export function createDiskUploads(
  options: UploadsOptions,
  { clock, tempDir }: { clock: Clock; tempDir: string | undefined },
): UploadStore & { close(): Promise<void> } {
  const {
    dir,
    ttlMs = uploadDefaults.ttlMs,
    maxBytes = uploadDefaults.maxBytes,
    maxFiles = uploadDefaults.maxFiles,
  } = options;
  const shares = createUploadShares({ maxBytes, maxFiles });
  let opened: Promise<Opened> | undefined;

  function open(): Promise<Opened> {
    opened ??= openFolder();
    return opened;
  }

  async function openFolder(): Promise<Opened> {
    const root = dir ?? (await makeTempFolder(tempDir));
    await mkdir(root, { recursive: true });
    const read = async (key: string): Promise<KeptUpload | undefined> => {
      const record = await readRecord(root, key);
      if (!record) return undefined;
      return { key, owner: record.owner ?? "", size: record.size, expiresAt: record.expiresAt };
    };
    return { root, index: createDiskIndex(root, { shares, ttlMs, read }) };
  }

  async function removeDoomed(root: string): Promise<void> {
    for (const key of shares.takeDoomed(dateOf(clock))) await remove(root, key);
  }

  async function remove(root: string, key: string): Promise<void> {
    await rm(join(root, key), { force: true });
    await rm(join(root, `${key}.json`), { force: true });
  }

  return {
    async put(principal, { name, owner: sender, bytes, maxBytes: fileBytes, check }) {
      const { root, index } = await open();
      await index.sync();
      return index.change(async () => {
        await removeDoomed(root);
        const id = randomUUID();
        const key = keyOf(principal, id);
        const path = join(root, key);
        const owner = ownerOf(sender);
        const arrival = shares.arrive(owner);
        try {
          const size = await receive(path, bounded(bytes, fileBytes), arrival.take);
          const file = createDiskFile({ name, mimeType: "application/octet-stream", size }, path);
          const mimeType = await check(file);
          const stored: StoredUpload = {
            id,
            name,
            mimeType,
            size,
            expiresAt: dateOf(clock) + ttlMs,
          };
          await writeFile(`${path}.json`, JSON.stringify({ ...stored, owner }), { mode: 0o600 });
          arrival.end();
          shares.add({ key, owner, size, expiresAt: stored.expiresAt });
          return stored;
        } catch (error) {
          arrival.end();
          await remove(root, key);
          throw error;
        } finally {
          await removeDoomed(root);
        }
      });
    },
    async get(principal, id, { admit }) {
      const { root } = await open();
      const key = keyOf(principal, id);
      const record = await readRecord(root, key);
      if (!record || record.expiresAt <= dateOf(clock)) return undefined;
      const path = join(root, key);
      const { size } = await stat(path);
      admit(size);
      const { name, mimeType } = record;
      return createDiskFile({ name, mimeType, size }, path);
    },
    async delete(principal, id) {
      const { root, index } = await open();
      const key = keyOf(principal, id);
      const record = await readRecord(root, key);
      shares.remove(key);
      await index.change(() => remove(root, key));
      return record !== undefined && record.expiresAt > dateOf(clock);
    },
    async close() {
      const { root } = (await opened) ?? {};
      opened = undefined;
      if (root !== undefined && dir === undefined) await rm(root, { recursive: true, force: true });
    },
  };
}

async function* bounded(
  bytes: AsyncIterable<Uint8Array>,
  fileBytes: number,
): AsyncGenerator<Uint8Array, void, undefined> {
  let size = 0;
  for await (const chunk of bytes) {
    size += chunk.byteLength;
    if (size > fileBytes) throw uploadTooLarge(fileBytes);
    yield chunk;
  }
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

async function readRecord(
  root: string,
  key: string,
): Promise<(StoredUpload & { readonly owner?: string }) | undefined> {
  try {
    return JSON.parse(await readFile(join(root, `${key}.json`), "utf8"));
  } catch {
    // Not there, or half written by a process that died.
    return undefined;
  }
}

// Who has how much is all that is kept of a principal or an address.
function ownerOf(sender: string): string {
  return createHash("sha256").update(sender).digest("base64url").slice(0, 16);
}

// No part of a path comes from a client.
function keyOf(principal: string, id: string): string {
  return createHash("sha256")
    .update(JSON.stringify([principal, id]))
    .digest("hex");
}
