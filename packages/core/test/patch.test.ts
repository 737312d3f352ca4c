import type { JsonPatchOperation } from "@ag-ui/core";
import * as fc from "fast-check";
import jsonPatch from "fast-json-patch";
import { describe, expect, test } from "vitest";
import { applyPatch, PatchError } from "../src/index.ts";

type Case = [name: string, document: unknown, operations: unknown, result?: unknown];

const apply = (document: unknown, operations: unknown): unknown =>
  applyPatch(document, operations as JsonPatchOperation[]);

function failure(document: unknown, operations: unknown): unknown {
  try {
    apply(document, operations);
  } catch (error) {
    return error;
  }
  return undefined;
}

const times = (length: number, operation: object): object[] =>
  Array.from({ length }, () => operation);

const nested = (depth: number): unknown => {
  let value: unknown = 1;
  for (let i = 0; i < depth; i++) value = { a: value };
  return value;
};

describe("applyPatch", () => {
  test.for<Case>([
    ["adds a member", { a: 1 }, [{ op: "add", path: "/b", value: 2 }], { a: 1, b: 2 }],
    ["adds an element", [1, 3], [{ op: "add", path: "/1", value: 2 }], [1, 2, 3]],
    ["adds behind the last element", [1], [{ op: "add", path: "/-", value: 2 }], [1, 2]],
    ["adds at the length", [1], [{ op: "add", path: "/1", value: 2 }], [1, 2]],
    ["replaces what add finds", { a: 1 }, [{ op: "add", path: "/a", value: null }], { a: null }],
    ["replaces the whole", { a: 1 }, [{ op: "replace", path: "", value: [1] }], [1]],
    ["removes a member", { a: 1, b: 2 }, [{ op: "remove", path: "/a" }], { b: 2 }],
    ["removes an element", [1, 2, 3], [{ op: "remove", path: "/1" }], [1, 3]],
    ["removes the whole", { a: 1 }, [{ op: "remove", path: "" }], null],
    ["replaces an element", [1, 2], [{ op: "replace", path: "/1", value: 9 }], [1, 9]],
    ["moves", { a: { x: 1 } }, [{ op: "move", from: "/a/x", path: "/b" }], { a: {}, b: 1 }],
    ["moves within a list", [1, 2, 3], [{ op: "move", from: "/0", path: "/2" }], [2, 3, 1]],
    ["moves to itself", { a: 1 }, [{ op: "move", from: "/a", path: "/a" }], { a: 1 }],
    [
      "moves next to a name it begins with",
      { a: 1 },
      [{ op: "move", from: "/a", path: "/ab" }],
      { ab: 1 },
    ],
    ["copies", { a: [1] }, [{ op: "copy", from: "/a", path: "/b" }], { a: [1], b: [1] }],
    [
      "tests deeply, whatever the order of members",
      { a: { x: [1, null], y: "" } },
      [{ op: "test", path: "/a", value: { y: "", x: [1, null] } }],
      { a: { x: [1, null], y: "" } },
    ],
    ["reads ~1 and ~0", { "a/b~1": 1 }, [{ op: "remove", path: "/a~1b~01" }], {}],
    ["knows the empty name", { "": 1 }, [{ op: "replace", path: "/", value: 2 }], { "": 2 }],
    ["ignores further members", {}, [{ op: "add", path: "/a", value: 1, note: "x" }], { a: 1 }],
    ["has names that objects inherit", {}, [{ op: "add", path: "/toString", value: 1 }], {}],
    ["does nothing for no operations", { a: 1 }, [], { a: 1 }],
  ])("%s", ([name, document, operations, result]) => {
    const before = JSON.stringify(document);
    const after = apply(document, operations);
    if (name.startsWith("has names")) expect(Object.keys(after as object)).toEqual(["toString"]);
    else expect(after).toEqual(result);
    expect(JSON.stringify(document)).toBe(before);
  });

  test.for<Case>([
    ["a write to __proto__", {}, [{ op: "add", path: "/__proto__/polluted", value: true }]],
    ["__proto__ as a name", {}, [{ op: "add", path: "/__proto__", value: { polluted: true } }]],
    ["a read of __proto__", {}, [{ op: "copy", from: "/__proto__", path: "/a" }]],
    [
      "__proto__ as an own member",
      JSON.parse('{"__proto__":{"a":1}}'),
      [{ op: "remove", path: "/__proto__/a" }],
    ],
    [
      "__proto__ inside a value",
      {},
      [{ op: "add", path: "/a", value: JSON.parse('[{"__proto__":{"polluted":true}}]') }],
    ],
    ["constructor", {}, [{ op: "add", path: "/constructor/prototype/polluted", value: true }]],
    [
      "constructor/prototype as own members",
      { constructor: { prototype: {} } },
      [{ op: "add", path: "/constructor/prototype/polluted", value: true }],
    ],
    ["an inherited function", {}, [{ op: "add", path: "/toString/polluted", value: true }]],
    ["replacing what is inherited", {}, [{ op: "replace", path: "/toString", value: 1 }]],
    ["removing what is inherited", {}, [{ op: "remove", path: "/hasOwnProperty" }]],
    ["reading what is inherited", {}, [{ op: "copy", from: "/valueOf", path: "/a" }]],
    [
      "the length of a list",
      { list: [] },
      [{ op: "replace", path: "/list/length", value: 4294967295 }],
    ],
    ["a method of a list", { list: [] }, [{ op: "add", path: "/list/push", value: 1 }]],
    ["a far index", { list: [] }, [{ op: "add", path: "/list/1000000000", value: 1 }]],
    ["an index beyond the end", [1], [{ op: "add", path: "/2", value: 1 }]],
    ["a leading zero", [1, 2], [{ op: "remove", path: "/01" }]],
    ["a negative index", [1], [{ op: "remove", path: "/-1" }]],
    ["an index with an exponent", [1, 2], [{ op: "replace", path: "/1e0", value: 1 }]],
    ["removing -", [1], [{ op: "remove", path: "/-" }]],
    ["replacing -", [1], [{ op: "replace", path: "/-", value: 1 }]],
    ["testing -", [1], [{ op: "test", path: "/-", value: 1 }]],
    ["going through -", [{}], [{ op: "add", path: "/-/a", value: 1 }]],
    ["a character of a string", { a: "text" }, [{ op: "replace", path: "/a/0", value: "T" }]],
    ["a member of null", { a: null }, [{ op: "add", path: "/a/b", value: 1 }]],
    ["a missing parent", {}, [{ op: "add", path: "/a/b", value: 1 }]],
    ["a missing target of replace", {}, [{ op: "replace", path: "/a", value: 1 }]],
    ["a missing target of remove", {}, [{ op: "remove", path: "/a" }]],
    ["a missing source", {}, [{ op: "move", from: "/a", path: "/b" }]],
    ["a test of another value", { a: 1 }, [{ op: "test", path: "/a", value: "1" }]],
    ["a test of another length", { a: [1] }, [{ op: "test", path: "/a", value: [1, 2] }]],
    ["a test of a list as an object", { a: [1] }, [{ op: "test", path: "/a", value: { 0: 1 } }]],
    ["a test of an object as a list", { a: {} }, [{ op: "test", path: "/a", value: [] }]],
    ["a move into itself", { a: { b: {} } }, [{ op: "move", from: "/a", path: "/a/b/c" }]],
    ["a move of the whole", { a: {} }, [{ op: "move", from: "", path: "/a" }]],
    ["no slash", { a: 1 }, [{ op: "remove", path: "a" }]],
    ["a wrong escape", { "~2": 1 }, [{ op: "remove", path: "/~2" }]],
    ["a path that is not a string", { a: 1 }, [{ op: "remove", path: ["a"] }]],
    ["no path", { a: 1 }, [{ op: "remove" }]],
    ["no value", {}, [{ op: "add", path: "/a" }]],
    ["an undefined value", {}, [{ op: "add", path: "/a", value: undefined }]],
    ["no source", { a: 1 }, [{ op: "copy", path: "/b" }]],
    ["an unknown operation", {}, [{ op: "merge", path: "", value: 1 }]],
    ["an operation that is null", {}, [null]],
    ["a patch that is not a list", {}, { op: "add", path: "/a", value: 1 }],
    ["too many operations", {}, times(10_001, { op: "test", path: "", value: {} })],
    ["a path that is too deep", nested(100), [{ op: "remove", path: "/a".repeat(65) }]],
    ["a value that is too deep", {}, [{ op: "add", path: "/b", value: nested(64) }]],
    ["a doubling by copies", { a: [1, 2] }, times(40, { op: "copy", from: "/a", path: "/a/-" })],
    [
      "a long text copied often",
      { a: "x".repeat(1_000_000), list: [] },
      times(100, { op: "copy", from: "/a", path: "/list/-" }),
    ],
    [
      "depth gained by moves",
      { a: {} },
      Array.from({ length: 200 }, () => [
        { op: "add", path: "/b", value: {} },
        { op: "move", from: "/a", path: "/b/a" },
        { op: "move", from: "/b", path: "/a" },
      ]).flat(),
    ],
  ])("refuses %s", ([, document, operations]) => {
    const before = JSON.stringify(document);
    expect(failure(document, operations)).toBeInstanceOf(PatchError);
    expect(JSON.stringify(document)).toBe(before);
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
    expect((Object.prototype.toString as { polluted?: unknown }).polluted).toBeUndefined();
  });

  test("names the operation that failed", () => {
    const operations = [
      { op: "add", path: "/a", value: 1 },
      { op: "remove", path: "/b/c" },
    ];
    expect(failure({}, operations)).toMatchObject({ index: 1, operation: operations[1] });
    expect(String(failure({}, operations))).toContain("(remove /b/c)");
  });

  test("leaves the document alone when a later operation fails", () => {
    const document = { list: [{ n: 1 }], other: {} };
    const operations = [
      { op: "add", path: "/list/0/n", value: 2 },
      { op: "remove", path: "/list/7" },
    ];
    expect(failure(document, operations)).toBeInstanceOf(PatchError);
    expect(document).toEqual({ list: [{ n: 1 }], other: {} });
  });

  test("shares what did not change and copies what did", () => {
    const document = { left: { deep: [1] }, right: { deep: [2] } };
    const after = apply(document, [
      { op: "add", path: "/left/deep/-", value: 3 },
    ]) as typeof document;
    expect(after.right).toBe(document.right);
    expect(after.left).not.toBe(document.left);
    expect(document.left.deep).toEqual([1]);
  });

  test("keeps copies apart from each other and from the patch", () => {
    const value = { n: 1 };
    const after = apply({ a: {} }, [
      { op: "add", path: "/a/x", value },
      { op: "add", path: "/a/y", value: 1 },
      { op: "copy", from: "/a", path: "/b" },
      { op: "replace", path: "/a/x/n", value: 2 },
      { op: "remove", path: "/b/y" },
    ]);
    expect(after).toEqual({ a: { x: { n: 2 }, y: 1 }, b: { x: { n: 1 } } });
    expect(value).toEqual({ n: 1 });
  });

  const key = fc.constantFrom("a", "b", "c/d", "~", "", "0", "1");
  const { json } = fc.letrec((tie) => ({
    json: fc.oneof(
      { maxDepth: 3, withCrossShrink: true },
      fc.constantFrom(null, true, 0, 1, "", "text"),
      fc.array(tie("json"), { maxLength: 4 }),
      fc.dictionary(key, tie("json"), { maxKeys: 4 }),
    ),
  }));

  test("goes from any document to any other by the patch that fast-json-patch finds", () => {
    const documents = fc.oneof(
      fc.tuple(fc.dictionary(key, json), fc.dictionary(key, json)),
      fc.tuple(fc.array(json), fc.array(json)),
    );
    fc.assert(
      fc.property(documents, ([from, to]) => {
        const before = JSON.stringify(from);
        const operations = jsonPatch.compare(from, to);
        const theirs = jsonPatch.applyPatch(from, operations, true, false).newDocument;
        const ours = apply(from, operations);
        expect(ours).toEqual(theirs);
        expect(ours).toEqual(to);
        expect(JSON.stringify(from)).toBe(before);
      }),
      { numRuns: 500 },
    );
  });

  test("applies nothing that the client's fast-json-patch would read differently", () => {
    const path = fc
      .array(fc.constantFrom("a", "b", "c~1d", "~0", "0", "1", "2", "-"), { maxLength: 3 })
      .map((keys) => keys.map((part) => `/${part}`).join(""));
    const operation = fc.oneof(
      fc.record({ op: fc.constantFrom("add", "replace", "test"), path, value: json }),
      fc.record({ op: fc.constant("remove"), path }),
      fc.record({ op: fc.constantFrom("move", "copy"), path, from: path }),
    );
    let applied = 0;
    fc.assert(
      fc.property(json, fc.array(operation, { minLength: 1, maxLength: 4 }), (document, patch) => {
        if (failure(document, patch)) return;
        applied++;
        const copy = structuredClone(patch) as Parameters<typeof jsonPatch.applyPatch>[1];
        // Its validation looks up the target of a move before the source is gone; RFC 6902, after.
        const validate = !patch.some(({ op }) => op === "move");
        const theirs = jsonPatch.applyPatch(document, copy, validate, false).newDocument;
        expect(apply(document, patch)).toEqual(theirs);
      }),
      { numRuns: 5_000 },
    );
    expect(applied).toBeGreaterThan(100);
  });
});
