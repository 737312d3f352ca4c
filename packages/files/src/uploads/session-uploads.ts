import { randomUUID } from "node:crypto";
import { dateOf } from "@holodeck/agui-core/internal";
import type { BlobStore, Clock, FileSpool, SessionStore } from "@holodeck/agui-core";
import { createUploadCounter } from "./upload-counter.ts";
import { uploadDefaults, uploadsFull } from "./upload-store.ts";
import type { StoredUpload, UploadsOptions, UploadStore } from "./upload-store.ts";

export interface SessionUploadsOptions {
  readonly clock: Clock;
  /** A place for what was not looked at yet. */
  spool(): FileSpool;
}

/** Where the sessions are, and what they are counted with. */
export interface UploadPlaceInStore extends Pick<SessionStore, "take"> {
  readonly blobs: BlobStore;
}

/**
 * Uploads where the sessions are. They get there when they are complete and were found good. All processes count the
 * bytes of an owner in one bucket, which fills again in the time that uploads are kept: at any time an owner has at most
 * two buckets of them, half of what there may be.
 */
export function createSessionUploads(
  { ttlMs = uploadDefaults.ttlMs, maxBytes = uploadDefaults.maxBytes }: UploadsOptions,
  { clock, spool }: SessionUploadsOptions,
): (place: UploadPlaceInStore) => UploadStore {
  const counter = createUploadCounter();

  return ({ blobs, take }) => ({
    async put(principal, { name, owner, bytes, maxBytes: fileBytes, check }) {
      const waiting = spool();
      const shareBytes = Math.max(fileBytes, Math.floor(maxBytes / 4));
      const used = await blobs.size();
      const count = counter.begin({ owner, used, maxBytes, shareBytes, fileBytes });
      try {
        const writer = waiting.open();
        for await (const chunk of bytes) {
          count.take(chunk.byteLength);
          await writer.write(chunk);
        }
        const file = await writer.end({ name, mimeType: "application/octet-stream" });
        const mimeType = await check(file);
        const { size } = file;
        const rate = { tokens: shareBytes, perMs: ttlMs };
        // Small ones take room, too, for what is kept about them.
        const cost = Math.min(shareBytes, Math.max(size, maxBytes / uploadDefaults.maxFiles));
        const wait = await take(`uploads:${owner}`, cost, rate);
        if (wait > 0)
          throw uploadsFull(`${shareBytes} bytes of one caller`, Math.ceil(wait / 1000));
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
