import { quoteText } from "@holodeck/agui-core/internal";
import type { Fault } from "@holodeck/agui-core";

/** A fault in the usual format: what it is and what it must be. */
export function fault(path: readonly PropertyKey[], value: unknown, expected: string): Fault {
  const at = path.map(String).join(".");
  const message =
    value === undefined
      ? `${at} is missing; it must be ${expected}.`
      : `${at} must be ${expected}, not ${kindOf(value, expected)}.`;
  return { path: at, message };
}

/** What is expected where only some values are known. */
export function listValues(values: readonly string[]): string {
  const quoted = values.map((value) => JSON.stringify(value)).join(", ");
  return values.length === 1 ? quoted : `one of ${quoted}`;
}

function kindOf(value: unknown, expected: string): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "an array";
  // Where a kind is expected, the value's kind is shown; otherwise the value, shortened.
  if (typeof value === "string" && !/^an? /.test(expected)) return quoteText(value);
  return withArticle(typeof value);
}

function withArticle(noun: string): string {
  return `${/^[aeio]/.test(noun) ? "an" : "a"} ${noun}`;
}
