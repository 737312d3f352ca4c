import { inflateRawSync } from "node:zlib";

/** One file of a zip, as listed in its directory. */
interface ZipEntry {
  readonly name: string;
  readonly isEncrypted: boolean;
  readonly method: number;
  readonly packedSize: number;
  readonly size: number;
  readonly localOffset: number;
}

/** Thrown for a zip that cannot be read; `reason` states why, `detail` in words. */
export class ZipError extends Error {
  readonly reason: "damaged" | "encrypted" | "too-large";
  readonly detail: string | undefined;

  constructor(reason: ZipError["reason"], detail?: string) {
    super(`The zip is ${reason}.`);
    this.reason = reason;
    this.detail = detail;
  }
}

// Far more than a real document has; a list of millions takes its time.
const maxEntries = 10_000;
const endSize = 22;
const end64Size = 56 + 20;
const maxComment = 0xffff;

const signatures = { local: 0x04034b50, entry: 0x02014b50, end: 0x06054b50, end64: 0x06064b50 };

interface Directory {
  readonly count: number;
  readonly start: number;
  readonly end: number;
}

/** The names in a zip, by its directory; undefined when it has none that can be read. */
export function listZip(bytes: Uint8Array): readonly string[] | undefined {
  try {
    const view = viewOf(bytes);
    return readEntries(bytes, view, readEnd(view)).entries.map(({ name }) => name);
  } catch (error) {
    if (error instanceof ZipError) return undefined;
    throw error;
  }
}

/**
 * Unpacks the files of a zip that are wanted. The directory is read once, for what is counted and for what is unpacked:
 * a zip that two readers could take for two different documents is damaged.
 */
export function unzip(
  bytes: Uint8Array,
  { maxBytes, isWanted }: { maxBytes: number; isWanted: (name: string) => boolean },
): ReadonlyMap<string, Uint8Array> {
  const view = viewOf(bytes);
  const directory = readEnd(view);
  const { entries, isWhole } = readEntries(bytes, view, directory);
  const claimed = entries.reduce((sum, { size }) => sum + size, 0);
  if (claimed > maxBytes) throw new ZipError("too-large");
  if (!isWhole) throw damaged("the end of its zip counts other entries than there are");
  if (entries.some(({ isEncrypted }) => isEncrypted)) throw new ZipError("encrypted");
  const places = placesOf(bytes, view, { entries, directory });
  const kept = new Map<string, Uint8Array>();
  let room = maxBytes;
  for (const entry of entries) {
    if (!isWanted(entry.name)) continue;
    const content = inflate(bytes.subarray(...places.get(entry)!), entry, room);
    room -= content.byteLength;
    kept.set(entry.name, content);
  }
  return kept;
}

function damaged(detail: string): ZipError {
  return new ZipError("damaged", detail);
}

function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

function readEnd(view: DataView): Directory {
  const end = findEnd(view);
  const count = view.getUint16(end + 10, true);
  const size = view.getUint32(end + 12, true);
  const start = view.getUint32(end + 16, true);
  if (count > maxEntries) throw damaged(`its zip has more than ${maxEntries} entries`);
  return { count, start, end: endOfDirectory(view, end, { count, start, size }) };
}

function findEnd(view: DataView): number {
  const lowest = Math.max(0, view.byteLength - endSize - maxComment);
  for (let at = view.byteLength - endSize; at >= lowest; at--) {
    if (view.getUint32(at, true) === signatures.end) return at;
  }
  throw damaged("its zip has no end");
}

// Some writers also put the end for large archives there. It must agree.
function endOfDirectory(
  view: DataView,
  end: number,
  { count, start, size }: { count: number; start: number; size: number },
): number {
  const at = end - end64Size;
  if (start + size !== at || view.getUint32(at, true) !== signatures.end64) return end;
  const fields = [view.getBigUint64(at + 32, true), view.getBigUint64(at + 40, true)];
  const isSame = fields[0] === BigInt(count) && fields[1] === BigInt(size);
  return isSame && view.getBigUint64(at + 48, true) === BigInt(start) ? at : end;
}

function readEntries(
  bytes: Uint8Array,
  view: DataView,
  { count, start, end }: Directory,
): { entries: readonly ZipEntry[]; isWhole: boolean } {
  const decoder = new TextDecoder();
  const entries: ZipEntry[] = [];
  let at = start;
  for (let i = 0; i < count; i++) {
    if (at + 46 > end || view.getUint32(at, true) !== signatures.entry) {
      throw damaged("its zip has a directory that cannot be read");
    }
    const nameLength = view.getUint16(at + 28, true);
    entries.push({
      name: decoder.decode(bytes.subarray(at + 46, at + 46 + nameLength)),
      isEncrypted: (view.getUint16(at + 8, true) & 1) === 1,
      method: view.getUint16(at + 10, true),
      packedSize: view.getUint32(at + 20, true),
      size: view.getUint32(at + 24, true),
      localOffset: view.getUint32(at + 42, true),
    });
    at += 46 + nameLength + view.getUint16(at + 30, true) + view.getUint16(at + 32, true);
  }
  return { entries, isWhole: at === end };
}

/** Where the content of each entry is: no two may share a byte, and none may have the name of another. */
function placesOf(
  bytes: Uint8Array,
  view: DataView,
  { entries, directory }: { entries: readonly ZipEntry[]; directory: Directory },
): ReadonlyMap<ZipEntry, readonly [start: number, end: number]> {
  const names = new Set<string>();
  const places = new Map<ZipEntry, readonly [number, number]>();
  const inOrder = entries.toSorted((one, other) => one.localOffset - other.localOffset);
  const decoder = new TextDecoder();
  let free = 0;
  for (const entry of inOrder) {
    const { name, localOffset, packedSize } = entry;
    if (names.has(name)) throw damaged("its zip has two entries of one name");
    names.add(name);
    if (localOffset < free) throw damaged("entries of its zip overlap");
    if (localOffset + 30 > directory.start) throw damaged("an entry of its zip is cut off");
    const nameEnd = localOffset + 30 + view.getUint16(localOffset + 26, true);
    const start = nameEnd + view.getUint16(localOffset + 28, true);
    free = start + packedSize;
    if (free > directory.start) throw damaged("an entry of its zip is cut off");
    const isSame =
      view.getUint32(localOffset, true) === signatures.local &&
      decoder.decode(bytes.subarray(localOffset + 30, nameEnd)) === name;
    if (!isSame) throw damaged("an entry of its zip is not what its directory lists");
    places.set(entry, [start, free]);
  }
  return places;
}

function inflate(packed: Uint8Array, { method, size }: ZipEntry, room: number): Uint8Array {
  const content = method === 0 ? packed : inflateRaw(packed, method, room);
  if (content.byteLength > room) throw new ZipError("too-large");
  if (content.byteLength !== size)
    throw damaged("an entry of its zip has another size than listed");
  return content;
}

function inflateRaw(packed: Uint8Array, method: number, room: number): Uint8Array {
  if (method !== 8) throw damaged("an entry of its zip is packed in an unusual way");
  try {
    return inflateRawSync(packed, { maxOutputLength: Math.max(1, room) });
  } catch (error) {
    const isLarge = (error as { code?: string }).code === "ERR_BUFFER_TOO_LARGE";
    throw isLarge ? new ZipError("too-large") : new ZipError("damaged");
  }
}
