import { isDeeperThan, isRecord } from "@holodeck/agui-core/internal";
import type { Json } from "@holodeck/agui-core";

/** Only what is there: clients refuse null where they know of an optional key. */
export function defined(record: Json): Json {
  return Object.fromEntries(
    Object.entries(record).filter(([, value]) => value !== undefined && value !== null),
  );
}

/**
 * JSON that every client reads: the AI SDK refuses a whole answer for the sake of one key that could
 * reach a prototype.
 */
export function toSafeJson(value: unknown): string {
  const json = JSON.stringify(value);
  if (!json.includes('"__proto__"') && !json.includes('"constructor"')) return json;
  return JSON.stringify(value, (key, member: unknown) => {
    if (key === "__proto__") return undefined;
    if (key === "constructor" && isRecord(member) && Object.hasOwn(member, "prototype")) {
      return undefined;
    }
    return member;
  });
}

// The depth of a tool's input and output in a request: below the body, its messages, one of them, its
// parts, one of those and, before AI SDK 5, an invocation.
const levelsAbove = 6;

/**
 * The parsed text if it is a JSON object or array, else the text itself; so is one that is nested deeper than
 * the client may send back.
 */
export function parseStructure(text: string, jsonDepth = 64): unknown {
  if (!/^\s*[[{]/.test(text)) return text;
  try {
    const parsed: unknown = JSON.parse(text);
    return isDeeperThan(parsed, jsonDepth - levelsAbove) ? text : parsed;
  } catch {
    // It only looked like JSON, and then it is text.
    return text;
  }
}
