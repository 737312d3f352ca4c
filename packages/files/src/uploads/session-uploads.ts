import { randomUUID } from "node:crypto";
import { dateOf } from "@holodeck/agui-core/internal";
import type { BlobStore, Clock, FileSpool } from "@holodeck/agui-core";
import { createUploadCounter, uploadDefaults } from "./upload-store.ts";
import type { StoredUpload, UploadsOptions, UploadStore } from "./upload-store.ts";

export interface SessionUploadsOptions {
  readonly clock: Clock;
  /** A place for what was not looked at yet. */
  spool(): FileSpool;
}

/** Uploads where the sessions are. They get there when they are complete and were found good. */
export function createSessionUploads(
  { ttlMs = uploadDefaults.ttlMs, maxBytes = uploadDefaults.maxBytes }: UploadsOptions,
  { clock, spool }: SessionUploadsOptions,
): (blobs: BlobStore) => UploadStore {
  const counter = createUploadCounter();

  return (blobs) => ({
    async put(principal, { name, bytes, maxBytes: fileBytes, check }) {
      const waiting = spool();
      const count = counter.begin({ used: await blobs.size(), maxBytes, fileBytes });
      try {
        const writer = waiting.open();
        for await (const chunk of bytes) {
          count.take(chunk.byteLength);
          await writer.write(chunk);
        }
        const file = await writer.end({ name, mimeType: "application/octet-stream" });
        const mimeType = await check(file);
        const { size } = file;
        const id = randomUUID();
        const stored: StoredUpload = { id, name, mimeType, size, expiresAt: dateOf(clock) + ttlMs };
        await blobs.put({ principal, id }, file.stream(), { ttlMs, metadata: { ...stored } });
        return stored;
      } finally {
        count.end();
        await waiting.release();
      }
    },
    async get(principal, id, { spool: here, admit }) {
      const blob = await blobs.get({ principal, id });
      const stored = blob?.metadata as unknown as StoredUpload | undefined;
      // The store's own clock may be another one.
      if (!blob || !stored || stored.expiresAt <= dateOf(clock)) return undefined;
      admit(stored.size);
      const writer = here.open();
      for await (const piece of blob.read()) await writer.write(piece);
      const { name, mimeType } = stored;
      return writer.end({ name, mimeType });
    },
    delete: (principal, id) => blobs.delete({ principal, id }),
  });
}
