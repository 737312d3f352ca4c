import { isAgentError } from "@holodeck/agui-core";
import type {
  Lease,
  LogEntry,
  Message,
  RunRecord,
  Session,
  SessionStore,
} from "@holodeck/agui-core";
import { testRunLog, testSessionStore } from "@holodeck/agui-testing/vitest";
import { beforeEach, describe, expect, test } from "vitest";
import { estimateTokens, memorySessions } from "../src/index.ts";
import { manualClock } from "./_clock.ts";
import { isLost } from "./_is-lost.ts";

// What takes two processes is skipped: this memory has one.
testSessionStore("memory", memorySessions);
testRunLog("memory", memorySessions);

const minute = 60_000;
const key = { principal: "ann", threadId: "t1" };
const runKey = { ...key, runId: "r1" };
let clock = manualClock();
let store: SessionStore;

beforeEach(() => {
  clock = manualClock();
  store = memorySessions({ clock });
});

const create = (threadId = "t1"): Session =>
  store.create({ principal: "ann", threadId }, { agentId: "a" }) as Session;
const codeOf = (work: () => unknown): string | undefined => {
  try {
    work();
  } catch (error) {
    if (isAgentError(error)) return error.code;
    throw error;
  }
  return undefined;
};
const threads = async (): Promise<string[]> => {
  const { items } = await store.list({ principal: "ann", limit: 100 });
  return items.map(({ threadId }) => threadId);
};
const entry = (offset: number, event: object): LogEntry =>
  ({ from: offset, to: offset, at: 0, event }) as LogEntry;
const delta = (offset: number, text: string, id = "m"): LogEntry =>
  entry(offset, { type: "TEXT_MESSAGE_CONTENT", messageId: id, delta: text });
const open = (runId = "r1", threadId = "t1"): Lease =>
  store.runs.open({ ...key, threadId, runId }, { agentId: "a" }) as Lease;
const close = (lease: Lease, offset = 1): void =>
  void store.runs.close(lease, entry(offset, { type: "RUN_FINISHED" }), "finished");
const read = (after: number): readonly LogEntry[] =>
  store.runs.read(runKey, after) as readonly LogEntry[];

describe("memorySessions", () => {
  test("starts no timer before it is used", () => {
    expect(clock.timers).toBe(0);
    create();
    expect(clock.timers).toBe(1);
  });

  test("takes a session as absent 30 minutes after its last use, to the millisecond", () => {
    create();
    clock.advance(30 * minute - 1);
    expect(store.get(key)).toBeDefined();
    clock.advance(1);
    expect(store.get(key)).toBeUndefined();
  });

  test("sweeps by itself, and stops when nothing is left", async () => {
    create("t1");
    create("t2");
    clock.advance(29 * minute);
    create("t3");
    clock.advance(2 * minute);
    expect(store.cleanupExpired()).toBe(0);
    expect(await threads()).toEqual(["t3"]);
    clock.advance(30 * minute);
    expect(clock.timers).toBe(0);
  });

  test("ends its timers and forgets everything when it is closed", () => {
    create();
    const lease = open();
    close(open("r2", "t2"));
    void store.close();
    expect(clock.timers).toBe(0);
    expect(store.get(key)).toBeUndefined();
    expect(isLost(lease)).toBe(true);
  });

  test("reports when to come back when it is full", () => {
    store = memorySessions({ clock, maxSessions: 1 });
    create("t1");
    expect(() => create("t2")).toThrow(
      expect.objectContaining({ code: "capacity-exceeded", status: 429, retryAfter: 5 }),
    );
  });

  test("refuses a cursor that it cannot have given", () => {
    const list = (cursor: string): unknown => store.list({ principal: "ann", limit: 1, cursor });
    for (const cursor of ["", "x", "1:", ":t1", "t1:1"]) {
      expect(codeOf(() => list(cursor))).toBe("invalid-request");
    }
  });

  test("forgets full buckets once it has many", () => {
    const rate = { tokens: 1, perMs: 1_000 };
    expect(store.take("first", 1, rate)).toBe(0);
    for (let index = 0; index < 20_000; index++) {
      void store.take(`b${index}`, 1, rate);
      if (index % 100 === 0) clock.advance(100);
    }
    expect(store.take("first", 1, rate)).toBe(0);
    expect(store.take("first", 1, rate)).toBe(1_000);
  });
});

describe('memorySessions with evict: "lru"', () => {
  beforeEach(() => {
    store = memorySessions({ clock, maxSessions: 3, evict: "lru" });
    for (const threadId of ["t1", "t2", "t3"]) {
      create(threadId);
      clock.advance(1);
    }
  });

  test("makes room by removing what was not used for longest", async () => {
    void store.touch({ ...key, threadId: "t1" });
    clock.advance(1);
    void store.update({ ...key, threadId: "t2" }, { state: 1 });
    clock.advance(1);
    create("t4");
    expect(await threads()).toEqual(["t4", "t2", "t1"]);
  });

  test("removes the logs of what it removes", () => {
    close(open("r1", "t1"));
    create("t4");
    expect(store.runs.find("ann", "r1")).toBeUndefined();
  });

  test("never removes a session with a run in flight", async () => {
    const leases = [open("r1", "t1"), open("r2", "t2")];
    create("t4");
    expect(await threads()).toEqual(["t4", "t2", "t1"]);
    leases.push(open("r4", "t4"));
    expect(codeOf(() => create("t5"))).toBe("capacity-exceeded");
    expect(leases.some(isLost)).toBe(false);
    close(leases[1]!);
    clock.advance(1);
    create("t5");
    expect(await threads()).toEqual(["t5", "t4", "t1"]);
  });
});

describe("token counts", () => {
  const user = (id: string, content: string): Message => ({ id, role: "user", content });

  test("are a quarter of the characters of all messages, rounded down", () => {
    expect(estimateTokens([])).toBe(0);
    expect(estimateTokens([user("1", "abc")])).toBe(0);
    expect(estimateTokens([user("1", "abc"), user("2", "abcdef")])).toBe(2);
    expect(estimateTokens([user("1", "abc"), user("2", "abcdef")], 3)).toBe(3);
  });

  test("may be counted by a tokenizer of one's own", () => {
    const words = ({ content }: Message): number => (content as string).split(" ").length;
    store = memorySessions({ clock, maxTokens: 3, estimateTokens: words });
    create();
    void store.update(key, { append: [user("1", "one two"), user("2", "three four five")] });
    expect((store.get(key) as Session).messages).toEqual([user("2", "three four five")]);
  });
});

describe("the run log in memory", () => {
  test("has stored what it was given when append returns", () => {
    const lease = open();
    expect(store.runs.append(lease, [delta(1, "a")])).toBeUndefined();
    expect(read(0)).toHaveLength(1);
  });

  test("merges neighbouring deltas into one entry", () => {
    const lease = open();
    void store.runs.append(lease, [delta(1, "ab"), delta(2, ""), delta(3, "cd")]);
    void store.runs.append(lease, [delta(4, "e"), delta(5, "f", "other")]);
    expect(read(0)).toHaveLength(2);
    expect(read(1)).toMatchObject([
      { from: 2, to: 4, event: { delta: "cde" }, cuts: [0, 2, 3] },
      { from: 5, to: 5, event: { delta: "f" } },
    ]);
  });

  test("does not merge a delta that carries more than its text, or belongs to another agent", () => {
    const lease = open();
    const event = { type: "TEXT_MESSAGE_CONTENT", messageId: "m", delta: "b" };
    void store.runs.append(lease, [
      delta(1, "a"),
      entry(2, { ...event, timestamp: 1 }),
      delta(3, "c"),
      entry(4, { ...event, subagentRunId: "s" }),
      entry(5, { ...event, subagentRunId: "s" }),
    ]);
    expect(read(0).map(({ event: one }) => one.delta)).toEqual(["a", "b", "c", "bb"]);
  });

  test.for(["rawEvent", "metadata"])("counts what a delta carries as %s", (name) => {
    store = memorySessions({ clock, runLogBytes: 100_000 });
    const lease = open();
    const more = { [name]: { text: "x".repeat(10_000) } };
    for (let offset = 1; offset <= 50; offset++) {
      const event = { type: "TEXT_MESSAGE_CONTENT", messageId: "m", delta: "a", ...more };
      void store.runs.append(lease, [entry(offset, event)]);
    }
    const { first, last } = store.runs.find("ann", "r1") as RunRecord;
    expect(last).toBe(50);
    expect(first).toBeGreaterThan(40);
  });

  test("throws out the oldest finished logs past the bound of all, never a running one", () => {
    store = memorySessions({ clock, logBytes: 3_000 });
    const fill = (lease: Lease): void =>
      void store.runs.append(lease, [
        entry(1, { type: "CUSTOM", name: "n", value: "x".repeat(400) }),
      ]);
    fill(open("running", "t2"));
    for (const runId of ["a", "b", "c"]) {
      const lease = open(runId);
      fill(lease);
      close(lease, 2);
    }
    expect(store.runs.find("ann", "a")).toBeUndefined();
    expect(store.runs.find("ann", "c")).toBeDefined();
    expect(store.runs.find("ann", "running")).toBeDefined();
  });
});
