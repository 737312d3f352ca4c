import { toSnake } from "../snake-name.ts";
import { isRecord, quoteText } from "@holodeck/agui-core/internal";
import type { Fault, Json } from "@holodeck/agui-core";

/** What normalising finds on its way. */
export interface Notes {
  readonly faults: Fault[];
  readonly warnings: Set<string>;
}

/** The members of one kind of object, as AG-UI 1.0 names them. */
export interface Shape {
  /** The place of such objects, for warnings. */
  readonly label: string;
  readonly required: readonly string[];
  readonly optional: readonly string[];
  /** Whether `snake_case` spellings count too. Never inside what users put there. */
  readonly snake?: boolean;
}

/** More faults are not looked for: a longer list does not help, and making it takes longer than anything else. */
export const maxFaults = 20;

const maxWarnings = 50;
/** Far above any real request. */
export const maxEntries = 10_000;

/**
 * A new object with only the known members of `value`, in the order of the shape: camelCase, without nulls where AG-UI
 * requires absence.
 */
export function pick(value: Json, shape: Shape, notes: Notes): Json {
  const names = namesOf(shape);
  const picked: Json = {};
  for (const [key, name] of names) {
    if (!Object.hasOwn(value, key) || (key !== name && Object.hasOwn(value, name))) continue;
    if (value[key] !== null || shape.required.includes(name)) picked[name] = value[key];
  }
  for (const key of Object.keys(value)) {
    if (names.has(key) || notes.warnings.size >= maxWarnings) continue;
    warn(notes, `${shape.label}${quoteText(key)} is unknown and was ignored.`);
  }
  return picked;
}

/**
 * Applies `change` to every entry that is an object. What is not an array or an object stays as it is;
 * the schema has the word for it.
 */
export function each(
  value: unknown,
  change: (entry: Json, index: number) => unknown,
  list: { readonly path: string; readonly notes: Notes },
): unknown {
  if (!Array.isArray(value)) return value;
  if (value.length > maxEntries) {
    list.notes.faults.push(tooManyEntries(list.path, value.length));
    return [];
  }
  return value.map((entry: unknown, index) =>
    isRecord(entry) && list.notes.faults.length < maxFaults ? change(entry, index) : entry,
  );
}

/** The fault of a list with more entries than any real request has. */
export function tooManyEntries(path: string, count: number): Fault {
  return { path, message: `${path} has ${count} entries; at most ${maxEntries} are accepted.` };
}

/** Adds a warning, once, and not without end. */
export function warn(notes: Notes, text: string): void {
  if (notes.warnings.size < maxWarnings) notes.warnings.add(text);
}

const cache = new WeakMap<Shape, ReadonlyMap<string, string>>();

function namesOf(shape: Shape): ReadonlyMap<string, string> {
  const known = cache.get(shape);
  if (known) return known;
  const names = new Map<string, string>();
  for (const name of [...shape.required, ...shape.optional]) {
    names.set(name, name);
    if (shape.snake) names.set(toSnake(name), name);
  }
  cache.set(shape, names);
  return names;
}
