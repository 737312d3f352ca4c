/** A copy of a JSON value that shares nothing with it, and its text. `undefined` becomes `null`. */
export function cloneJson(value: unknown): { value: unknown; text: string } {
  const text = JSON.stringify(value) ?? "null";
  // An own `__proto__` is harmless here and poison for whoever merges objects later.
  const copy = text.includes('"__proto__"')
    ? JSON.parse(text, dropPrototype)
    : (JSON.parse(text) as unknown);
  return { value: copy, text };
}

function dropPrototype(this: unknown, key: string, value: unknown): unknown {
  return key === "__proto__" ? undefined : value;
}

/** True when two JSON values are equal. Shared branches cost nothing. */
export function isEqualJson(left: unknown, right: unknown): boolean {
  if (left === right) return true;
  if (typeof left !== "object" || typeof right !== "object" || !left || !right) return false;
  if (Array.isArray(left)) {
    if (!Array.isArray(right) || left.length !== right.length) return false;
    return left.every((item, index) => isEqualJson(item, right[index]));
  }
  if (Array.isArray(right)) return false;
  const keys = Object.keys(left);
  if (keys.length !== Object.keys(right).length) return false;
  return keys.every(
    (key) =>
      Object.hasOwn(right, key) &&
      isEqualJson((left as Record<string, unknown>)[key], (right as Record<string, unknown>)[key]),
  );
}

/** True when the JSON text of a value has fewer than `length` characters. Costs at most O(length). */
export function isShorterThan(value: unknown, length: number): boolean {
  // The first count ignores escapes, so it never says "long enough" wrongly.
  return spend(value, length) > 0 && (JSON.stringify(value) ?? "").length < length;
}

function spend(value: unknown, budget: number): number {
  if (typeof value === "string") return budget - value.length - 2;
  if (typeof value !== "object" || value === null) return budget - 1;
  let left = budget - 2;
  if (Array.isArray(value)) {
    for (let i = 0; i < value.length && left > 0; i++) left = spend(value[i], left) - (i && 1);
    return left;
  }
  for (const key of Object.keys(value)) {
    if (left <= 0) break;
    left = spend((value as Record<string, unknown>)[key], left - key.length - 3);
  }
  return left;
}
