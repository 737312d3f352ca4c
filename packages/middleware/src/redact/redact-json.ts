import { redactText } from "./redact-text.ts";
import type { TextRules } from "./redact-text.ts";

/** The parts of a value that are not content. */
export interface Structure {
  /** Keys whose values are kept unchanged, in the value itself and in values `within` it. */
  readonly kept: ReadonlySet<string>;
  readonly within: ReadonlySet<string>;
}

const maxDepth = 64;
const free: Structure = { kept: new Set(), within: new Set() };
const ordinary = { enumerable: true, configurable: true, writable: true };

/**
 * The value without what the rules take out of its strings and numbers; the very same when there is
 * nothing. Keys stay as they are.
 */
export function redactJson(value: unknown, rules: TextRules, structure: Structure = free): unknown {
  return clean(value, structure, 0);

  function clean(one: unknown, { kept, within }: Structure, depth: number): unknown {
    if (typeof one === "string") return redactText(one, rules);
    if (typeof one === "number") {
      const text = String(one);
      const shown = redactText(text, rules);
      return shown === text ? one : shown;
    }
    if (typeof one !== "object" || one === null) return one;
    // Deeper than anything a client may send; better nothing than something unread.
    if (depth > maxDepth) return null;
    if (Array.isArray(one)) {
      const list = one.map((item) => clean(item, { kept, within }, depth + 1));
      return list.every((item, index) => item === one[index]) ? one : list;
    }
    let copy: Record<string, unknown> | undefined;
    for (const [key, item] of Object.entries(one)) {
      if (kept.has(key) || (kept.size > 0 && key === "value" && isBinary(one))) continue;
      const shown = clean(item, within.has(key) ? { kept, within } : free, depth + 1);
      if (shown === item) continue;
      copy ??= { ...(one as Record<string, unknown>) };
      // Assigning to `__proto__` would change the copy instead of filling it.
      Object.defineProperty(copy, key, { value: shown, ...ordinary });
    }
    return copy ?? one;
  }
}

// The bytes of an image may match anything; changing one of them breaks it.
function isBinary(value: object): boolean {
  const { type, mimeType } = value as { type?: unknown; mimeType?: unknown };
  return type === "data" && typeof mimeType === "string";
}

/** The same for text that may be JSON, which stays JSON then. */
export function redactJsonText(text: string, rules: TextRules): string {
  if (!/^\s*[[{]/.test(text)) return redactText(text, rules);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return redactText(text, rules);
  }
  const shown = redactJson(value, rules);
  return shown === value ? text : JSON.stringify(shown);
}
