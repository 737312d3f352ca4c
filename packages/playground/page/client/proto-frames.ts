import { concatBytes } from "@holodeck/agui-core/internal";

const headBytes = 4;

/** Splits a stream into frames of a big-endian length and so many bytes; what is cut short at the end is one. */
export async function* protoFrames(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let rest = new Uint8Array();
  for await (const chunk of chunks) {
    rest = concatBytes([rest, chunk]);
    let start = 0;
    while (rest.length - start >= headBytes) {
      const length = new DataView(rest.buffer, rest.byteOffset + start).getUint32(0);
      const end = start + headBytes + length;
      if (end > rest.length) break;
      yield rest.slice(start, end);
      start = end;
    }
    rest = rest.slice(start);
  }
  if (rest.length > 0) yield rest;
}

/** What the frame holds; nothing when the stream broke off inside of it. */
export function protoPayload(frame: Uint8Array): Uint8Array | undefined {
  if (frame.length < headBytes) return undefined;
  const length = new DataView(frame.buffer, frame.byteOffset).getUint32(0);
  return frame.length === headBytes + length ? frame.subarray(headBytes) : undefined;
}
