import type { BlobKey, BlobStore, Clock, Json } from "@holodeck/agui-core";
import { blobGone, blobTaken, inPieces } from "../kit/storage/blob-pieces.ts";

export interface MemoryBlobs extends BlobStore {
  /** Removes what has expired; true while there is something left. */
  sweep(): boolean;
  clear(): void;
}

export interface MemoryBlobsOptions {
  readonly clock: Clock;
  /** There is something that will expire. */
  onKept(): void;
}

interface Kept {
  readonly pieces: readonly Uint8Array[];
  readonly size: number;
  readonly metadata: Json;
  readonly expiresAt: number;
}

const pieceBytes = 256 * 1024;

/** Bytes in the memory of this process. The code that stores them limits them, by `size`. */
export function createMemoryBlobs({ clock, onKept }: MemoryBlobsOptions): MemoryBlobs {
  const blobs = new Map<string, Kept>();
  const writing = new Set<string>();

  function live(name: string): Kept | undefined {
    const kept = blobs.get(name);
    if (!kept || kept.expiresAt > clock.now()) return kept;
    blobs.delete(name);
    return undefined;
  }

  function sweep(): boolean {
    for (const name of blobs.keys()) live(name);
    return blobs.size > 0;
  }

  async function* read(key: BlobKey, kept: Kept): AsyncGenerator<Uint8Array, void, undefined> {
    const name = nameOf(key);
    for (const piece of kept.pieces) {
      if (live(name) !== kept) throw blobGone(key);
      // The reader may write into it.
      yield piece.slice();
    }
  }

  return {
    async put(key, bytes, { ttlMs, metadata }) {
      const name = nameOf(key);
      if (live(name) || writing.has(name)) throw blobTaken(key);
      writing.add(name);
      try {
        const pieces: Uint8Array[] = [];
        let size = 0;
        for await (const piece of inPieces(bytes, pieceBytes)) {
          pieces.push(piece);
          size += piece.byteLength;
        }
        const copy = structuredClone(metadata);
        blobs.set(name, { pieces, size, metadata: copy, expiresAt: clock.now() + ttlMs });
      } finally {
        writing.delete(name);
      }
      onKept();
    },
    async get(key) {
      const kept = live(nameOf(key));
      if (!kept) return undefined;
      const { size, metadata } = kept;
      return { size, metadata: structuredClone(metadata), read: () => read(key, kept) };
    },
    async delete(key) {
      const name = nameOf(key);
      return live(name) !== undefined && blobs.delete(name);
    },
    async size() {
      sweep();
      let sum = 0;
      for (const { size } of blobs.values()) sum += size;
      return sum;
    },
    sweep,
    clear: () => blobs.clear(),
  };
}

function nameOf({ principal, id }: BlobKey): string {
  return JSON.stringify([principal, id]);
}
