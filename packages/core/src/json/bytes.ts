/** The bytes of a JSON value as its text in UTF-8, exactly as `JSON.stringify` writes it. */
export function jsonBytes(value: unknown): number {
  switch (typeof value) {
    case "string":
      return 2 + textBytes(value);
    case "number":
      return Number.isFinite(value) ? String(value).length : 4;
    case "boolean":
      return value ? 4 : 5;
    case "object":
      return value === null ? 4 : Array.isArray(value) ? arrayBytes(value) : recordBytes(value);
    default:
      return 0;
  }
}

/** The bytes of a text inside a JSON string, without its quotes. */
export function textBytes(text: string): number {
  let bytes = text.length;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code >= 0x20 && code < 0x80) {
      if (code === 0x22 || code === 0x5c) bytes++;
    } else if (code < 0x20) {
      // Five are written with a letter: \b \t \n \f \r.
      bytes += code >= 8 && code <= 13 && code !== 11 ? 1 : 5;
    } else if (code < 0x800) bytes++;
    else if (code < 0xd800 || code > 0xdfff) bytes += 2;
    else if (isPair(text, at)) {
      bytes += 2;
      at++;
    } else bytes += 5;
  }
  return bytes;
}

/** Whether a JSON value is nested more than so many levels deep; an object or array is one. */
export function isDeeperThan(value: unknown, levels: number): boolean {
  if (typeof value !== "object" || value === null) return false;
  if (levels <= 0) return true;
  if (Array.isArray(value)) {
    for (const item of value) if (isDeeperThan(item, levels - 1)) return true;
    return false;
  }
  for (const key in value) {
    if (isDeeperThan((value as Record<string, unknown>)[key], levels - 1)) return true;
  }
  return false;
}

function arrayBytes(items: readonly unknown[]): number {
  let bytes = 2 + Math.max(0, items.length - 1);
  for (const item of items) bytes += jsonBytes(item) || 4;
  return bytes;
}

function recordBytes(record: object): number {
  let bytes = 2;
  for (const key of Object.keys(record)) {
    const member = jsonBytes((record as Record<string, unknown>)[key]);
    if (member > 0) bytes += member + textBytes(key) + (bytes > 2 ? 4 : 3);
  }
  return bytes;
}

// Half of a pair is written as an escape.
function isPair(text: string, at: number): boolean {
  if (text.charCodeAt(at) > 0xdbff) return false;
  const next = text.charCodeAt(at + 1);
  return next >= 0xdc00 && next <= 0xdfff;
}
