const maxDepth = 256;
const enough = 64 * 1024 * 1024;
/** At least the size of what JSON cannot write: a circle, depth without end, a getter that throws. */
export const tooMuch: number = 1024 * 1024 * 1024;

/**
 * Roughly the bytes of a value as JSON, for memory bounds: exact to a few per cent for ASCII, at
 * most three times too low for other scripts. Counting stops at 64 MiB; what is nested more than 256
 * deep, circular, or throws when it is looked at counts as 1 GiB. Never throws.
 */
export function sizeOf(value: unknown): number {
  try {
    return measure(value, 0);
  } catch {
    // A getter or a proxy of the author's.
    return tooMuch;
  }
}

/** Whether the JSON of a value has more characters than that. Looks no further than to find out. */
export function isLargerThan(value: unknown, chars: number): boolean {
  let left = chars;
  const stack: unknown[] = [value];
  while (stack.length > 0 && left >= 0) {
    const one = stack.pop();
    if (typeof one === "string") left -= one.length + 2;
    else if (typeof one !== "object" || one === null) left -= 1;
    else {
      left -= 2;
      for (const key in one) {
        // A comma, and the name of a member with its quotes and colon.
        left -= Array.isArray(one) ? 1 : key.length + 4;
        if (left < 0) return true;
        stack.push((one as Record<string, unknown>)[key]);
      }
      // The first has no comma.
      left += 1;
    }
  }
  return left < 0;
}

/**
 * Returns the event with a BigInt, which JSON cannot represent either, in place of each cyclic
 * member: the guard then detects it immediately, and the rest of the event is kept. Returns
 * undefined when the value is not an event.
 */
export function withoutEndless(value: unknown): unknown {
  try {
    if (typeof value !== "object" || value === null || Array.isArray(value)) return undefined;
    const finite: Record<string, unknown> = {};
    for (const key of Object.keys(value)) finite[key] = finiteMember(value, key);
    return finite;
  } catch {
    // A proxy that does not even show its keys.
    return undefined;
  }
}

function finiteMember(value: object, key: string): unknown {
  try {
    const member: unknown = Reflect.get(value, key);
    return sizeOf(member) >= tooMuch ? 0n : member;
  } catch {
    return 0n;
  }
}

function measure(value: unknown, depth: number): number {
  switch (typeof value) {
    case "string":
      return value.length + 2;
    case "number":
    case "bigint":
      // The longest number has 25 characters, and three times too low is the promise.
      return 9;
    case "boolean":
      return 5;
    case "object":
      break;
    default:
      return 0;
  }
  if (value === null) return 4;
  if (depth > maxDepth) return tooMuch;
  if (Array.isArray(value)) {
    let size = 2;
    for (let i = 0; i < value.length && size < enough; i++) {
      // A value that JSON cannot represent is `null` in an array.
      size += 1 + (measure(value[i], depth + 1) || 4);
    }
    return size;
  }
  if (ArrayBuffer.isView(value)) return value.byteLength * 10;
  if (typeof (value as { toJSON?: unknown }).toJSON === "function") return 32;
  let size = 2;
  // Not by a list of the keys: most events are small, and the list is larger than they are.
  for (const key in value) {
    if (size >= enough) break;
    if (!Object.hasOwn(value, key)) continue;
    const member = measure((value as Record<string, unknown>)[key], depth + 1);
    if (member > 0) size += key.length + 4 + member;
  }
  return size;
}
