import { EventType } from "@ag-ui/core";
import type { JsonPatch } from "@ag-ui/core";
import * as fc from "fast-check";
import jsonPatch from "fast-json-patch";
import { describe, expect, test } from "vitest";
import { AgentError } from "../src/index.ts";
import { createRunState } from "../src/agent/state-writer.ts";
import { createStateTracker } from "../src/guard/state-tracker.ts";
import type { StateTracker } from "../src/guard/state-tracker.ts";
import type { RunState } from "../src/contract/context.ts";

interface StateEvent {
  type: EventType;
  snapshot?: unknown;
  delta?: JsonPatch;
}

interface Bench {
  state: RunState;
  tracker: StateTracker;
  events: StateEvent[];
  /** The state of a client that reads the stream. */
  client: () => unknown;
}

function bench(initial?: unknown): Bench {
  const tracker = createStateTracker(initial);
  const events: StateEvent[] = [];
  // What arrives is serialised at once, as on the wire.
  const wire: string[] = [];
  const push = (value: unknown): void => {
    const event = value as StateEvent;
    events.push(event);
    wire.push(JSON.stringify(event));
    if (event.delta) expect(tracker.delta(event.delta)).toBe(true);
    else tracker.snapshot(event.snapshot);
  };
  const client = (): unknown =>
    wire.reduce<unknown>((document, text) => {
      const event = JSON.parse(text) as StateEvent;
      if (!event.delta) return event.snapshot;
      return jsonPatch.applyPatch(document, event.delta as never, true, false).newDocument;
    }, initial);
  return { state: createRunState({ tracker, push }), tracker, events, client };
}

const snapshot = (value: unknown): StateEvent => ({
  type: EventType.STATE_SNAPSHOT,
  snapshot: value,
});
const delta = (...operations: JsonPatch): StateEvent => ({
  type: EventType.STATE_DELTA,
  delta: operations,
});
const big = { text: "x".repeat(500), count: 1, list: [1, 2, 3] };

function deep(leaf: string): unknown {
  let value: unknown = leaf;
  for (let i = 0; i < 80; i++) value = { a: value, pad: "x".repeat(20) };
  return value;
}

describe("the state tracker", () => {
  test("starts with what the client sent, and with an empty object without it", () => {
    expect(createStateTracker({ a: 1 }).value).toEqual({ a: 1 });
    expect(createStateTracker(null).value).toBeNull();
    expect(createStateTracker(undefined).value).toEqual({});
  });

  test("knows whether the client has been given a snapshot", () => {
    const tracker = createStateTracker({});
    expect(tracker.delta([{ op: "add", path: "/a", value: 1 }])).toBe(true);
    expect(tracker.synced).toBe(false);
    tracker.snapshot({ b: 1 });
    expect(tracker.synced).toBe(true);
    expect(tracker.value).toEqual({ b: 1 });
  });

  test("keeps its value when a delta does not apply", () => {
    const tracker = createStateTracker({ a: 1 });
    const operations: JsonPatch = [
      { op: "replace", path: "/a", value: 2 },
      { op: "remove", path: "/b" },
    ];
    expect(tracker.delta(operations)).toBe(false);
    expect(tracker.value).toEqual({ a: 1 });
  });
});

describe("context.state", () => {
  test("sends a snapshot first and then deltas", () => {
    const { state, events } = bench({ old: true });
    void state.set(big);
    void state.set({ ...big, count: 2 });
    expect(events).toEqual([snapshot(big), delta({ op: "replace", path: "/count", value: 2 })]);
    expect(state.get()).toEqual({ ...big, count: 2 });
  });

  test("sends nothing when nothing changed", () => {
    const { state, events } = bench();
    void state.set(big);
    void state.set(structuredClone(big));
    void state.update((draft: typeof big) => {
      draft.count = 7;
      draft.count = 1;
      draft.list = [1, 2, 3];
    });
    void state.update(() => {});
    void state.patch([]);
    void state.patch([{ op: "test", path: "/count", value: 1 }]);
    expect(events).toHaveLength(1);
  });

  test("sends a snapshot when the patch would be larger than the state", () => {
    const { state, events } = bench();
    void state.set({ list: [1, 2, 3, 4, 5, 6] });
    void state.set({ list: [2, 3, 4, 5, 6] });
    void state.update((draft: { list: number[] }) => {
      draft.list.shift();
    });
    expect(events).toEqual([
      snapshot({ list: [1, 2, 3, 4, 5, 6] }),
      snapshot({ list: [2, 3, 4, 5, 6] }),
      snapshot({ list: [3, 4, 5, 6] }),
    ]);
  });

  test.for<[string, unknown, unknown]>([
    ["a list", { a: 1 }, [1, 2]],
    ["an empty list", {}, []],
    ["null", { a: 1 }, null],
    ["a text", { a: 1 }, "done"],
    ["an object again", "done", { a: 1 }],
  ])("sends a snapshot when the whole becomes %s", ([, from, to]) => {
    const { state, events } = bench();
    void state.set(from);
    void state.set(to);
    void state.set(to);
    expect(events).toEqual([snapshot(from), snapshot(to)]);
  });

  test("takes undefined as null and leaves out what JSON cannot represent", () => {
    const { state, events } = bench();
    void state.set({ at: new Date(0), gone: undefined, not: Number.NaN });
    void state.set(undefined);
    expect(events).toEqual([
      snapshot({ at: "1970-01-01T00:00:00.000Z", not: null }),
      snapshot(null),
    ]);
  });

  test("keeps a state apart from the object it was set with", () => {
    const { state, events } = bench();
    const mine = { list: [1], text: "x".repeat(100) };
    void state.set(mine);
    mine.list.push(2);
    expect(state.get()).toMatchObject({ list: [1] });
    void state.set(mine);
    mine.list.push(3);
    expect(events.at(-1)).toEqual(delta({ op: "add", path: "/list/1", value: 2 }));
    expect(state.get()).toMatchObject({ list: [1, 2] });
  });

  test("keeps a state apart from the objects put into a draft or a patch", () => {
    const { state, events, client } = bench();
    void state.set({ ...big, items: [] as unknown[] });
    const item = { done: false };
    void state.update((draft: { items: unknown[] }) => {
      draft.items.push(item);
    });
    void state.patch([{ op: "add", path: "/items/-", value: item }]);
    item.done = true;
    expect(state.get()).toMatchObject({ items: [{ done: false }, { done: false }] });
    expect(JSON.stringify(events)).not.toContain("true");
    expect(client()).toEqual(state.get());
  });

  test("sends what an author changed in the object that get returned", () => {
    const { state, events } = bench();
    void state.set(big);
    const mine = state.get<typeof big>();
    mine.count++;
    void state.set(mine);
    expect(events.at(-1)).toEqual(delta({ op: "replace", path: "/count", value: 2 }));
  });

  test("turns changes of a draft into the operations of RFC 6902", () => {
    const { state, events } = bench();
    void state.set({ ...big, "a/b": { "~": 1 } });
    void state.update((draft: typeof big & { "a/b": { "~": number } }) => {
      draft.count++;
      draft.list.length = 2;
      draft["a/b"]["~"] = 2;
    });
    const operations = events.at(-1)?.delta ?? [];
    expect(operations).toHaveLength(3);
    expect(operations).toEqual(
      expect.arrayContaining([
        { op: "replace", path: "/count", value: 2 },
        { op: "remove", path: "/list/2" },
        { op: "replace", path: "/a~1b/~0", value: 2 },
      ]),
    );
  });

  test.for<[string, unknown]>([
    ["nothing", undefined],
    ["null", null],
    ["a text", "text"],
  ])("begins a draft with an empty object when the state is %s", ([, initial]) => {
    const { state, events } = bench(initial);
    if (initial !== undefined) void state.resync();
    void state.update((draft) => {
      draft.a = 1;
    });
    expect(events.at(-1)).toEqual(snapshot({ a: 1 }));
  });

  test("copes with holes and undefined in a draft", () => {
    const { state, client } = bench();
    void state.set({ ...big, extra: 1 });
    void state.update((draft: { list: unknown[]; extra?: number; other?: unknown }) => {
      draft.list[5] = "far";
      draft.extra = undefined;
      draft.other = undefined;
    });
    expect(client()).toEqual({ ...big, list: [1, 2, 3, null, null, "far"] });
    expect(state.get()).toEqual(client());
  });

  test("leaves the state alone when the change of a draft throws", () => {
    const { state, events } = bench();
    void state.set(big);
    const fail = (): void =>
      void state.update((draft: typeof big) => {
        draft.count = 9;
        throw new Error("no");
      });
    expect(fail).toThrow("no");
    expect(state.get()).toEqual(big);
    expect(events).toHaveLength(1);
  });

  test("refuses an asynchronous change of a draft", () => {
    const { state, events } = bench(big);
    const update = (): void =>
      void state.update(async (draft: typeof big) => {
        await Promise.resolve();
        draft.count = 9;
      });
    expect(update).toThrow("synchronous");
    expect(events).toEqual([]);
  });

  test("sends a patch as it is, once the client has a snapshot", () => {
    const { state, events } = bench({ a: 1 });
    void state.patch([{ op: "add", path: "/b", value: 2 }]);
    void state.patch([{ op: "move", from: "/b", path: "/c" }]);
    expect(events).toEqual([
      snapshot({ a: 1, b: 2 }),
      delta({ op: "move", from: "/b", path: "/c" }),
    ]);
    expect(state.get()).toEqual({ a: 1, c: 2 });
  });

  test("answers a patch that does not apply with a snapshot and an error", () => {
    const { state, events } = bench({ a: 1 });
    const patch = (): void =>
      void state.patch([
        { op: "replace", path: "/a", value: 2 },
        { op: "remove", path: "/b" },
      ]);
    expect(patch).toThrow(AgentError);
    expect(patch).toThrow(/does not apply.*remove \/b/);
    expect(events).toEqual([snapshot({ a: 1 }), snapshot({ a: 1 })]);
  });

  test.for<[string, (state: RunState) => void | Promise<void>]>([
    ["a name that is a prototype", (state) => state.set(JSON.parse('{"__proto__":{"x":1}}'))],
    [
      "the same in a draft",
      (state) =>
        state.update((draft) => {
          draft.a = JSON.parse('{"__proto__":{"x":1}}');
        }),
    ],
  ])("drops %s", ([, change]) => {
    const { state, events } = bench();
    void state.set(big);
    void change(state);
    expect(JSON.stringify(events)).not.toContain("__proto__");
    expect(state.get<{ x?: number }>().x).toBeUndefined();
  });

  test("sends a snapshot when a change lies deeper than a patch may go", () => {
    const { state, events, client } = bench();
    void state.set(deep("one"));
    void state.set(deep("two"));
    expect(events.map(({ type }) => type)).toEqual([
      EventType.STATE_SNAPSHOT,
      EventType.STATE_SNAPSHOT,
    ]);
    expect(client()).toEqual(deep("two"));
  });

  test("sends a snapshot on purpose", () => {
    const { state, events } = bench({ a: 1 });
    void state.resync();
    void state.resync();
    expect(events).toEqual([snapshot({ a: 1 }), snapshot({ a: 1 })]);
  });

  test("hands on the promise of a client that is behind", async () => {
    const tracker = createStateTracker({});
    const pace = Promise.resolve();
    const state = createRunState({ tracker, push: () => pace });
    expect(state.set({ a: 1 })).toBe(pace);
    expect(
      state.update((draft) => {
        draft.a = 2;
      }),
    ).toBe(pace);
    expect(state.resync()).toBe(pace);
    await pace;
  });

  test("keeps a client equal to the author through any changes", () => {
    // A member of this name never gets past `set`; the input of a run is cleaned elsewhere.
    const json = fc
      .jsonValue({ maxDepth: 3 })
      .filter((value) => !JSON.stringify(value).includes("__proto__"));
    const key = fc.constantFrom("a", "b", "c/~");
    const change = fc.oneof(
      fc.record({ kind: fc.constant("set"), value: fc.oneof(json, fc.dictionary(key, json)) }),
      fc.record({ kind: fc.constantFrom("assign", "push"), key, value: json }),
      fc.record({ kind: fc.constantFrom("delete", "shift", "pop", "reverse"), key }),
      fc.record({ kind: fc.constant("patch"), key, value: json }),
    );
    fc.assert(
      fc.property(json, fc.array(change, { maxLength: 12 }), (initial, changes) => {
        const { state, tracker, client } = bench(JSON.parse(JSON.stringify(initial)));
        for (const { kind, key = "a", value } of changes as {
          kind: string;
          key?: string;
          value?: unknown;
        }[]) {
          if (kind === "set") void state.set(value);
          else if (kind === "patch") {
            try {
              void state.patch([{ op: "add", path: `/${key}`, value }]);
            } catch (error) {
              expect(error).toBeInstanceOf(AgentError);
            }
          } else {
            void state.update((draft: Record<string, unknown>) => {
              const list = draft[key];
              if (Array.isArray(draft)) draft.unshift(value ?? kind);
              else if (kind === "assign") draft[key] = value;
              else if (kind === "delete") delete draft[key];
              else if (kind === "push" && Array.isArray(list)) list.push(value);
              else if (kind === "shift" && Array.isArray(list)) list.shift();
              else if (kind === "pop" && Array.isArray(list)) list.pop();
              else if (kind === "reverse" && Array.isArray(list)) list.reverse();
            });
          }
          expect(client()).toEqual(tracker.value);
          expect(state.get()).toEqual(tracker.value);
        }
      }),
      { numRuns: 500 },
    );
  });
});
