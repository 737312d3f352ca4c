import { isRecord } from "../json/record.ts";
import { notJson, toJson } from "../json/to-json.ts";
import { isMessageId, toSentId } from "../base/ids.ts";
import type { Repairer } from "./repairs.ts";
import type { Json } from "../contract/agent.ts";

/** Stands for a value that cannot be put right. */
export const bad: unique symbol = Symbol("bad");

/**
 * Looks at a value and returns it, or what should stand in its place, or `bad` or `notJson`. A value
 * that is right comes back as the same object.
 */
export type Check = (value: unknown, repairer: Repairer) => unknown;

/** One field of an object. Required fields without `fill` make the whole object bad when they are. */
export interface Field {
  readonly key: string;
  readonly check: Check;
  readonly required?: boolean;
  readonly nullable?: boolean;
  readonly fill?: () => unknown;
}

/** A field that may be absent. */
export function optional(key: string, check: Check): Field {
  return { key, check };
}

/** A field that must be there; without `fill` the object is bad when it is not. */
export function required(key: string, check: Check, fill?: () => unknown): Field {
  return fill ? { key, check, fill, required: true } : { key, check, required: true };
}

/** Puts the named fields right, on a copy when something has to change. */
export function checkFields<T extends Json>(
  object: T,
  fields: readonly Field[],
  repairer: Repairer,
): T | typeof bad | typeof notJson {
  let fixed = object;
  let draft: Json = object;
  for (const field of fields) {
    const before = object[field.key];
    if (before === undefined && !field.required) continue;
    const after = checkField(before, field, repairer);
    if (after === before) continue;
    if (after === bad || after === notJson) return after;
    if (fixed === object) draft = fixed = { ...object };
    if (after === undefined) delete draft[field.key];
    else draft[field.key] = after;
  }
  return fixed;
}

function checkField(before: unknown, field: Field, repairer: Repairer): unknown {
  let after: unknown = bad;
  if (before === undefined) {
    if (field.fill) repairer.repair("missing-field");
  } else if (before === null && !field.nullable) {
    if (!field.required || field.fill) repairer.repair("null-field");
    if (!field.required) return undefined;
  } else {
    after = field.check(before, repairer);
    // NaN and its like become null in JSON.
    if (after === null && !field.nullable) after = bad;
    if (after !== bad && after !== notJson) return after;
    if (field.required && (!field.fill || field.nullable)) return after;
    repairer.repair(after === bad ? "wrong-type" : "not-json");
    if (!field.required) return undefined;
  }
  return field.fill ? field.fill() : after;
}

/** A string, or what can be read as one. */
export function text(value: unknown, repairer: Repairer): unknown {
  if (typeof value === "string") return value;
  if (typeof value !== "number" && typeof value !== "boolean" && typeof value !== "bigint") {
    return bad;
  }
  repairer.repair("wrong-type");
  return String(value);
}

/** An id that clients may send back, or what stands for it wherever it occurs. */
export function id(value: unknown, repairer: Repairer): unknown {
  const given = text(value, repairer);
  if (typeof given !== "string" || isMessageId(given)) return given;
  repairer.repair("id");
  return toSentId(given, repairer.runId);
}

/** The same for what nothing else refers to: an empty one is as good as none. */
export function ownId(value: unknown, repairer: Repairer): unknown {
  return value === "" ? bad : id(value, repairer);
}

/** An integer that JSON keeps exactly. */
export function integer(value: unknown, repairer: Repairer): unknown {
  if (Number.isSafeInteger(value)) return value;
  if (typeof value !== "number" || !Number.isSafeInteger(Math.trunc(value))) return bad;
  repairer.repair("wrong-type");
  return Math.trunc(value);
}

/** An integer that is not negative. */
export function count(value: unknown, repairer: Repairer): unknown {
  const fixed = integer(value, repairer);
  return typeof fixed === "number" && fixed >= 0 ? fixed : bad;
}

export function boolean(value: unknown): unknown {
  return typeof value === "boolean" ? value : bad;
}

/** One of a closed list. */
export function oneOf(...values: readonly string[]): Check {
  return (value) => (typeof value === "string" && values.includes(value) ? value : bad);
}

/** Anything that JSON can write, `null` included. */
export function json(value: unknown): unknown {
  return toJson(value);
}

/** An object of any content that JSON can write. */
export function record(value: unknown): unknown {
  if (!isRecord(value)) return bad;
  const plain = toJson(value);
  return plain === notJson || isRecord(plain) ? plain : bad;
}

/** An object with these fields among others. */
export function object(...fields: readonly Field[]): Check {
  return (value, repairer) => (isRecord(value) ? checkFields(value, fields, repairer) : bad);
}

/** An object whose `key` selects one of the checks. */
export function variant(key: string, checks: Readonly<Record<string, Check>>): Check {
  return (value, repairer) => {
    if (!isRecord(value)) return bad;
    const name = value[key];
    if (typeof name !== "string" || !Object.hasOwn(checks, name)) return bad;
    return checks[name]!(value, repairer);
  };
}

/** An array; items that cannot be put right are left out. */
export function list(check: Check): Check {
  return (value, repairer) => {
    if (!Array.isArray(value)) return bad;
    let fixed: unknown[] = value;
    for (let i = 0; i < value.length; i++) {
      const item: unknown = check(value[i], repairer);
      if (item === value[i] && fixed === value) continue;
      if (fixed === value) fixed = value.slice(0, i);
      if (item === bad || item === notJson) repairer.repair("wrong-type");
      else fixed.push(item);
    }
    return fixed;
  };
}

/** An array in which every item has to be right as it is. */
export function listOf(isRight: (item: unknown) => boolean): Check {
  return (value) => (Array.isArray(value) && value.every(isRight) ? value : bad);
}

/** Makes sure of JSON first, so that the check sees what a reader will see. */
export function plain(check: Check): Check {
  return (value, repairer) => {
    const data = toJson(value);
    return data === notJson ? notJson : check(data, repairer);
  };
}
