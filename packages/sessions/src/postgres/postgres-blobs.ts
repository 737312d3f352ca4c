import { ulid } from "@holodeck/agui-core";
import { fromBase64, toBase64 } from "@holodeck/agui-core/internal";
import type { BlobKey, BlobStore, Json } from "@holodeck/agui-core";
import { blobGone, blobTaken, writePieces } from "../kit/storage/blob-pieces.ts";
import { toKeyText } from "../kit/storage/key-text.ts";
import type { Connection } from "./client/connection.ts";

interface FoundBlob {
  readonly id: number;
  readonly size: number;
  readonly metadata: Json;
}

const pieceBytes = 256 * 1024;

/** Bytes in separate rows, one for each piece. */
export function createPostgresBlobs(connection: Connection): BlobStore {
  async function* read(key: BlobKey, blob: number): AsyncGenerator<Uint8Array, void, undefined> {
    for (let place = 0; ; place++) {
      const piece = await connection.one("read_piece", blob, place);
      if (piece === "gone") throw blobGone(key);
      if (piece === null) return;
      yield fromBase64(piece.slice(1));
    }
  }

  return {
    async put(key, bytes, { ttlMs, metadata }) {
      const ms = Math.min(Math.ceil(ttlMs), Number.MAX_SAFE_INTEGER);
      const names = [toKeyText(key.principal), toKeyText(key.id), ulid()];
      const id = await connection.one("reserve_blob", ...names, JSON.stringify(metadata), ms);
      if (id === null) throw blobTaken(key);
      const blob = Number(id);
      await writePieces(bytes, pieceBytes, {
        async write(piece, place) {
          const answer = await connection.one("write_piece", blob, place, toBase64(piece));
          if (answer !== "ok") throw blobGone(key);
        },
        async finish(size) {
          if ((await connection.one("finish_blob", blob, size, ms)) !== "ok") throw blobGone(key);
        },
        drop: () => connection.one("drop_blob", blob),
      });
    },
    async get({ principal, id: name }) {
      const found = await connection.one("find_blob", toKeyText(principal), toKeyText(name));
      if (found === null) return undefined;
      const { id, size, metadata } = JSON.parse(found) as FoundBlob;
      return { size, metadata, read: () => read({ principal, id: name }, id) };
    },
    async delete({ principal, id }) {
      return (await connection.one("delete_blob", toKeyText(principal), toKeyText(id))) === "ok";
    },
    async size() {
      return Number(await connection.one("blob_bytes"));
    },
  };
}
