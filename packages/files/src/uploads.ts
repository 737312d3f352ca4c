import { createHash, randomUUID } from "node:crypto";
import { mkdir, open, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { AgentError } from "@holodeck/agui-core";
import type { Clock, InputFile } from "@holodeck/agui-core";
import { createDiskFile, makeTempFolder } from "./spool.ts";

/** Where and for how long uploads are kept. */
export interface UploadsOptions {
  /** @default "/files" */
  readonly path?: string;
  /** How long an upload can be referred to. By default an hour. */
  readonly ttlMs?: number;
  /** A folder that outlives the process, or is shared by several. By default one that goes with the handler. */
  readonly dir?: string;
  /**
   * All uploads together.
   * @default 1 GiB
   */
  readonly maxBytes?: number;
}

/** An upload, as its sender is told of it. */
interface StoredUpload {
  readonly id: string;
  readonly name: string;
  readonly mimeType: string;
  readonly size: number;
  /** In ms. */
  readonly expiresAt: number;
}

export interface UploadStore {
  /** Keeps what arrives, no more than `maxBytes` of it, if `check` lets it pass. */
  put(principal: string, upload: NewUpload): Promise<StoredUpload>;
  /** Nothing when it is gone, or somebody else's. */
  get(principal: string, id: string): Promise<InputFile | undefined>;
  close(): Promise<void>;
}

interface NewUpload {
  readonly name: string;
  readonly bytes: AsyncIterable<Uint8Array>;
  readonly maxBytes: number;
  /** The type of the complete file. Throws when it is refused. */
  check(file: InputFile): Promise<string>;
}

const GiB = 1024 ** 3;
const hour = 3_600_000;

/** Uploads on disk, each under a name that only its owner and its id lead to. */
export function createUploadStore(
  { ttlMs = hour, dir, maxBytes = GiB }: UploadsOptions,
  { clock, tempDir }: { clock: Clock; tempDir: string | undefined },
): UploadStore {
  let folder: Promise<string> | undefined;
  let reserved = 0;

  function openFolder(): Promise<string> {
    folder ??=
      dir === undefined ? makeTempFolder(tempDir) : mkdir(dir, { recursive: true }).then(() => dir);
    return folder;
  }

  // What is over its time goes when somebody needs the room.
  async function sweep(): Promise<number> {
    const root = await openFolder();
    let used = 0;
    for (const name of await readdir(root)) {
      if (!name.endsWith(".json")) continue;
      const key = name.slice(0, -".json".length);
      const record = await readRecord(root, key);
      if (record && record.expiresAt > clock.now()) used += record.size;
      else await remove(root, key);
    }
    return used;
  }

  async function remove(root: string, key: string): Promise<void> {
    await rm(join(root, key), { force: true });
    await rm(join(root, `${key}.json`), { force: true });
  }

  return {
    async put(principal, { name, bytes, maxBytes: most, check }) {
      const root = await openFolder();
      const id = randomUUID();
      const key = keyOf(principal, id);
      const path = join(root, key);
      let own = 0;
      try {
        const used = await sweep();
        const size = await receive(path, bytes, (more) => {
          own += more;
          reserved += more;
          if (own > most)
            throw new AgentError("payload-too-large", `A file is larger than ${most} bytes.`);
          if (used + reserved > maxBytes) throw full();
        });
        const file = createDiskFile({ name, mimeType: "application/octet-stream", size }, path);
        const mimeType = await check(file);
        const stored: StoredUpload = { id, name, mimeType, size, expiresAt: clock.now() + ttlMs };
        await writeFile(`${path}.json`, JSON.stringify(stored), { mode: 0o600 });
        return stored;
      } catch (error) {
        await remove(root, key);
        throw error;
      } finally {
        reserved -= own;
      }
    },
    async get(principal, id) {
      const root = await openFolder();
      const key = keyOf(principal, id);
      const record = await readRecord(root, key);
      if (!record || record.expiresAt <= clock.now()) return undefined;
      const path = join(root, key);
      const { size } = await stat(path);
      const { name, mimeType } = record;
      return createDiskFile({ name, mimeType, size }, path);
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
  const file = await open(path, "wx", 0o600);
  let size = 0;
  try {
    for await (const chunk of bytes) {
      take(chunk.byteLength);
      await file.writeFile(chunk);
      size += chunk.byteLength;
    }
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

function full(): AgentError {
  const message = "There is no room for more uploads.";
  return new AgentError("capacity-exceeded", message, { retryAfter: 60 });
}
