import { AgentError } from "@holodeck/agui-core";
import type { FileSpool, InputFile } from "@holodeck/agui-core";

/** Where and for how long uploads are kept. */
export interface UploadsOptions {
  /** @default "/files" */
  readonly path?: string;
  /** How long an upload can be referred to. By default an hour. */
  readonly ttlMs?: number;
  /**
   * `"sessions"`: where the handler keeps its sessions, for every process that shares them.
   * @default "disk"
   */
  readonly store?: "disk" | "sessions";
  /** A folder that outlives the process, or is shared by several. By default one that goes with the handler. */
  readonly dir?: string;
  /**
   * All uploads together. When it is reached, a principal that has less than an equal share takes the place of the
   * oldest upload of the principal that has most; others get a 429.
   * @default 1 GiB
   */
  readonly maxBytes?: number;
  /**
   * How many uploads there may be on disk, shared in the same way.
   * @default 10_000
   */
  readonly maxFiles?: number;
}

/** An upload as described to its sender. */
export interface StoredUpload {
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
  /**
   * Returns undefined when it was deleted, or belongs to another principal. Content that has to be fetched is kept in
   * the spool, once `admit` has let its size pass.
   */
  get(principal: string, id: string, place: UploadPlace): Promise<InputFile | undefined>;
  /** Resolves to false when it was deleted, or belongs to another principal. */
  delete(principal: string, id: string): Promise<boolean>;
}

interface UploadPlace {
  readonly spool: FileSpool;
  /** Throws when so many bytes are too many. */
  admit(size: number): void;
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

export const uploadDefaults: Required<Pick<UploadsOptions, "ttlMs" | "maxBytes" | "maxFiles">> = {
  ttlMs: hour,
  maxBytes: GiB,
  maxFiles: 10_000,
};

/** Counts the bytes of uploads as they arrive. */
export interface UploadCounter {
  /** For one upload, when so many bytes are kept already. */
  begin(limits: { used: number; maxBytes: number; fileBytes: number }): {
    take(more: number): void;
    end(): void;
  };
}

/** What arrives at the same time counts, too, before any of it is kept. */
export function createUploadCounter(): UploadCounter {
  let arriving = 0;
  return {
    begin({ used, maxBytes, fileBytes }) {
      let own = 0;
      return {
        take(more) {
          own += more;
          arriving += more;
          if (own > fileBytes) throw uploadTooLarge(fileBytes);
          if (used + arriving > maxBytes) throw uploadsFull(`${maxBytes} bytes`);
        },
        end() {
          arriving -= own;
          own = 0;
        },
      };
    },
  };
}

export function uploadTooLarge(maxBytes: number): AgentError {
  return new AgentError("payload-too-large", `A file is larger than ${maxBytes} bytes.`);
}

/** There is no room for another upload. */
export function uploadsFull(limit: string): AgentError {
  const message = `The upload store is full: this server keeps at most ${limit}.`;
  return new AgentError("capacity-exceeded", message, { retryAfter: 60 });
}
