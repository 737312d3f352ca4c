import { clip, quoteText } from "./text-and-bytes.ts";
import type { ExchangeHandler } from "../contract/exchange.ts";

/** Describes a value without its content. */
export function describeValue(value: unknown): string {
  if (typeof value === "function")
    return isClass(value) ? `a class ${value.name}`.trim() : "a function";
  if (typeof value === "string") return quoteText(value);
  if (typeof value !== "object" || value === null) return String(value);
  if (Array.isArray(value)) return "an array";
  if (has(value, "then")) return "a promise";
  if (has(value, "subscribe")) return "an Observable";
  if (Symbol.asyncIterator in value) return "an async generator";
  if (Symbol.iterator in value) return "an iterable";
  return `an object with the keys ${JSON.stringify(Object.keys(value).slice(0, 10))}`;
}

/** Whether a function can only be called with `new`. */
export function isClass(value: unknown): boolean {
  return typeof value === "function" && /^class\b/.test(Function.prototype.toString.call(value));
}

/** Throws for options that are no object, and for one that is unknown, with the nearest known name. */
export function assertOptions(call: string, options: unknown, known: readonly string[]): void {
  if (typeof options !== "object" || options === null || Array.isArray(options)) {
    throw new TypeError(`The options of ${call} must be an object, not ${describeValue(options)}.`);
  }
  for (const name of Object.keys(options)) {
    if (!known.includes(name)) throw unknownName(`an option of ${call}`, name, known);
  }
}

/** "x is not …": with the nearest known name, and all of them. */
export function unknownName(what: string, name: string, known: readonly string[]): TypeError {
  const near = nearest(name.slice(name.lastIndexOf(".") + 1), known);
  const hint = near === undefined ? "" : ` Did you mean ${near}?`;
  return new TypeError(
    `${clip(name, 40)} is not ${what}.${hint} Expected one of: ${known.join(", ")}.`,
  );
}

/** Throws unless a binding was given a handler; the message shows how to create one. */
export function assertHandler(
  call: string,
  handler: unknown,
): asserts handler is Pick<ExchangeHandler, "handle"> {
  if (typeof handler === "object" && handler !== null && has(handler, "handle")) return;
  throw new TypeError(
    `${call} takes the handler that createAgentHandler returns, not ${describeValue(handler)}. ` +
      `Try ${call}(createAgentHandler(agent)).`,
  );
}

// The known name that takes the fewest changes; none when it takes too many.
function nearest(name: string, known: readonly string[]): string | undefined {
  let best: string | undefined;
  let fewest = Number.POSITIVE_INFINITY;
  for (const one of known) {
    const changes = distance(clip(name, 40).toLowerCase(), one.toLowerCase());
    const isNear = changes <= Math.max(name.length, one.length) / 2;
    if (isNear && changes < fewest) [best, fewest] = [one, changes];
  }
  return best;
}

// Levenshtein's, one row at a time.
function distance(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, at) => at);
  for (let i = 1; i <= from.length; i++) {
    const next = [i];
    for (let j = 1; j <= to.length; j++) {
      const change = row[j - 1]! + (from[i - 1] === to[j - 1] ? 0 : 1);
      next.push(Math.min(change, row[j]! + 1, next[j - 1]! + 1));
    }
    row = next;
  }
  return row[to.length]!;
}

function has(value: object, method: string): boolean {
  return typeof (value as Record<string, unknown>)[method] === "function";
}
