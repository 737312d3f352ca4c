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
   * All uploads together. When it is reached on disk, a caller that has less than an equal share takes the place of the
   * oldest upload of the caller that has most; others get a 429. With `store: "sessions"` one caller gets a 429 past a
   * quarter of it, and past as much again within `ttlMs`. A caller is a principal, or an address where none is known.
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
  /** Who shares the room: the principal, or the client's network where there is none. */
  readonly owner: string;
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

export function uploadTooLarge(maxBytes: number): AgentError {
  return new AgentError("payload-too-large", `A file is larger than ${maxBytes} bytes.`);
}

/** There is no room for another upload. */
export function uploadsFull(limit: string, retryAfter = 60): AgentError {
  const message = `The upload store is full: this server keeps at most ${limit}.`;
  return new AgentError("capacity-exceeded", message, { retryAfter });
}
