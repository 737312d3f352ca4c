import type { JsonPatchOperation } from "@ag-ui/core";
import * as fc from "fast-check";
import jsonPatch from "fast-json-patch";
import { describe, expect, test } from "vitest";
import { compareJson } from "../src/json/diff.ts";
import { LiveDocument } from "../src/json/live-document.ts";
import { applyPatch, PatchError } from "../src/json/patch.ts";

const replace = (path: string, value: unknown): JsonPatchOperation => ({
  op: "replace",
  path,
  value,
});

const failing: JsonPatchOperation = { op: "remove", path: "/nowhere" };

// Operations on few names, so that they meet often.
const path = fc.constantFrom("", "/a", "/b", "/a/b", "/a/0", "/a/1", "/a/-", "/b/a", "/b/0/a");
const value = fc.jsonValue({ maxDepth: 2 }).filter((json) => !JSON.stringify(json).includes("__"));
const operation = fc.oneof(
  fc.record({ op: fc.constantFrom("add", "replace"), path, value }),
  fc.record({ op: fc.constantFrom("remove"), path }),
  fc.record({ op: fc.constantFrom("move", "copy"), from: path, path }),
) as fc.Arbitrary<JsonPatchOperation>;
const first = fc.oneof(value, fc.record({ a: fc.array(value), b: fc.dictionary(path, value) }));

describe("a live document", () => {
  test("changes in place what it has copied and no caller has read", () => {
    const given = { a: { n: 1 }, b: {} };
    const live = new LiveDocument(given);
    live.patch([replace("/a/n", 2)]);
    const own = live.document;
    expect(own).not.toBe(given);
    live.patch([replace("/a/n", 3)]);
    expect(live.document).toBe(own);
    expect(given).toEqual({ a: { n: 1 }, b: {} });
    expect((own as typeof given).b).toBe(given.b);
  });

  test("leaves alone what was read, given and put into a patch", () => {
    const live = new LiveDocument({ list: [] as unknown[] });
    live.patch([{ op: "add", path: "/list/-", value: 1 }]);
    const read = live.read();
    const item = { done: false };
    live.patch([{ op: "add", path: "/list/-", value: item }]);
    live.patch([replace("/list/1/done", true)]);
    expect(read).toEqual({ list: [1] });
    expect(item).toEqual({ done: false });
    expect(live.read()).toEqual({ list: [1, { done: true }] });
  });

  test("keeps the two places of a copy apart", () => {
    const live = new LiveDocument({ a: { n: 1 } });
    live.patch([replace("/a/n", 2)]);
    live.patch([{ op: "copy", from: "/a", path: "/b" }]);
    live.patch([replace("/b/n", 3)]);
    expect(live.read()).toEqual({ a: { n: 2 }, b: { n: 3 } });
  });

  test("takes back everything, in its order, when one operation fails", () => {
    const live = new LiveDocument({ a: 1, list: [1, 2, 3], b: { x: 1, y: 2 } });
    live.patch([replace("/b/x", 1)]);
    const before = JSON.stringify(live.document);
    const half: JsonPatchOperation[] = [
      { op: "remove", path: "/a" },
      { op: "add", path: "/c", value: 1 },
      { op: "remove", path: "/list/0" },
      { op: "add", path: "/list/1", value: 9 },
      { op: "remove", path: "/b/x" },
      { op: "move", from: "/b", path: "/d" },
      replace("", { other: true }),
      failing,
    ];
    expect(() => live.patch(half)).toThrow(PatchError);
    expect(JSON.stringify(live.document)).toBe(before);
    expect(() => live.patch([{ op: "move", from: "/a", path: "/list/7" }])).toThrow(PatchError);
    expect(JSON.stringify(live.document)).toBe(before);
  });

  test("takes back thousands of removals in one go", () => {
    const names = Array.from({ length: 9000 }, (_, index) => `name${index}`);
    const live = new LiveDocument(Object.fromEntries(names.map((name) => [name, 1])));
    const removals = names.map((name): JsonPatchOperation => ({ op: "remove", path: `/${name}` }));
    expect(live.refusal(removals)).toBeUndefined();
    expect(live.refusal([...removals, failing])).toBeInstanceOf(PatchError);
    expect(Object.keys(live.document as object)).toEqual(names);
  });

  test("reports why a patch would not apply, and stays as it is", () => {
    const live = new LiveDocument({ a: 1 });
    expect(live.refusal([replace("/a", 2), failing])?.message).toContain("/nowhere");
    expect(live.refusal([replace("/a", 2)])).toBeUndefined();
    expect(live.document).toEqual({ a: 1 });
  });

  test("copies while it is lent out", () => {
    const live = new LiveDocument({ a: 1 });
    live.patch([replace("/a", 2)]);
    live.lend((document) => {
      live.patch([replace("/a", 3)]);
      expect(document).toEqual({ a: 2 });
    });
    expect(live.document).toEqual({ a: 3 });
    const lent = live.lend((document) => document);
    live.patch([replace("/a", 4)]);
    expect(live.document).toBe(lent);
  });

  test("becomes what applyPatch makes of any patches, with any reads in between", () => {
    const step = fc.record({ patch: fc.array(operation, { maxLength: 4 }), isRead: fc.boolean() });
    fc.assert(
      fc.property(first, fc.array(step, { maxLength: 12 }), (document, steps) => {
        const live = new LiveDocument(document);
        const given = JSON.stringify(document);
        const told = JSON.stringify(steps);
        const read: [value: unknown, text: string][] = [];
        let expected: unknown = document;
        for (const { patch, isRead } of steps) {
          let failed: unknown;
          try {
            expected = applyPatch(expected, patch);
          } catch (error) {
            failed = error;
          }
          expect(live.refusal(patch)?.message).toBe((failed as PatchError | undefined)?.message);
          if (failed) expect(() => live.patch(patch)).toThrow(PatchError);
          else live.patch(patch);
          expect(JSON.stringify(live.document)).toBe(JSON.stringify(expected));
          if (isRead) read.push([live.read(), JSON.stringify(expected)]);
        }
        for (const [one, text] of read) expect(JSON.stringify(one)).toBe(text);
        expect(JSON.stringify(document)).toBe(given);
        expect(JSON.stringify(steps)).toBe(told);
      }),
      { numRuns: 1000 },
    );
  });
});

describe("a comparison", () => {
  test("finds the operations that fast-json-patch finds", () => {
    const json = fc.oneof(value, fc.dictionary(path, value), fc.array(value));
    const odd = fc.oneof(json, fc.constantFrom(undefined, -0, Number.NaN));
    const pair = fc.oneof(
      fc.tuple(fc.dictionary(path, json), fc.dictionary(path, odd)),
      fc.tuple(fc.array(json), fc.array(json)),
    );
    fc.assert(
      fc.property(pair, ([from, to]) => {
        const plain = JSON.parse(JSON.stringify(from)) as object;
        const next = JSON.parse(JSON.stringify(to)) as object;
        expect(compareJson(plain, to, 64)).toEqual(jsonPatch.compare(plain, next));
      }),
      { numRuns: 300 },
    );
  });

  test.for<[string, object]>([
    ["a date", { a: new Date(0) }],
    ["a hole", { list: [1, undefined] }],
    ["a function", { a: () => 1 }],
    ["a word of its own", { a: 1, toJSON: () => 2 }],
    ["a name that is a prototype", JSON.parse('{"__proto__":{"x":1}}') as object],
  ])("leaves %s to JSON", ([, to]) => {
    expect(compareJson({ a: 1, list: [1, 2] }, to, 64)).toBeUndefined();
  });

  test("takes a number that is none as null", () => {
    expect(compareJson({ a: null, b: 1 }, { a: Number.NaN, b: Infinity }, 64)).toEqual([
      replace("/b", null),
    ]);
  });

  test("goes no deeper than it may", () => {
    const circle: Record<string, unknown> = {};
    circle.a = circle;
    const deep = JSON.parse(`${'{"a":'.repeat(80)}1${"}".repeat(80)}`) as object;
    expect(compareJson(deep, circle, 64)).toBeUndefined();
    expect(compareJson(deep, structuredClone(deep), Infinity)).toEqual([]);
  });
});
