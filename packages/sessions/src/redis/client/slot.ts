/** The part of a key that determines its slot: the text in its first braces, or all of it. */
export function hashTag(key: string): string {
  const start = key.indexOf("{");
  const end = key.indexOf("}", start + 1);
  return start < 0 || end <= start + 1 ? key : key.slice(start + 1, end);
}

/** The slot of a key in a cluster: CRC-16 (XMODEM) of its tag. */
export function slotOf(key: string): number {
  let crc = 0;
  for (const byte of new TextEncoder().encode(hashTag(key))) {
    crc ^= byte << 8;
    for (let bit = 0; bit < 8; bit++) crc = (crc << 1) ^ (crc & 0x8000 ? 0x1021 : 0);
    crc &= 0xffff;
  }
  return crc & 0x3fff;
}

/** The first key of one of our commands: a script's comes after its name and the number of keys. */
export function keyOfCommand(command: readonly string[]): string {
  return (command[0]?.startsWith("EVAL") ? command[3] : command[1]) ?? "";
}
