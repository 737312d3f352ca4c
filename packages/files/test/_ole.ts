const sector = 512;
const end = 0xfffffffe;
const free = 0xffffffff;

/** A compound file (MS-CFB) with empty streams of these names: how Office stores what has a password. */
export function makeOle(...streams: readonly string[]): Uint8Array {
  const header = Buffer.alloc(sector);
  header.write("d0cf11e0a1b11ae1", "hex");
  header.writeUInt16LE(0x3e, 24);
  header.writeUInt16LE(3, 26);
  header.writeUInt16LE(0xfffe, 28);
  header.writeUInt16LE(9, 30);
  header.writeUInt16LE(6, 32);
  header.writeUInt32LE(1, 44);
  // The directory is in the second sector, the table of sectors in the first.
  header.writeUInt32LE(1, 48);
  header.writeUInt32LE(4096, 56);
  header.writeUInt32LE(end, 60);
  header.writeUInt32LE(end, 68);
  header.fill(0xff, 76);
  header.writeUInt32LE(0, 76);

  const table = Buffer.alloc(sector, 0xff);
  table.writeUInt32LE(0xfffffffd, 0);
  table.writeUInt32LE(end, 4);

  const directory = Buffer.concat([
    entry("Root Entry", 5, 1),
    ...streams.map((name, at) => entry(name, 2, free, at + 2 > streams.length ? free : at + 2)),
  ]);
  const rest = Buffer.alloc(Math.ceil(directory.length / sector) * sector - directory.length);
  return new Uint8Array(Buffer.concat([header, table, directory, rest]));
}

function entry(name: string, type: number, child: number, right = free): Buffer {
  const bytes = Buffer.alloc(128);
  bytes.write(name, "utf16le");
  bytes.writeUInt16LE(2 * (name.length + 1), 64);
  bytes[66] = type;
  bytes[67] = 1;
  bytes.writeUInt32LE(free, 68);
  bytes.writeUInt32LE(right, 72);
  bytes.writeUInt32LE(child, 76);
  bytes.writeUInt32LE(end, 116);
  return bytes;
}
