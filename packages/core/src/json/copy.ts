/** A copy of a JSON value that shares nothing with it, and its text. `undefined` becomes `null`. */
export function cloneJson(value: unknown): { value: unknown; text: string } {
  const text = JSON.stringify(value) ?? "null";
  return { value: parse(text), text };
}

function parse(text: string): unknown {
  // An own `__proto__` is harmless here but dangerous for code that merges objects later.
  return text.includes('"__proto__"') ? JSON.parse(text, dropPrototype) : JSON.parse(text);
}

function dropPrototype(this: unknown, key: string, value: unknown): unknown {
  return key === "__proto__" ? undefined : value;
}

const notPlain: unique symbol = Symbol("not plain");
const maxDepth = 64;
// A larger object is better made by JSON.parse: one that grows name by name becomes a slow table.
const maxNames = 16;

/** A copy of a JSON value that shares nothing with it. `undefined` becomes `null`. */
export function copyJson(value: unknown): unknown {
  return copyMember(value) ?? null;
}

/** The same, but `undefined` for what JSON leaves out of an object. */
export function copyMember(value: unknown): unknown {
  const copy = copyPlain(value, 0);
  if (copy !== notPlain) return copy;
  const text = JSON.stringify(value) as string | undefined;
  return text === undefined ? undefined : parse(text);
}

/** True for an array or an object that JSON writes member by member. */
export function isPlain(value: object): boolean {
  if (typeof (value as { toJSON?: unknown }).toJSON === "function") return false;
  if (Array.isArray(value)) return true;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

function copyPlain(value: unknown, depth: number): unknown {
  if (typeof value === "string" || typeof value === "boolean" || value === null) return value;
  // JSON has no negative zero.
  if (typeof value === "number") return Number.isFinite(value) ? value + 0 : notPlain;
  if (typeof value !== "object" || depth > maxDepth || !isPlain(value)) return notPlain;
  if (Array.isArray(value)) {
    const items: unknown[] = [];
    for (let i = 0; i < value.length; i++) {
      const item = copyPlain(value[i], depth + 1);
      if (item === notPlain) return notPlain;
      items.push(item);
    }
    return items;
  }
  const names = Object.keys(value);
  if (names.length > maxNames) return notPlain;
  const members: Record<string, unknown> = {};
  for (const name of names) {
    const member = (value as Record<string, unknown>)[name];
    if (member === undefined) continue;
    const copy = copyPlain(member, depth + 1);
    if (copy === notPlain || name === "__proto__") return notPlain;
    members[name] = copy;
  }
  return members;
}

/** True when two JSON values are equal. Shared branches cost nothing. */
export function isEqualJson(left: unknown, right: unknown): boolean {
  if (left === right) return true;
  if (typeof left !== "object" || typeof right !== "object" || !left || !right) return false;
  if (Array.isArray(left)) {
    if (!Array.isArray(right) || left.length !== right.length) return false;
    for (let i = 0; i < left.length; i++) if (!isEqualJson(left[i], right[i])) return false;
    return true;
  }
  if (Array.isArray(right)) return false;
  const names = Object.keys(left);
  if (names.length !== Object.keys(right).length) return false;
  for (const name of names) {
    if (!Object.hasOwn(right, name)) return false;
    const value = (left as Record<string, unknown>)[name];
    if (!isEqualJson(value, (right as Record<string, unknown>)[name])) return false;
  }
  return true;
}

/** True when the JSON text of a value has fewer than `length` characters. Costs at most O(length). */
export function isShorterThan(value: unknown, length: number): boolean {
  // The first count ignores escapes, so it never returns "long enough" wrongly.
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
  // Not its keys: of a large object they are many more than are looked at.
  for (const key in value) {
    if (left <= 0) break;
    const member = (value as Record<string, unknown>)[key];
    if (member !== undefined) left = spend(member, left - key.length - 3);
  }
  return left;
}
