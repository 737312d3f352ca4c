import { Inflate } from "fflate";

/** One file of a zip, as listed in its directory. */
export interface ZipEntry {
  readonly name: string;
  readonly isEncrypted: boolean;
  readonly method: number;
  readonly compressedSize: number;
  readonly localOffset: number;
}

/** Thrown for a zip that cannot be read; `reason` states why. */
export class ZipError extends Error {
  readonly reason: "damaged" | "encrypted" | "too-large";

  constructor(reason: ZipError["reason"]) {
    super(`The zip is ${reason}.`);
    this.reason = reason;
  }
}

// Far more than a real document has; a list of millions takes its time.
const maxEntries = 10_000;
const endSize = 22;
const maxComment = 0xffff;

/** What is in a zip, by its directory; nothing when it has none that can be read. */
export function listZip(bytes: Uint8Array): readonly ZipEntry[] | undefined {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const end = findEnd(view);
  if (end === undefined) return undefined;
  const count = view.getUint16(end + 10, true);
  if (count > maxEntries) return undefined;
  const entries: ZipEntry[] = [];
  let at = view.getUint32(end + 16, true);
  for (let i = 0; i < count; i++) {
    if (at + 46 > view.byteLength || view.getUint32(at, true) !== 0x02014b50) return undefined;
    const nameLength = view.getUint16(at + 28, true);
    entries.push({
      name: new TextDecoder().decode(bytes.subarray(at + 46, at + 46 + nameLength)),
      isEncrypted: (view.getUint16(at + 8, true) & 1) === 1,
      method: view.getUint16(at + 10, true),
      compressedSize: view.getUint32(at + 20, true),
      localOffset: view.getUint32(at + 42, true),
    });
    at += 46 + nameLength + view.getUint16(at + 30, true) + view.getUint16(at + 32, true);
  }
  return entries;
}

function findEnd(view: DataView): number | undefined {
  const lowest = Math.max(0, view.byteLength - endSize - maxComment);
  for (let at = view.byteLength - endSize; at >= lowest; at--) {
    if (view.getUint32(at, true) === 0x06054b50) return at;
  }
  return undefined;
}

/**
 * Inflates every file of a zip, counts what really comes out, and keeps those that are wanted. By the
 * directory, as other readers do: files that share their bytes count as often as they are named.
 */
export function inflateZip(
  bytes: Uint8Array,
  { maxBytes, isWanted }: { maxBytes: number; isWanted: (name: string) => boolean },
): ReadonlyMap<string, Uint8Array> {
  const entries = listZip(bytes);
  if (!entries) throw new ZipError("damaged");
  const kept = new Map<string, Uint8Array>();
  let room = maxBytes;
  for (const entry of entries) {
    if (entry.isEncrypted) throw new ZipError("encrypted");
    const chunks: Uint8Array[] = [];
    const keeps = isWanted(entry.name);
    inflate(bytesOf(bytes, entry), entry.method, (chunk) => {
      room -= chunk.byteLength;
      if (room < 0) throw new ZipError("too-large");
      if (keeps) chunks.push(chunk);
    });
    if (keeps) kept.set(entry.name, Buffer.concat(chunks));
  }
  return kept;
}

function bytesOf(bytes: Uint8Array, { localOffset, compressedSize }: ZipEntry): Uint8Array {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (localOffset + 30 > view.byteLength || view.getUint32(localOffset, true) !== 0x04034b50) {
    throw new ZipError("damaged");
  }
  const start =
    localOffset +
    30 +
    view.getUint16(localOffset + 26, true) +
    view.getUint16(localOffset + 28, true);
  if (start + compressedSize > bytes.byteLength) throw new ZipError("damaged");
  return bytes.subarray(start, start + compressedSize);
}

// Small enough that a bomb is noticed before much of it has come out.
const piece = 16 * 1024;

function inflate(packed: Uint8Array, method: number, take: (chunk: Uint8Array) => void): void {
  if (method === 0) return take(packed);
  if (method !== 8) throw new ZipError("damaged");
  let isWhole = false;
  const stream = new Inflate((chunk, isLast) => {
    take(chunk);
    isWhole = isLast;
  });
  try {
    for (let at = 0; at < packed.byteLength; at += piece) {
      const isLast = at + piece >= packed.byteLength;
      stream.push(packed.subarray(at, at + piece), isLast);
    }
  } catch (error) {
    if (error instanceof ZipError) throw error;
    throw new ZipError("damaged");
  }
  if (!isWhole && packed.byteLength > 0) throw new ZipError("damaged");
}
