/** Represents a value that cannot be written as JSON: a cycle, a BigInt, a throwing `toJSON`. */
export const notJson: unique symbol = Symbol("not JSON");

const deepest = 200;

/**
 * The value as a reader of its JSON would see it: the very same object when it is plain data already,
 * a converted copy when it holds dates and the like, `notJson` when it cannot be written.
 */
export function toJson(value: unknown): unknown {
  try {
    if (isPlainData(value, [])) return value;
    const text = JSON.stringify(value) as string | undefined;
    return text === undefined ? notJson : JSON.parse(text);
  } catch {
    // Whatever is wrong with it, the answer is the same: it cannot be written.
    return notJson;
  }
}

/** A short description of a value that cannot be sent. */
export function nameOfValue(value: unknown): string {
  const kind = Array.isArray(value) ? "array" : value === null ? "null" : typeof value;
  return `[${kind} that is not JSON]`;
}

/** True for objects that are neither arrays nor instances of a class. */
export function isPlainObject(value: object): value is Record<string, unknown> {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

// Only the ancestors are remembered, as in JSON.stringify: a value may occur twice, but not in itself.
function isPlainData(value: unknown, ancestors: object[]): boolean {
  if (typeof value === "string" || typeof value === "boolean" || value === null) return true;
  if (typeof value === "number") return Number.isFinite(value);
  if (typeof value !== "object" || ancestors.length > deepest || ancestors.includes(value)) {
    return false;
  }
  ancestors.push(value);
  const plain = Array.isArray(value)
    ? arrayIsPlain(value, ancestors)
    : isPlainObject(value) && objectIsPlain(value, ancestors);
  ancestors.pop();
  return plain;
}

function arrayIsPlain(items: readonly unknown[], ancestors: object[]): boolean {
  for (let i = 0; i < items.length; i++) {
    if (!isPlainData(items[i], ancestors)) return false;
  }
  return true;
}

function objectIsPlain(object: Record<string, unknown>, ancestors: object[]): boolean {
  for (const key in object) {
    const value = object[key];
    if (value !== undefined && !isPlainData(value, ancestors)) return false;
  }
  return true;
}
