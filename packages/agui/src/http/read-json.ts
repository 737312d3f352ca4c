import { isJsonType } from "@holodeck/agui-core/internal";
import { AgentError } from "@holodeck/agui-core";
import type { Exchange, Limits } from "@holodeck/agui-core";
import { cleanParsed, parseJson } from "./parse-json.ts";
import { readBytes } from "./read-bytes.ts";
import type { ReadRules } from "./read-bytes.ts";

// The most common spelling.
const plainType = "application/json";

/** A body that was read. */
export interface ReadBody {
  readonly value: unknown;
  /** Absent when a body parser in front of the handler has read it. */
  readonly bytes?: number;
}

export interface JsonRules extends ReadRules {
  readonly limits: Limits;
  /** Whether the body may be absent. */
  readonly isOptional: boolean;
  /** Whether it may be sent as plain text. */
  readonly isTextAllowed: boolean;
}

/** The JSON body of a request, read no further than the limit. */
export async function readJson(exchange: Exchange, rules: JsonRules): Promise<ReadBody> {
  const { limits } = rules;
  const type = exchange.header("content-type");
  const declared = Number(exchange.header("content-length") ?? Number.NaN);
  if (declared > limits.bodyBytes) throw tooLarge(limits.bodyBytes);
  if (exchange.parsedBody !== undefined) {
    // A form parser in front must not let through what we would refuse ourselves.
    if (type !== undefined) assertJsonType(type, rules);
    cleanParsed(exchange.parsedBody, limits);
    return { value: exchange.parsedBody };
  }
  if (declared > 0) assertJsonType(type, rules);
  const bytes = await readBytes(exchange, declared, rules);
  if (!bytes) throw tooLarge(limits.bodyBytes);
  if (bytes.length === 0) {
    if (rules.isOptional) return { value: undefined };
    throw new AgentError("invalid-request", emptiness(exchange));
  }
  assertJsonType(type, rules);
  return { value: parseJson(bytes, limits), bytes: bytes.length };
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

function tooLarge(limit: number): AgentError {
  return new AgentError("payload-too-large", `The body is larger than ${limit} bytes.`);
}

// A page of another site can post forms and plain text without asking; JSON it cannot.
function assertJsonType(
  contentType: string | undefined,
  { isTextAllowed }: Pick<JsonRules, "isTextAllowed">,
): void {
  if (contentType === plainType || isJsonType(contentType)) return;
  const type = contentType?.split(";", 1)[0]?.trim().toLowerCase() ?? "";
  if (isTextAllowed && type === "text/plain") return;
  throw new AgentError(
    "unsupported-media-type",
    `The body must be application/json, ${type === "" ? "but it has no content-type" : `not "${type}"`}.`,
  );
}
