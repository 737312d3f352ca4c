const maxDepth = 256;
const enough = 64 * 1024 * 1024;
const tooMuch = 1024 * 1024 * 1024;

interface DeltaEvent {
  readonly type?: unknown;
  readonly delta?: unknown;
  readonly messageId?: unknown;
  readonly toolCallId?: unknown;
  readonly subagentRunId?: unknown;
  readonly metadata?: unknown;
  readonly rawEvent?: unknown;
}

/**
 * Roughly the bytes of a value as JSON, for memory bounds: exact to a few per cent for ASCII, at
 * most three times too low for other scripts. Counting stops at 64 MiB; what is nested more than 256
 * deep, circular, or throws when it is looked at counts as 1 GiB. Never throws.
 */
export function sizeOf(value: unknown): number {
  try {
    return sizeOfDelta(value) ?? measure(value, 0);
  } catch {
    // A getter or a proxy of the author's.
    return tooMuch;
  }
}

/** True for the size of what JSON cannot write: a circle, depth without end, a getter that throws. */
export function isEndless(size: number): boolean {
  return size >= tooMuch;
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
    return isEndless(sizeOf(member)) ? 0n : member;
  } catch {
    return 0n;
  }
}

/** The size of a delta with nothing else in it. */
export function sizeOfText(type: string, id: string, delta: string): number {
  // `{"type":"…","messageId":"…","delta":"…","timestamp":…}` around the three strings.
  return 64 + type.length + id.length + delta.length;
}

function sizeOfDelta(value: unknown): number | undefined {
  if (typeof value === "object" && value !== null) {
    const { type, delta, messageId, toolCallId, subagentRunId, metadata, rawEvent } =
      value as DeltaEvent;
    const id = messageId ?? toolCallId;
    if (
      typeof delta === "string" &&
      typeof id === "string" &&
      typeof type === "string" &&
      metadata === undefined &&
      rawEvent === undefined
    ) {
      const owner = typeof subagentRunId === "string" ? subagentRunId.length + 19 : 0;
      return sizeOfText(type, id, delta) + owner;
    }
  }
  return undefined;
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
  for (const key of Object.keys(value)) {
    if (size >= enough) break;
    const member = measure((value as Record<string, unknown>)[key], depth + 1);
    if (member > 0) size += key.length + 4 + member;
  }
  return size;
}
