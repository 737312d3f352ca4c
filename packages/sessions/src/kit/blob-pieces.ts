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

export function blobTaken({ id }: BlobKey): AgentError {
  return new AgentError("run-exists", `Blob "${id}" already exists.`);
}

export function blobGone({ id }: BlobKey): AgentError {
  return new AgentError("file-not-found", `Blob "${id}" does not exist.`);
}
