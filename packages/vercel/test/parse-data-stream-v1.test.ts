import { parseDataStreamPart } from "@ai-sdk/ui-utils";
import { parseDataStreamV1 } from "@holodeck/agui-testing";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";

const numRuns = Number(process.env.VERCEL_RUNS ?? 1_000);
const codes = "0123456789abcdefghijkl".split("");

const json = fc.jsonValue({ maxDepth: 2 });
const member = fc.constantFrom(
  "toolCallId",
  "toolName",
  "args",
  "result",
  "argsTextDelta",
  "finishReason",
  "usage",
  "isContinued",
  "messageId",
  "data",
  "signature",
  "mimeType",
);
const value = fc.oneof(
  json,
  fc.string(),
  fc.array(json, { maxLength: 2 }),
  fc.dictionary(
    member,
    fc.oneof(
      fc.string(),
      fc.boolean(),
      fc.constantFrom(null, {}, []),
      fc.dictionary(
        fc.constantFrom("promptTokens", "completionTokens"),
        fc.oneof(fc.nat(), fc.constant(null)),
      ),
    ),
    { maxKeys: 6 },
  ),
);
const line = fc.oneof(
  { weight: 9, arbitrary: fc.tuple(fc.constantFrom(...codes), value).map(toLine) },
  { weight: 1, arbitrary: fc.string().filter((text) => text !== "" && !text.includes("\n")) },
);

describe("parseDataStreamV1", () => {
  test("reads and refuses what the AI SDK reads and refuses", () => {
    fc.assert(
      fc.property(line, (text) => {
        expect(attempt(() => parseDataStreamV1(`${text}\n`)[0])).toEqual(
          attempt(() => parseDataStreamPart(text)),
        );
      }),
      { numRuns },
    );
  });

  test("reads text, a response and a stream alike, and skips keep-alives", async () => {
    const text = '0:"Hä"\n\n2:[1]\n\n\nd:{"finishReason":"stop"}\n';
    const parts = [
      { type: "text", value: "Hä" },
      { type: "data", value: [1] },
      { type: "finish_message", value: { finishReason: "stop" } },
    ];
    expect(parseDataStreamV1(text)).toEqual(parts);
    expect(await parseDataStreamV1(new Response(text))).toEqual(parts);
    expect(await parseDataStreamV1(bytewise(text))).toEqual(parts);
  });

  test.for([
    ["hello", "has no code: a part is CODE:JSON"],
    [": ping", 'has the code "", which is none'],
    ['8:{"id":1}', "must hold an array"],
    ["0:oops", "is not JSON after its code"],
  ])("reports what is wrong with %s", ([text, why]) => {
    expect(() => parseDataStreamV1(`${text}\n`)).toThrow(
      `Not data stream v1: ${JSON.stringify(text)} ${why}.`,
    );
  });
});

function toLine([code, content]: [string, unknown]): string {
  return `${code}:${JSON.stringify(content)}`;
}

function attempt(parse: () => unknown): unknown {
  try {
    return parse();
  } catch {
    return "refused";
  }
}

async function* bytewise(text: string): AsyncGenerator<Uint8Array> {
  for (const byte of new TextEncoder().encode(text))
    yield await Promise.resolve(Uint8Array.of(byte));
}
