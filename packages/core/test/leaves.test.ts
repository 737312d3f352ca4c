import { describe, expect, test } from "vitest";
import { asText, clip, concatBytes, isPromise, isRecord, own, quoteText } from "../src/internal.ts";

describe("isRecord", () => {
  test("is true for objects with any prototype, and false for null, arrays and functions", () => {
    const records = [{}, Object.create(null), new Map()];
    const others = [null, undefined, [], "text", 1, () => 1];
    expect(records.map(isRecord)).toEqual(records.map(() => true));
    expect(others.map(isRecord)).toEqual(others.map(() => false));
  });
});

describe("own", () => {
  test("returns no inherited member, and works without a prototype", () => {
    const bare = Object.assign(Object.create(null) as Record<string, unknown>, { a: 1 });
    expect([own({}, "constructor"), own({ a: 1 }, "a"), own(bare, "a")]).toEqual([undefined, 1, 1]);
  });
});

describe("isPromise", () => {
  test("is true for thenables of any kind, also functions", () => {
    // oxlint-disable-next-line unicorn/no-thenable
    const thenable = Object.assign(() => 1, { then: () => undefined });
    const notCallable: unknown = JSON.parse('{"then":1}');
    const values: unknown[] = [Promise.resolve(), thenable, notCallable, null, undefined, "text"];
    expect(values.map(isPromise)).toEqual([true, true, false, false, false, false]);
  });
});

describe("clip", () => {
  test("keeps short text and cuts long text", () => {
    expect([clip("abc", 3), clip("abcd", 3), clip("", 3)]).toEqual(["abc", "abc…", ""]);
  });
  test("splits no surrogate pair", () => {
    expect([clip("ab😀c", 3), clip("ab😀c", 4)]).toEqual(["ab…", "ab😀…"]);
  });
  test("quoteText escapes what is left", () => {
    expect(quoteText('a"\n'.repeat(9), 3)).toBe('"a\\"\\n…"');
  });
});

test("concatBytes joins chunks in their order, and none to an empty array", () => {
  const chunks = [Uint8Array.of(1, 2), new Uint8Array(), Uint8Array.of(3)];
  expect([[...concatBytes(chunks)], [...concatBytes([])]]).toEqual([[1, 2, 3], []]);
});

test("asText returns strings only", () => {
  expect([asText("a"), asText(1)]).toEqual(["a", undefined]);
});
