import { AgentError } from "@holodeck/agui-core";
import type { BlobKey } from "@holodeck/agui-core";

/** The same bytes in pieces of one size, the last one shorter: what a store writes at a time. */
export async function* inPieces(
  bytes: AsyncIterable<Uint8Array>,
  pieceBytes: number,
): AsyncGenerator<Uint8Array, void, undefined> {
  let piece = new Uint8Array(pieceBytes);
  let used = 0;
  for await (const chunk of bytes) {
    for (let at = 0; at < chunk.byteLength;) {
      const part = chunk.subarray(at, at + pieceBytes - used);
      piece.set(part, used);
      used += part.byteLength;
      at += part.byteLength;
      if (used < pieceBytes) continue;
      yield piece;
      // A new one: a store may keep what it was given.
      piece = new Uint8Array(pieceBytes);
      used = 0;
    }
  }
  if (used > 0) yield piece.slice(0, used);
}

/** The calls of a store that writes a blob piece by piece. */
export interface PieceCalls {
  write(piece: Uint8Array, place: number): Promise<void> | void;
  /** Makes what was written visible. */
  finish(size: number, pieces: number): Promise<void> | void;
  /** Removes what was written, after a failure. What it fails with is ignored: the blob expires by itself. */
  drop(): Promise<unknown> | void;
}

/** Writes a blob whose place is reserved: all of it, or nothing. */
export async function writePieces(
  bytes: AsyncIterable<Uint8Array>,
  pieceBytes: number,
  { write, finish, drop }: PieceCalls,
): Promise<void> {
  try {
    let size = 0;
    let place = 0;
    for await (const piece of inPieces(bytes, pieceBytes)) {
      await write(piece, place++);
      size += piece.byteLength;
    }
    await finish(size, place);
  } catch (error) {
    // The first error is reported.
    await new Promise((resolve) => resolve(drop())).catch(() => undefined);
    throw error;
  }
}

export function blobTaken({ id }: BlobKey): AgentError {
  return new AgentError("run-exists", `Blob "${id}" already exists.`);
}

export function blobGone({ id }: BlobKey): AgentError {
  return new AgentError("file-not-found", `Blob "${id}" does not exist.`);
}
