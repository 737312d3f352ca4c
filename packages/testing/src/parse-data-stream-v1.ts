import { quoteText } from "@holodeck/agui-core/internal";
import { readText } from "./read-text.ts";
import type { TextSource } from "./read-text.ts";

/** The parts of data stream v1 by their code, with the names that the AI SDK has for them. */
const names = {
  "0": "text",
  "2": "data",
  "3": "error",
  "8": "message_annotations",
  "9": "tool_call",
  a: "tool_result",
  b: "tool_call_streaming_start",
  c: "tool_call_delta",
  d: "finish_message",
  e: "finish_step",
  f: "start_step",
  g: "reasoning",
  h: "source",
  i: "redacted_reasoning",
  j: "reasoning_signature",
  k: "file",
} as const;

export type DataStreamPartType = (typeof names)[keyof typeof names];

/** One line of data stream v1, understood. */
export interface DataStreamPart {
  readonly type: DataStreamPartType;
  readonly value: unknown;
}

/**
 * Reads a data stream v1 as AI SDK 4 does, and refuses what it would refuse. Text is read at once, a
 * response or a stream when it has ended.
 *
 * @example
 * ```ts
 * const parts = await parseDataStreamV1(await handler.fetch(request));
 * expect(parts.at(-1)).toMatchObject({ type: "finish_message" });
 * ```
 */
export function parseDataStreamV1(source: string): DataStreamPart[];
export function parseDataStreamV1(source: TextSource): Promise<DataStreamPart[]>;
export function parseDataStreamV1(
  source: TextSource,
): DataStreamPart[] | Promise<DataStreamPart[]> {
  return typeof source === "string" ? parseText(source) : readAll(source).then(parseText);
}

async function readAll(source: TextSource): Promise<string> {
  let text = "";
  for await (const piece of readText(source)) text += piece;
  return text;
}

function parseText(text: string): DataStreamPart[] {
  // A keep-alive is an empty line.
  const lines = text.split("\n").filter((line) => line !== "");
  return lines.map(parseLine);
}

function parseLine(line: string): DataStreamPart {
  const colon = line.indexOf(":");
  const code = line.slice(0, Math.max(0, colon));
  if (colon === -1) throw refusal(line, "has no code: a part is CODE:JSON");
  if (!isCode(code)) throw refusal(line, `has the code ${JSON.stringify(code)}, which is none`);
  let value: unknown;
  try {
    value = JSON.parse(line.slice(colon + 1));
  } catch (error) {
    throw refusal(line, "is not JSON after its code", error);
  }
  const type = names[code];
  const expected = shapes[type];
  if (!expected.fits(value)) throw refusal(line, `must hold ${expected.words}`);
  return { type, value: (readers[type] ?? asItIs)(value as Json) };
}

type Json = Record<string, unknown>;

// What has defaults, and what only the known members count of.
const readers: Readonly<Partial<Record<DataStreamPartType, (value: Json) => unknown>>> = {
  finish_message: ({ finishReason, usage }) => ({ finishReason, ...readUsage(usage) }),
  finish_step: ({ finishReason, usage, isContinued }) => ({
    finishReason,
    ...readUsage(usage),
    isContinued: typeof isContinued === "boolean" ? isContinued : false,
  }),
  start_step: ({ messageId }) => ({ messageId }),
  redacted_reasoning: ({ data }) => ({ data }),
  reasoning_signature: ({ signature }) => ({ signature }),
};

function asItIs(value: unknown): unknown {
  return value;
}

function readUsage(usage: unknown): { usage?: Record<string, number> } {
  if (typeof usage !== "object" || usage === null) return {};
  if (!("promptTokens" in usage) || !("completionTokens" in usage)) return {};
  const { promptTokens, completionTokens } = usage;
  return {
    usage: { promptTokens: toCount(promptTokens), completionTokens: toCount(completionTokens) },
  };
}

function toCount(value: unknown): number {
  return typeof value === "number" ? value : Number.NaN;
}

interface Shape {
  readonly words: string;
  fits(value: unknown): boolean;
}

const text: Shape = { words: "a string", fits: (value) => typeof value === "string" };
const list: Shape = { words: "an array", fits: (value) => Array.isArray(value) };
const finish = members("a finishReason", { finishReason: isString });

const shapes: Readonly<Record<DataStreamPartType, Shape>> = {
  text,
  data: list,
  error: text,
  message_annotations: list,
  tool_call: members("toolCallId, toolName and args", {
    toolCallId: isString,
    toolName: isString,
    args: (value) => typeof value === "object",
  }),
  tool_result: members("toolCallId and result", {
    toolCallId: isString,
    result: (value) => value !== undefined,
  }),
  tool_call_streaming_start: members("toolCallId and toolName", {
    toolCallId: isString,
    toolName: isString,
  }),
  tool_call_delta: members("toolCallId and argsTextDelta", {
    toolCallId: isString,
    argsTextDelta: isString,
  }),
  finish_message: finish,
  finish_step: finish,
  start_step: members("a messageId", { messageId: isString }),
  reasoning: text,
  source: members("an object", {}),
  redacted_reasoning: members("data", { data: isString }),
  reasoning_signature: members("a signature", { signature: isString }),
  file: members("data and mimeType", { data: isString, mimeType: isString }),
};

function members(
  words: string,
  checks: Readonly<Record<string, (value: unknown) => boolean>>,
): Shape {
  return {
    words,
    fits: (value) =>
      typeof value === "object" &&
      value !== null &&
      Object.entries(checks).every(([key, check]) => check((value as Json)[key])),
  };
}

function isString(value: unknown): boolean {
  return typeof value === "string";
}

function isCode(code: string): code is keyof typeof names {
  return Object.hasOwn(names, code);
}

function refusal(line: string, why: string, cause?: unknown): SyntaxError {
  return new SyntaxError(`Not data stream v1: ${quoteText(line, 80)} ${why}.`, { cause });
}
