import { readdir, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import type { KeptUpload, UploadShares } from "./upload-shares.ts";

/** Keeps what is known of a folder of uploads in step with it. */
export interface DiskIndex {
  /** Looks what other processes have added and removed, if anything has changed. */
  sync(): Promise<void>;
  /** Called around everything that this process itself changes in the folder. */
  change<T>(work: () => Promise<T>): Promise<T>;
}

export interface DiskIndexOptions {
  readonly shares: UploadShares;
  /** For how long an upload that is not complete is left alone. */
  readonly ttlMs: number;
  read(key: string): Promise<KeptUpload | undefined>;
}

// Changes of two processes in one tick of the file system's clock look like one.
const listMs = 5_000;

/**
 * The folder is listed when it was changed by another process, and now and then; each record is read once. What this
 * process changes is known, and leads to no listing.
 */
export function createDiskIndex(
  root: string,
  { shares, ttlMs, read }: DiskIndexOptions,
): DiskIndex {
  let seen = Number.NaN;
  let listed = Number.NEGATIVE_INFINITY;
  let changing = 0;
  let syncing: Promise<void> | undefined;

  async function changedAt(): Promise<number> {
    return (await stat(root)).mtimeMs;
  }

  async function look(): Promise<void> {
    const at = await changedAt();
    if (at === seen && performance.now() - listed < listMs) return;
    await list();
    seen = at;
    listed = performance.now();
  }

  async function list(): Promise<void> {
    const isFirst = listed === Number.NEGATIVE_INFINITY;
    const names = new Set(await readdir(root));
    const found: KeptUpload[] = [];
    for (const name of names) {
      const key = name.replace(/\.json$/, "");
      if (key === name) {
        if (isFirst && !names.has(`${name}.json`)) await removeAbandoned(name);
        continue;
      }
      const upload = shares.has(key) ? undefined : await read(key);
      if (upload) found.push(upload);
    }
    for (const key of shares.keys()) if (!names.has(`${key}.json`)) shares.remove(key);
    for (const upload of found.sort((one, other) => one.expiresAt - other.expiresAt)) {
      shares.add(upload);
    }
  }

  // Of a process that died while it was written. One that still arrives is changed all the time.
  async function removeAbandoned(name: string): Promise<void> {
    const path = join(root, name);
    const age = await stat(path).then(
      ({ mtimeMs }) => Date.now() - mtimeMs,
      () => 0,
    );
    if (age > ttlMs) await rm(path, { force: true });
  }

  return {
    async sync() {
      syncing ??= look().finally(() => (syncing = undefined));
      await syncing;
    },
    async change(work) {
      changing++;
      try {
        return await work();
      } finally {
        if (--changing === 0) seen = await changedAt().catch(() => Number.NaN);
      }
    },
  };
}
