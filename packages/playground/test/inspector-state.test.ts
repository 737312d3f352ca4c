import type { JsonPatchOperation } from "@ag-ui/core";
import fc from "fast-check";
import jsonPatch from "fast-json-patch";
import { describe, expect, test } from "vitest";
import { toEntries } from "../page/inspector/events/entries.ts";
import {
  changesOfPatch,
  childPointer,
  diffJson,
  keysOf,
  valueAt,
} from "../page/inspector/state/changes.ts";
import type { Change } from "../page/inspector/state/changes.ts";
import { createStateHistory } from "../page/inspector/state/history.ts";
import { toTreeRows } from "../page/inspector/state/tree.ts";
import { frame, text } from "./_frames.ts";

const snapshot = (snapshot: unknown) => ({ type: "STATE_SNAPSHOT", snapshot });
const delta = (...delta: JsonPatchOperation[]) => ({ type: "STATE_DELTA", delta });

// Few keys, so that documents have something in common; the ones that pointers escape among them.
const key = fc.constantFrom("a", "b", "a/b", "~", "0", "");
const document = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 3 },
    fc.constantFrom(null, true, 0, 1, "x", "y"),
    fc.array(tie("value"), { maxLength: 4 }),
    fc.dictionary(key, tie("value"), { maxKeys: 4, noNullPrototype: true }),
  ),
})).value as fc.Arbitrary<unknown>;

describe("the state of a run", () => {
  test("is what fast-json-patch makes of the same events", () => {
    fc.assert(
      fc.property(fc.array(document, { minLength: 2, maxLength: 5 }), (documents) => {
        const [initial, ...later] = documents;
        const patches = documents
          .slice(1)
          .map((next, index) =>
            wrap(jsonPatch.compare({ at: documents[index] }, { at: next }) as JsonPatchOperation[]),
          );
        const entries = toEntries(
          patches.map((patch, index) => frame(index, index, delta(...patch))),
        );
        const steps = createStateHistory(initial)(entries);
        expect(steps.map(({ value }) => value)).toEqual(later);
        let expected = structuredClone(initial);
        for (const [index, patch] of patches.entries()) {
          expected = jsonPatch.applyPatch(expected, structuredClone(patch) as any).newDocument;
          expect(steps[index]!.value).toEqual(expected);
        }
      }),
    );
  });

  test("starts with what the client sent, and shows what each event changed", () => {
    const entries = toEntries([
      frame(0, 10, delta({ op: "add", path: "/steps/-", value: "two" })),
      frame(1, 20, text("m", "in between")),
      frame(2, 30, snapshot({ steps: ["one"], done: false })),
      frame(3, 40, delta({ op: "replace", path: "/done", value: true })),
    ]);
    const steps = createStateHistory({ steps: ["one"] })(entries);
    expect(steps.map(({ value, changes }) => [value, changes])).toEqual([
      [{ steps: ["one", "two"] }, [{ kind: "added", pointer: "/steps/1" }]],
      [
        { steps: ["one"], done: false },
        [
          { kind: "removed", pointer: "/steps/1" },
          { kind: "added", pointer: "/done" },
        ],
      ],
      [{ steps: ["one"], done: true }, [{ kind: "changed", pointer: "/done" }]],
    ]);
  });

  test("shows why a patch changed nothing", () => {
    const entries = toEntries([
      frame(0, 0, delta({ op: "remove", path: "/absent" })),
      frame(1, 1, { type: "STATE_DELTA", delta: "no patch" }),
    ]);
    const [first, second] = createStateHistory({ a: 1 })(entries);
    expect(first).toMatchObject({ value: { a: 1 }, changes: [] });
    expect(first?.problem).toContain("remove /absent");
    expect(second?.problem).toBe("A patch must be an array of operations.");
  });

  test("goes on where it was when more comes, and starts again when events were dropped", () => {
    const read = createStateHistory({ n: 0 });
    const add = (n: number) => frame(n, n, delta({ op: "replace", path: "/n", value: n }));
    const one = add(1);
    const two = add(2);
    const first = read(toEntries([one]));
    const both = read(toEntries([one, two]));
    expect(both[0]).toBe(first[0]);
    expect(both.map(({ value }) => value)).toEqual([{ n: 1 }, { n: 2 }]);
    expect(read(toEntries([two])).map(({ value }) => value)).toEqual([{ n: 2 }]);
  });
});

describe("changes", () => {
  test("between two documents are all there are, and none more", () => {
    fc.assert(
      fc.property(document, document, (before, after) => {
        const changes = diffJson(before, after);
        expect(redo(before, after, changes)).toEqual(after);
        expect(diffJson(before, structuredClone(before))).toEqual([]);
        for (const { kind, pointer } of changes) {
          expect(valueAt(before, pointer).isThere).toBe(kind !== "added");
          expect(valueAt(after, pointer).isThere).toBe(kind !== "removed");
        }
      }),
    );
  });

  test("of a patch name one item of a list, though all behind it moved", () => {
    const before = { list: [1, 2, 3] };
    const patch: JsonPatchOperation[] = [{ op: "add", path: "/list/0", value: 0 }];
    expect(changesOfPatch(before, { list: [0, 1, 2, 3] }, patch)).toEqual([
      { kind: "added", pointer: "/list/0" },
    ]);
  });

  test("of a whole value put in place of another go as deep as they can", () => {
    const before = { plan: { title: "Trip", steps: [{ done: false }, { done: false }] } };
    const plan = { title: "Trip", steps: [{ done: true }, { done: false }] };
    expect(
      changesOfPatch(before, { plan }, [{ op: "replace", path: "/plan", value: plan }]),
    ).toEqual([{ kind: "changed", pointer: "/plan/steps/0/done" }]);
  });

  test("of a move are where it was and where it is", () => {
    const patch: JsonPatchOperation[] = [{ op: "move", from: "/a", path: "/b" }];
    expect(changesOfPatch({ a: 1 }, { b: 1 }, patch)).toEqual([
      { kind: "removed", pointer: "/a" },
      { kind: "added", pointer: "/b" },
    ]);
  });

  test("have pointers that lead back to their keys", () => {
    fc.assert(
      fc.property(fc.array(fc.string()), (keys) => {
        expect(keysOf(keys.reduce(childPointer, ""))).toEqual(keys);
      }),
    );
  });
});

describe("a tree", () => {
  const value = { plan: { steps: [{ title: "Pack" }] }, big: Array.from({ length: 60 }, () => 0) };
  const rows = (changes: Change[] = [], toggled: [string, boolean][] = []) =>
    toTreeRows(value, { changes, toggled: new Map(toggled) });

  test("shows two levels, and long lists closed", () => {
    expect(rows().map(({ pointer, isOpen }) => [pointer, isOpen])).toEqual([
      ["", true],
      ["/plan", true],
      ["/plan/steps", false],
      ["/big", false],
    ]);
  });

  test("opens the way to what changed, and marks it", () => {
    const changed = rows([{ kind: "changed", pointer: "/plan/steps/0/title" }]);
    expect(changed.find(({ key }) => key === "title")).toMatchObject({
      depth: 4,
      change: "changed",
      text: '"Pack"',
      kind: "string",
    });
    expect(changed.find(({ pointer }) => pointer === "/plan")).toMatchObject({ changesInside: 1 });
  });

  test("obeys who opens and closes", () => {
    expect(rows([], [["", false]])).toHaveLength(1);
    expect(rows([], [["/plan/steps", true]]).map(({ pointer }) => pointer)).toContain(
      "/plan/steps/0",
    );
    const closed = rows([{ kind: "changed", pointer: "/plan/steps/0/title" }], [["/plan", false]]);
    expect(closed.map(({ pointer }) => pointer)).not.toContain("/plan/steps");
  });

  test("counts what was removed for what held it", () => {
    expect(rows([{ kind: "removed", pointer: "/plan/note" }])[1]).toMatchObject({
      pointer: "/plan",
      changesInside: 1,
    });
  });
});

/** `compare` needs objects at the root; the patch is for what is in them. */
function wrap(patch: JsonPatchOperation[]): JsonPatchOperation[] {
  return patch.map((operation) => ({ ...operation, path: operation.path.slice("/at".length) }));
}

/** Does to one document what the changes say, with values of the other. */
function redo(before: unknown, after: unknown, changes: readonly Change[]): unknown {
  const root = { at: structuredClone(before) };
  for (const { kind, pointer } of changes) {
    const keys = ["at", ...keysOf(pointer)];
    const last = keys.pop()!;
    const holder = keys.reduce<any>((node, key) => node[key], root);
    if (kind !== "removed") holder[last] = valueAt(after, pointer).value;
    // Lists are compared place by place, so what is removed is their end.
    else if (Array.isArray(holder)) holder.length = Math.min(holder.length, Number(last));
    else delete holder[last];
  }
  return root.at;
}
