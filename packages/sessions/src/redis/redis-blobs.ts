import { ulid } from "@holodeck/agui-core";
import { fromBase64, toBase64 } from "@holodeck/agui-core/internal";
import type { BlobKey, BlobStore, Json } from "@holodeck/agui-core";
import { blobGone, blobTaken, writePieces } from "../kit/storage/blob-pieces.ts";
import {
  countBlobScript,
  dropBlobScript,
  finishBlobScript,
  sizeBlobsScript,
  writeBlobScript,
} from "./scripts/blob-scripts.ts";
import type { RedisConnection } from "./client/connection.ts";
import type { Keys } from "./keys.ts";

interface Head {
  readonly size: number;
  readonly pieces: number;
  readonly metadata: Json;
  /** The minute of the total count that includes it. */
  readonly minute: number;
}

// A third more as text: clients of both kinds pass strings through unharmed, and not every one bytes.
const pieceBytes = 96 * 1024;

/** Bytes on Redis: a hash for each blob, a field for each piece. */
export function createRedisBlobs(connection: RedisConnection, keys: Keys): BlobStore {
  async function headOf(key: BlobKey): Promise<Head | undefined> {
    const json = (await connection.call("HGET", keys.blob(key), "head")) as string | null;
    return json === null ? undefined : (JSON.parse(json) as Head);
  }

  /** Puts so many bytes on, or takes them off, the count; answers the minute they are counted in. */
  async function count(
    bytes: number,
    when: { ttlMs: number } | { minute: number },
  ): Promise<number> {
    const args = ["ttlMs" in when ? when.ttlMs : "", "minute" in when ? when.minute : "", bytes];
    return Number(await connection.run(countBlobScript, { keys: [keys.blobs], args }));
  }

  async function* read(key: BlobKey, head: Head): AsyncGenerator<Uint8Array, void, undefined> {
    for (let at = 0; at < head.pieces; at++) {
      const text = (await connection.call("HGET", keys.blob(key), at)) as string | null;
      if (text === null) throw blobGone(key);
      yield fromBase64(text);
    }
  }

  return {
    async put(key, bytes, { ttlMs: given, metadata }) {
      const name = keys.blob(key);
      const token = ulid();
      const ttlMs = Math.ceil(given);
      let counted: { readonly size: number; readonly minute: number } | undefined;

      async function write(field: number | "", value: string): Promise<void> {
        const args = [token, ttlMs, field, value];
        if ((await connection.run(writeBlobScript, { keys: [name], args })) !== 1) {
          throw blobTaken(key);
        }
      }

      // Also one without a byte holds its place.
      await write("", "");
      await writePieces(bytes, pieceBytes, {
        write: (piece, place) => write(place, toBase64(piece)),
        async finish(size, pieces) {
          // Counted first: a process that dies in between leaves a count that is too high for a
          // while, not too low.
          const minute = await count(size, { ttlMs });
          counted = { size, minute };
          const head: Head = { size, pieces, metadata, minute };
          const args = [token, ttlMs, JSON.stringify(head)];
          const isKept = await connection.run(finishBlobScript, { keys: [name], args });
          if (isKept !== 1) throw blobGone(key);
        },
        async drop() {
          const drop = connection.run(dropBlobScript, { keys: [name], args: [token] });
          await drop.catch(() => undefined);
          if (counted) await count(-counted.size, { minute: counted.minute });
        },
      });
    },
    async get(key) {
      const head = await headOf(key);
      if (!head) return undefined;
      const { size, metadata } = head;
      return { size, metadata, read: () => read(key, head) };
    },
    async delete(key) {
      const head = await headOf(key);
      if (!head || (await connection.call("UNLINK", keys.blob(key))) !== 1) return false;
      await count(-head.size, { minute: head.minute });
      return true;
    },
    async size() {
      return Number(await connection.run(sizeBlobsScript, { keys: [keys.blobs], args: [] }));
    },
  };
}
