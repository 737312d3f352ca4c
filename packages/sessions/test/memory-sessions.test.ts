import { isAgentError } from "@holodeck/agui-core";
import type { Lease, LogEntry, Session, SessionStore } from "@holodeck/agui-core";
import { beforeEach, describe, expect, test } from "vitest";
import { memorySessions } from "../src/index.ts";
import { manualClock } from "./_clock.ts";

const minute = 60_000;
const key = { principal: "ann", threadId: "t1" };
let clock = manualClock();
let store: SessionStore;

beforeEach(() => {
  clock = manualClock();
  store = memorySessions({ clock, maxSessions: 3 });
});

const create = (threadId = "t1", principal = "ann"): Session =>
  store.create({ principal, threadId }, { agentId: "a" }) as Session;
const codeOf = (work: () => unknown): string | undefined => {
  try {
    work();
  } catch (error) {
    if (isAgentError(error)) return error.code;
    throw error;
  }
  return undefined;
};

describe("memorySessions", () => {
  test("starts no timer before it is used", () => {
    expect(clock.timers).toBe(0);
    create();
    expect(clock.timers).toBe(1);
  });

  test("gives back what was created, with both times and no messages", () => {
    create();
    expect(store.get(key)).toMatchObject({
      threadId: "t1",
      createdAt: 1_000_000,
      lastActivity: 1_000_000,
      messageCount: 0,
    });
  });

  test("answers nothing for an unknown id, and false when it is deleted", () => {
    expect(store.get(key)).toBeUndefined();
    expect(store.delete(key)).toBe(false);
  });

  test("forgets what was deleted", () => {
    create();
    expect(store.delete(key)).toBe(true);
    expect(store.get(key)).toBeUndefined();
  });

  test("counts messages and moves the last activity, never the creation", () => {
    create();
    clock.advance(minute);
    const messages = [
      { id: "1", role: "user" as const, content: "hi" },
      { id: "2", role: "assistant" as const, content: "hello" },
    ];
    void store.update(key, { append: messages });
    expect(store.get(key)).toMatchObject({
      createdAt: 1_000_000,
      lastActivity: 1_000_000 + minute,
      messageCount: 2,
      messages,
    });
  });

  test("takes a session as absent at the moment it expires, without waiting for the sweep", () => {
    create();
    clock.advance(30 * minute - 1);
    expect(store.get(key)).toBeDefined();
    clock.advance(1);
    expect(store.get(key)).toBeUndefined();
  });

  test("keeps a session alive by touching it", () => {
    create();
    clock.advance(29 * minute);
    void store.touch(key);
    clock.advance(29 * minute);
    expect(store.get(key)).toBeDefined();
  });

  test("counts what it cleans up, and skips a session with a run in flight", () => {
    create("t1");
    create("t2");
    void store.runs.open({ ...key, runId: "r" }, { agentId: "a" });
    clock.advance(31 * minute);
    expect(store.get({ principal: "ann", threadId: "t2" })).toBeUndefined();
    expect(store.get(key)).toBeDefined();
    expect(store.cleanupExpired()).toBe(0);
  });

  test("sweeps by itself", async () => {
    create("t1");
    create("t2");
    clock.advance(32 * minute);
    create("t3");
    const { items } = await store.list({ principal: "ann", limit: 10 });
    expect(items.map(({ threadId }) => threadId)).toEqual(["t3"]);
  });

  test("refuses one session too many with 429, and takes it once another has expired", () => {
    create("t1");
    create("t2");
    create("t3");
    expect(codeOf(() => create("t4"))).toBe("capacity-exceeded");
    clock.advance(31 * minute);
    expect(codeOf(() => create("t4"))).toBeUndefined();
  });

  test("refuses the same id twice for one principal, and keeps two principals apart", () => {
    create("t1", "ann");
    expect(codeOf(() => create("t1", "ann"))).toBeDefined();
    expect(codeOf(() => create("t1", "bob"))).toBeUndefined();
    // Joined with a colon these two would be one.
    store = memorySessions({ clock });
    create("c", "a:b");
    expect(store.get({ principal: "a", threadId: "b:c" })).toBeUndefined();
  });

  test("merges metadata by key and checks the version when asked", () => {
    create();
    void store.update(key, { metadata: { a: 1, b: 1 } });
    void store.update(key, { metadata: { b: 2 } });
    expect(store.get(key)).toMatchObject({ metadata: { a: 1, b: 2 }, version: 3 });
    expect(codeOf(() => store.update(key, {}, { ifVersion: 1 }))).toBe("thread-busy");
  });

  test("lists the newest first, page by page, one principal's only", async () => {
    create("t1");
    clock.advance(1);
    create("t2");
    create("x", "bob");
    const first = await store.list({ principal: "ann", limit: 1 });
    expect(first.items.map(({ threadId }) => threadId)).toEqual(["t2"]);
    const second = await store.list({ principal: "ann", limit: 1, cursor: first.next! });
    expect(second.items.map(({ threadId }) => threadId)).toEqual(["t1"]);
    expect(second.next).toBeUndefined();
  });

  test("shares a bucket's tokens and refills it with time", () => {
    const rate = { tokens: 2, perMs: 1_000 };
    expect([store.take("b", 1, rate), store.take("b", 1, rate)]).toEqual([0, 0]);
    expect(store.take("b", 1, rate)).toBe(500);
    clock.advance(500);
    expect(store.take("b", 1, rate)).toBe(0);
  });

  test("ends its timers and forgets everything when it is closed", () => {
    create();
    void store.close();
    expect(clock.timers).toBe(0);
    expect(store.get(key)).toBeUndefined();
  });
});

describe("the run log in memory", () => {
  const runKey = { ...key, runId: "r1" };
  const entry = (offset: number, event: object): LogEntry =>
    ({ from: offset, to: offset, at: 0, event }) as LogEntry;
  const delta = (offset: number, text: string, id = "m"): LogEntry =>
    entry(offset, { type: "TEXT_MESSAGE_CONTENT", messageId: id, delta: text });
  const open = (): Lease => store.runs.open(runKey, { agentId: "a" }) as Lease;
  const read = (after: number): readonly LogEntry[] =>
    store.runs.read(runKey, after) as readonly LogEntry[];

  test("lets one run hold a thread, and says who", () => {
    open();
    expect(store.runs.open({ ...key, runId: "r2" }, { agentId: "a" })).toMatchObject({
      busy: { runId: "r1", status: "running" },
    });
  });

  test("frees the thread at the end and keeps the log to be read", () => {
    const lease = open();
    void store.runs.append(lease, [delta(1, "a")]);
    void store.runs.close(lease, entry(2, { type: "RUN_FINISHED" }), "finished");
    expect(store.runs.active(key)).toBeUndefined();
    expect(store.runs.find("ann", "r1")).toMatchObject({ status: "finished", last: 2, format: 1 });
    expect(read(0).map(({ event }) => event.type)).toEqual([
      "TEXT_MESSAGE_CONTENT",
      "RUN_FINISHED",
    ]);
  });

  test("merges neighbouring deltas and can be read from any offset inside", () => {
    const lease = open();
    void store.runs.append(lease, [delta(1, "ab"), delta(2, ""), delta(3, "cd")]);
    void store.runs.append(lease, [delta(4, "e"), delta(5, "f", "other")]);
    expect(read(0)).toHaveLength(2);
    for (const [after, text] of ["abcde", "cde", "cde", "e"].entries()) {
      expect(read(after)[0]).toMatchObject({ from: after + 1, to: 4, event: { delta: text } });
    }
    // What was cut can be cut again.
    expect(read(1)[0]!.cuts).toEqual([0, 2, 3]);
    expect(read(4)[0]).toMatchObject({ from: 5, event: { delta: "f", messageId: "other" } });
    expect(read(5)).toEqual([]);
  });

  test("does not merge a delta that carries more than its text", () => {
    const lease = open();
    const stamped = { type: "TEXT_MESSAGE_CONTENT", messageId: "m", delta: "b", timestamp: 1 };
    void store.runs.append(lease, [delta(1, "a"), entry(2, stamped), delta(3, "c")]);
    expect(read(0).map(({ event }) => event.delta)).toEqual(["a", "b", "c"]);
  });

  test("never changes the event it was given, nor one it has handed out", () => {
    const lease = open();
    const first = delta(1, "a");
    void store.runs.append(lease, [first]);
    const held = read(0);
    void store.runs.append(lease, [delta(2, "b"), delta(3, "c")]);
    expect(first.event.delta).toBe("a");
    expect(held[0]!.event.delta).toBe("a");
  });

  test("refuses a gap, a repeat and a writer whose lease is over", () => {
    const lease = open();
    expect(codeOf(() => store.runs.append(lease, [delta(2, "x")]))).toBe("internal");
    void store.runs.append(lease, [delta(1, "x")]);
    expect(codeOf(() => store.runs.append(lease, [delta(1, "x")]))).toBe("internal");
    void store.runs.close(lease, entry(2, { type: "RUN_FINISHED" }), "finished");
    expect(codeOf(() => store.runs.append(lease, [delta(3, "x")]))).toBe("run-lost");
    open();
    expect(codeOf(() => store.runs.append(lease, [delta(1, "x")]))).toBe("run-lost");
  });

  test("trims the head past its bound, and says so to whoever asks for it", () => {
    store = memorySessions({ clock, runLogBytes: 4_000 });
    const lease = open();
    for (let offset = 1; offset <= 20; offset++) {
      void store.runs.append(lease, [
        entry(offset, { type: "CUSTOM", name: "n", value: "x".repeat(200) }),
      ]);
    }
    const { first } = store.runs.find("ann", "r1") as { first: number };
    expect(first).toBeGreaterThan(1);
    expect(codeOf(() => read(0))).toBe("replay-gone");
    expect(read(first - 1)[0]!.from).toBe(first);
    expect(read(0 + first - 1).at(-1)!.to).toBe(20);
  });

  test("trims one endless message as well, though its deltas are merged", () => {
    store = memorySessions({ clock, runLogBytes: 1_000_000 });
    const lease = open();
    for (let offset = 1; offset <= 5_000; offset++) {
      void store.runs.append(lease, [delta(offset, "x".repeat(1_000))]);
    }
    const { first, last } = store.runs.find("ann", "r1") as { first: number; last: number };
    expect(last).toBe(5_000);
    expect(first).toBeGreaterThan(4_000);
    const rest = read(first - 1).map(({ event }) => event.delta as string);
    expect(rest.join("")).toHaveLength((last - first + 1) * 1_000);
  });

  test("throws out finished logs after their time, and the oldest first past the common bound", () => {
    const lease = open();
    void store.runs.close(lease, entry(1, { type: "RUN_FINISHED" }), "finished");
    clock.advance(5 * minute);
    expect(store.runs.find("ann", "r1")).toBeUndefined();

    store = memorySessions({ clock, logBytes: 3_000 });
    for (const runId of ["a", "b", "c"]) {
      const one = store.runs.open({ ...key, runId }, { agentId: "a" }) as Lease;
      void store.runs.append(one, [
        entry(1, { type: "CUSTOM", name: "n", value: "x".repeat(400) }),
      ]);
      void store.runs.close(one, entry(2, { type: "RUN_FINISHED" }), "finished");
    }
    expect(store.runs.find("ann", "a")).toBeUndefined();
    expect(store.runs.find("ann", "c")).toBeDefined();
  });

  test("follows a run while it goes on, and ends with it", async () => {
    const lease = open();
    void store.runs.append(lease, [delta(1, "a")]);
    const seen: string[] = [];
    const following = (async () => {
      for await (const entries of store.runs.follow(runKey, 0, new AbortController().signal)) {
        seen.push(...entries.map(({ event }) => (event.delta as string | undefined) ?? event.type));
      }
    })();
    await Promise.resolve();
    expect(store.runs.watchers(runKey)).toBe(1);
    void store.runs.append(lease, [delta(2, "b")]);
    void store.runs.close(lease, entry(3, { type: "RUN_FINISHED" }), "finished");
    await following;
    expect(seen.join(" ")).toMatch(/^(a b|ab) RUN_FINISHED$/);
    expect(store.runs.watchers(runKey)).toBe(0);
  });

  test("carries a stop to the owner, and says when there is none", () => {
    const lease = open();
    const commands: string[] = [];
    store.runs.commands(lease, (command) => commands.push(command.type));
    expect(store.runs.requestStop(runKey)).toBe(true);
    expect(commands).toEqual(["stop"]);
    void store.runs.close(lease, entry(1, { type: "RUN_FINISHED" }), "cancelled");
    expect(store.runs.requestStop(runKey)).toBe(false);
  });

  test("tells the owner that its lease is lost when the thread is deleted", () => {
    create();
    const lease = open();
    void store.delete(key);
    expect(lease.lost.aborted).toBe(true);
  });
});
