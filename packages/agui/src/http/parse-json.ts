import { clip } from "@holodeck/agui-core/internal";
import { AgentError } from "@holodeck/agui-core";
import type { Limits } from "@holodeck/agui-core";

type ShapeLimits = Pick<Limits, "jsonDepth" | "jsonNodes">;

const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: false });

/** The value of a JSON text. What would take long to parse, or to walk afterwards, is refused before it is parsed. */
export function parseJson(bytes: Uint8Array, limits: ShapeLimits): unknown {
  let text: string;
  try {
    text = decoder.decode(bytes);
  } catch (cause) {
    throw new AgentError("invalid-request", "The body is not valid UTF-8.", { cause });
  }
  assertShape(text, limits);
  let value: unknown;
  try {
    value = JSON.parse(text) as unknown;
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : "";
    throw new AgentError("invalid-request", `The body is not valid JSON: ${toSentence(reason)}`, {
      cause,
    });
  }
  if (mayHoldProto(text)) cleanParsed(value, limits);
  return value;
}

// Spelled out, or with any of its letters escaped. Not by a reviver, which is called for every value.
function mayHoldProto(text: string): boolean {
  return text.includes("__proto__") || text.includes("\\u00");
}

// A megabyte of "[" parses well enough and then breaks whatever walks it, and a megabyte of "{}," takes twenty when it
// is parsed. A value begins the body, or follows a comma or a bracket that is not closed at once.
function assertShape(text: string, { jsonDepth, jsonNodes }: ShapeLimits): void {
  // Too short to be that deep, or that many.
  if (text.length <= jsonDepth && text.length <= jsonNodes) return;
  let depth = 0;
  let nodes = 1;
  let opened = -1;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === 34) at = endOfString(text, at);
    else if (code === 44) {
      if (++nodes > jsonNodes) throw tooMany(jsonNodes);
    } else if (code === 123 || code === 91) {
      if (++depth > jsonDepth) throw tooDeep(jsonDepth);
      nodes++;
      opened = at;
    } else if (code === 125 || code === 93) {
      depth--;
      if (opened === at - 1) nodes--;
    }
  }
}

// Where most of a body is: from quote to quote, and character by character only where escapes are close to each other.
function endOfString(text: string, start: number): number {
  let at = start + 1;
  for (;;) {
    const end = text.indexOf('"', at);
    if (end === -1) return text.length;
    if (!isEscaped(text, end)) return end;
    at = end + 1;
    for (let until = at + near; at < until && at < text.length; at++) {
      const code = text.charCodeAt(at);
      if (code === 34) return at;
      if (code !== 92) continue;
      at++;
      until = at + near;
    }
  }
}

const near = 64;

function isEscaped(text: string, place: number): boolean {
  let before = place;
  while (text.charCodeAt(before - 1) === 92) before--;
  return (place - before) % 2 === 1;
}

/** What a body parser made: the same depth and number of values. An own `__proto__`, which is harmless here but dangerous for code that copies it by assignment, is taken out. */
export function cleanParsed(value: unknown, { jsonDepth, jsonNodes }: ShapeLimits): void {
  let level: unknown[] = [value];
  let nodes = 0;
  for (let depth = 0; level.length > 0; depth++) {
    const next: unknown[] = [];
    nodes += level.length;
    if (nodes > jsonNodes) throw tooMany(jsonNodes);
    for (const one of level) {
      if (typeof one !== "object" || one === null) continue;
      if (depth >= jsonDepth) throw tooDeep(jsonDepth);
      if (Object.hasOwn(one, "__proto__")) delete (one as Record<string, unknown>)["__proto__"];
      for (const child of Object.values(one)) next.push(child);
    }
    level = next;
  }
}

function tooMany(limit: number): AgentError {
  return new AgentError(
    "payload-too-large",
    `The body has more than ${limit} values: limits.jsonNodes.`,
  );
}

function tooDeep(limit: number): AgentError {
  return new AgentError("invalid-request", `The body is nested deeper than ${limit} levels.`);
}

// V8 quotes the body in its message; sending all of it back is not useful.
function toSentence(text: string): string {
  const line = clip(text.replaceAll(/\s+/g, " "), 120);
  return /[.…]$/.test(line) ? line : `${line}.`;
}
