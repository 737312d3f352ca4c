import type { Clock, FileSpool, SessionStore } from "@holodeck/agui-core";
import { createDiskUploads } from "./disk-uploads.ts";
import { createSessionUploads } from "./session-uploads.ts";
import type { UploadsOptions, UploadStore } from "./upload-store.ts";

export interface OpenUploads {
  /** The uploads of a handler with these sessions. */
  of(sessions: SessionStore): UploadStore;
  close(): Promise<void>;
}

/** Uploads on disk, or where the sessions are. */
export function openUploads(
  options: UploadsOptions,
  place: { clock: Clock; tempDir: string | undefined; spool(): FileSpool },
): OpenUploads {
  if (options.store !== "sessions") {
    const disk = createDiskUploads(options, place);
    return { of: () => disk, close: () => disk.close() };
  }
  const open = createSessionUploads(options, place);
  return {
    of(sessions) {
      const { blobs } = sessions;
      if (blobs) return open({ blobs, take: (...asked) => sessions.take(...asked) });
      throw new TypeError(
        'extractFiles({ uploads: { store: "sessions" } }) needs a session store with `blobs`, such as redisSessions({ client }).',
      );
    },
    async close() {
      // The store is the handler's to close.
    },
  };
}
