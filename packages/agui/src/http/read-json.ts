import { clip, concatBytes } from "@holodeck/agui-core/internal";
import { AgentError } from "@holodeck/agui-core";
import type { Exchange, Limits } from "@holodeck/agui-core";

// The most common spelling.
const plainType = "application/json";

const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: false });

/** A body that was read. */
export interface ReadBody {
  readonly value: unknown;
  /** Absent when a body parser in front of the handler has read it. */
  readonly bytes?: number;
}

/** The JSON body of a request, read no further than the limit. */
export async function readJson(
  exchange: Exchange,
  limits: Limits,
  isOptional = false,
): Promise<ReadBody> {
  const type = exchange.header("content-type");
  const declared = Number(exchange.header("content-length") ?? Number.NaN);
  if (declared > limits.bodyBytes) throw tooLarge(limits.bodyBytes);
  if (exchange.parsedBody !== undefined) {
    // A form parser in front must not let through what we would refuse ourselves.
    if (type !== undefined) assertJsonType(type);
    cleanParsed(exchange.parsedBody, limits);
    return { value: exchange.parsedBody };
  }
  if (declared > 0) assertJsonType(type);
  const { bodyBytes } = limits;
  const bytes = await (exchange.readAll?.(bodyBytes) ?? readPieces(exchange, bodyBytes));
  if (!bytes) throw tooLarge(bodyBytes);
  if (bytes.length === 0) {
    if (isOptional) return { value: undefined };
    throw new AgentError("invalid-request", emptiness(exchange));
  }
  assertJsonType(type);
  return { value: parse(bytes, limits), bytes: bytes.length };
}

// What was announced and is not there, something else has read.
function emptiness(exchange: Exchange): string {
  const isAnnounced =
    Number(exchange.header("content-length") ?? 0) > 0 ||
    exchange.header("transfer-encoding") !== undefined;
  return isAnnounced
    ? "The body was already read: a body parser consumed it and did not store the result. " +
        "Mount this handler before the parser, or use a parser that sets the JSON on the request."
    : "The body is empty; send a JSON object.";
}

/** Whether a route that takes multipart is to read this body itself. */
export function isMultipart(exchange: Exchange): boolean {
  const given = exchange.header("content-type");
  if (given === plainType) return false;
  const type = given?.split(";", 1)[0]?.trim().toLowerCase();
  return type === "multipart/form-data";
}

// Returns undefined when there are more bytes than the limit.
async function readPieces(exchange: Exchange, limit: number): Promise<Uint8Array | undefined> {
  let first: Uint8Array | undefined;
  let more: Uint8Array[] | undefined;
  let length = 0;
  for await (const chunk of exchange.body()) {
    length += chunk.length;
    // Leaving the loop stops the reading; the rest of the body is never in memory.
    if (length > limit) return undefined;
    if (first === undefined) first = chunk;
    else (more ??= [first]).push(chunk);
  }
  return more ? concatBytes(more) : (first ?? new Uint8Array());
}

function tooLarge(limit: number): AgentError {
  return new AgentError("payload-too-large", `The body is larger than ${limit} bytes.`);
}

// A page of another site can post forms and plain text without asking; JSON it cannot.
function assertJsonType(contentType: string | undefined): void {
  if (contentType === plainType) return;
  const type = contentType?.split(";", 1)[0]?.trim().toLowerCase() ?? "";
  if (type === "application/json" || /^application\/[\w.+-]+\+json$/.test(type)) return;
  throw new AgentError(
    "unsupported-media-type",
    `The body must be application/json, ${type === "" ? "but it has no content-type" : `not "${type}"`}.`,
  );
}

function parse(bytes: Uint8Array, limits: Limits): unknown {
  let text: string;
  try {
    text = decoder.decode(bytes);
  } catch (cause) {
    throw new AgentError("invalid-request", "The body is not valid UTF-8.", { cause });
  }
  assertShape(text, limits);
  try {
    // An own `__proto__` is harmless here but dangerous for code that copies it by assignment.
    return JSON.parse(text, mayHoldProto.test(text) ? withoutProto : undefined) as unknown;
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : "";
    throw new AgentError("invalid-request", `The body is not valid JSON: ${toSentence(reason)}`, {
      cause,
    });
  }
}

// Spelled out, or with any of its letters escaped.
const mayHoldProto = /__proto__|\\u00[567]/;

function withoutProto(key: string, value: unknown): unknown {
  return key === "__proto__" ? undefined : value;
}

// Before parsing: a megabyte of "[" parses well enough and then breaks whatever walks it, and a megabyte of "{},"
// takes twenty when it is parsed. A value begins the body, or follows a comma or a bracket that is not closed at once.
function assertShape(text: string, { jsonDepth, jsonNodes }: Limits): void {
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

// Where most of a body is: from quote to quote, and not character by character.
function endOfString(text: string, start: number): number {
  let end = text.indexOf('"', start + 1);
  while (end !== -1 && isEscaped(text, end)) end = text.indexOf('"', end + 1);
  return end === -1 ? text.length : end;
}

function isEscaped(text: string, place: number): boolean {
  let before = place;
  while (text.charCodeAt(before - 1) === 92) before--;
  return (place - before) % 2 === 1;
}

// What a body parser made: the same depth and number of values, the same poison taken out.
function cleanParsed(value: unknown, { jsonDepth, jsonNodes }: Limits): void {
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
