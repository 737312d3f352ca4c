import type { ToolParameter } from "./parameters.ts";

/**
 * The parameters of a function as its source text names them; undefined when they are more than names
 * and defaults, such as a destructured object.
 */
export function readFunctionParameters(
  callable: (...values: never[]) => unknown,
): ToolParameter[] | undefined {
  const list = findList(Function.prototype.toString.call(callable));
  if (list === undefined) return undefined;
  const parameters: ToolParameter[] = [];
  for (const part of split(list)) {
    const match = /^([\p{L}_$][\p{L}\p{N}_$]*)(?:\s*=(?!=)\s*(.+))?$/su.exec(part);
    if (!match) return undefined;
    const [, name = "", initial] = match;
    const type = initial === undefined ? "string" : typeOf(initial.trim());
    parameters.push({ name, type, required: initial === undefined });
  }
  return parameters;
}

// Between the parentheses of the first pair; a lone parameter of an arrow function has none.
function findList(source: string): string | undefined {
  const alone = /^(?:async\s+)?([\p{L}_$][\p{L}\p{N}_$]*)\s*=>/u.exec(source);
  if (alone) return alone[1];
  const begin = source.indexOf("(");
  if (begin < 0) return undefined;
  const text = source.slice(begin + 1);
  for (const { at, depth, char } of scan(text)) {
    if (char === ")" && depth < 0) return text.slice(0, at);
  }
  return undefined;
}

function split(list: string): string[] {
  const parts: string[] = [];
  let begin = 0;
  for (const { at, depth, char } of scan(list)) {
    if (char !== "," || depth !== 0) continue;
    parts.push(list.slice(begin, at));
    begin = at + 1;
  }
  // A trailing comma is allowed.
  return [...parts, list.slice(begin)].map((part) => part.trim()).filter((part) => part !== "");
}

interface Scanned {
  readonly at: number;
  /** Brackets that are open after this character. */
  readonly depth: number;
  readonly char: string;
}

// Every character that is not inside a string.
function* scan(text: string): Generator<Scanned> {
  let depth = 0;
  let quote: string | undefined;
  for (let at = 0; at < text.length; at++) {
    const char = text[at]!;
    if (quote !== undefined) {
      if (char === "\\") at++;
      else if (char === quote) quote = undefined;
      continue;
    }
    if (`"'\``.includes(char)) quote = char;
    else if ("([{".includes(char)) depth++;
    else if (")]}".includes(char)) depth--;
    yield { at, depth, char };
  }
}

function typeOf(initial: string): NonNullable<ToolParameter["type"]> {
  if (/^(?:true|false|!0|!1)$/.test(initial)) return "boolean";
  if (/^-?(?:\d|\.\d)/.test(initial)) return "number";
  if (initial.startsWith("[")) return "array";
  if (initial.startsWith("{")) return "object";
  return "string";
}
