import { EventType } from "@ag-ui/core";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { sizeOfEvent } from "../src/internal.ts";
import { sizeOf } from "../src/json/size.ts";

const bytes = (value: unknown): number =>
  new TextEncoder().encode(JSON.stringify(value) ?? "").byteLength;

/** No control characters, which JSON writes in six bytes, and no halves of pairs. */
const readable = fc.string({ unit: fc.constantFrom("a", "é", "語", "🙂", " ", "ß", "z") });
const json = fc.jsonValue({ maxDepth: 4 }).map((value) => {
  const text = JSON.stringify(value);
  return JSON.parse(text.replaceAll(/\\u[0-9a-f]{4}|\\[a-z"\\]/gi, "x")) as unknown;
});

describe("sizeOf", () => {
  test("is never more than three times too low", () => {
    fc.assert(
      fc.property(fc.oneof(json, readable, fc.dictionary(readable, readable)), (value) => {
        expect(sizeOf(value) * 3).toBeGreaterThanOrEqual(bytes(value));
      }),
      { numRuns: 500 },
    );
  });

  test.for<[string, unknown, number]>([
    ["a date", { at: new Date(0) }, 30],
    ["bytes", { data: new Uint8Array(1_000) }, 8_000],
    ["what JSON leaves out", { gone: undefined, call: () => {} }, 2],
    ["holes", [undefined, undefined], 11],
    ["nothing", undefined, 0],
  ])("counts %s", ([, value, least]) => {
    expect(sizeOf(value)).toBeGreaterThanOrEqual(least);
    expect(sizeOf(value) * 3).toBeGreaterThanOrEqual(bytes(value));
  });

  test("comes to an end on a circle, on depth and on doubling, with a huge number", () => {
    const circle: { self?: unknown } = {};
    circle.self = circle;
    let deep: unknown = 1;
    for (let i = 0; i < 100_000; i++) deep = [deep];
    let doubled: unknown = "x".repeat(1_000);
    for (let i = 0; i < 60; i++) doubled = [doubled, doubled];
    for (const value of [circle, deep, doubled]) {
      expect(sizeOf(value)).toBeGreaterThanOrEqual(64 * 1024 * 1024);
      expect(Number.isFinite(sizeOf(value))).toBe(true);
    }
  });
});

describe("sizeOfEvent", () => {
  test("is close for the events of a stream", () => {
    const id = "01HZY4J8Q0000000000000000A";
    const kinds = [
      { type: EventType.TEXT_MESSAGE_CONTENT, messageId: id },
      { type: EventType.REASONING_MESSAGE_CONTENT, messageId: id, subagentRunId: id },
      { type: EventType.TOOL_CALL_ARGS, toolCallId: id, timestamp: 1_700_000_000_000 },
      { type: EventType.TEXT_MESSAGE_CONTENT, messageId: id, metadata: { a: "x".repeat(500) } },
      { type: EventType.TEXT_MESSAGE_CONTENT, messageId: id, tomorrow: "x".repeat(500) },
    ];
    for (const kind of kinds) {
      for (const length of [1, 100, 10_000]) {
        const event = { ...kind, delta: "x".repeat(length) };
        expect(sizeOfEvent(event)).toBeGreaterThanOrEqual(bytes(event) - 8);
        expect(sizeOfEvent(event)).toBeLessThanOrEqual(bytes(event) + 40);
      }
    }
  });

  test("is huge for an event that cannot be read", () => {
    const event = {
      type: EventType.TEXT_MESSAGE_CONTENT,
      get messageId(): string {
        throw new Error("No.");
      },
    };
    expect(sizeOfEvent(event)).toBeGreaterThanOrEqual(64 * 1024 * 1024);
  });
});
