import type { Lease, SessionStore } from "@holodeck/agui-core";
import { fakeClock } from "@holodeck/agui-testing";
import { describe, expect, test } from "vitest";
import { memorySessions } from "../src/index.ts";
import type { MemorySessionsOptions } from "../src/index.ts";

const KB = 1024;
const clock = fakeClock();
const text = (kilobytes: number): string => "x".repeat((kilobytes * KB) / 3);
const open = (options: MemorySessionsOptions = {}): SessionStore =>
  memorySessions({ clock, ttlMs: 1e9, ...options });

function create(store: SessionStore, principal: string, threadId: string, kilobytes = 0): void {
  clock.tick(1);
  const key = { principal, threadId };
  void store.create(key, { agentId: "a" });
  if (kilobytes > 0) fill(store, key, kilobytes);
}

function fill(
  store: SessionStore,
  key: { principal: string; threadId: string },
  kilobytes: number,
): void {
  void store.update(key, {
    messages: [{ id: "m", role: "user", content: text(kilobytes) }],
  });
}

function run(store: SessionStore, principal: string, threadId: string): Lease {
  const key = { principal, threadId, runId: `run-${principal}-${threadId}` };
  return store.runs.open(key, { agentId: "a" }) as Lease;
}

const threadsOf = async (store: SessionStore, principal: string): Promise<string[]> => {
  const { items } = await store.list({ principal, limit: 100_000 });
  return items.map(({ threadId }) => threadId).toReversed();
};

function codeOf(work: () => unknown): unknown {
  try {
    void work();
    return undefined;
  } catch (error) {
    return (error as { code: unknown }).code;
  }
}

describe("a memory store without a limit of threads", () => {
  test("holds 10,000, and then drops the one that was not used for longest", async () => {
    const store = open();
    for (let index = 0; index < 10_000; index++) create(store, "ann", `t${index}`);
    clock.tick(1);
    void store.touch({ principal: "ann", threadId: "t0" });
    create(store, "ann", "new");
    const threads = await threadsOf(store, "ann");
    expect(threads).toHaveLength(10_000);
    expect(threads).toContain("t0");
    expect(threads).not.toContain("t1");
  });

  test("drops a thread of the principal that has most", async () => {
    const store = open();
    create(store, "bob", "old");
    for (let index = 1; index < 10_000; index++) create(store, "ann", `t${index}`);
    create(store, "cy", "c");
    expect(await threadsOf(store, "bob")).toEqual(["old"]);
    expect(await threadsOf(store, "ann")).not.toContain("t1");
    expect(await threadsOf(store, "cy")).toEqual(["c"]);
  });

  test("refuses past a limit that comes with the new thread", () => {
    const store = open();
    create(store, "ann", "t1");
    const second = { principal: "ann", threadId: "t2" };
    expect(codeOf(() => store.create(second, { agentId: "a", maxSessions: 1 }))).toBe(
      "capacity-exceeded",
    );
  });
});

describe("a memory store with a limit of threads", () => {
  test("refuses one more of the principal that fills it, and takes one of another", async () => {
    const store = open({ maxSessions: 4 });
    for (const id of ["t1", "t2", "t3", "t4"]) create(store, "ann", id);
    expect(codeOf(() => create(store, "ann", "t5"))).toBe("capacity-exceeded");
    create(store, "bob", "b1");
    create(store, "bob", "b2");
    // Both have their share of two.
    expect(codeOf(() => create(store, "bob", "b3"))).toBe("capacity-exceeded");
    expect(codeOf(() => create(store, "ann", "t5"))).toBe("capacity-exceeded");
    expect(await threadsOf(store, "ann")).toEqual(["t3", "t4"]);
    expect(await threadsOf(store, "bob")).toEqual(["b1", "b2"]);
    create(store, "cy", "c1");
    expect(codeOf(() => create(store, "cy", "c2"))).toBe("capacity-exceeded");
    expect(await store.count!()).toBe(4);
  });

  test("takes no thread from a principal whose threads are all in use", () => {
    const store = open({ maxSessions: 2 });
    for (const id of ["t1", "t2"]) {
      create(store, "ann", id);
      run(store, "ann", id);
    }
    expect(codeOf(() => create(store, "bob", "b1"))).toBe("capacity-exceeded");
  });
});

describe("the bytes of a memory store", () => {
  const memoryBytes = 1_000 * KB;

  test("are kept by dropping the threads that were not used for longest", async () => {
    const store = open({ memoryBytes });
    for (let index = 0; index < 50; index++) create(store, "ann", `t${index}`, 100);
    const threads = await threadsOf(store, "ann");
    expect(threads.length).toBeGreaterThanOrEqual(8);
    expect(threads.length).toBeLessThanOrEqual(10);
    expect(threads).toEqual(
      Array.from({ length: threads.length }, (_, index) => `t${50 - threads.length + index}`),
    );
  });

  test("are kept when a thread grows, which is not dropped itself", async () => {
    const store = open({ memoryBytes });
    create(store, "ann", "grows", 1);
    for (let index = 0; index < 8; index++) create(store, "ann", `t${index}`, 100);
    fill(store, { principal: "ann", threadId: "grows" }, 600);
    const threads = await threadsOf(store, "ann");
    expect(threads).toEqual(["t5", "t6", "t7", "grows"]);
  });

  test("come from the principal that has most of them", async () => {
    const store = open({ memoryBytes });
    create(store, "bob", "old", 50);
    for (let index = 0; index < 20; index++) create(store, "ann", `t${index}`, 100);
    expect(await threadsOf(store, "bob")).toEqual(["old"]);
  });

  test("are those that were not used for longest where all principals have about as much", async () => {
    const store = open({ memoryBytes });
    for (let index = 0; index < 20; index++) create(store, `p${index}`, "t", 90 + (index % 7));
    expect(await threadsOf(store, "p19")).toEqual(["t"]);
    expect(await threadsOf(store, "p0")).toEqual([]);
  });

  test("are never those of a run, and of questions only when nothing else is left", async () => {
    const store = open({ memoryBytes });
    create(store, "ann", "runs", 100);
    run(store, "ann", "runs");
    create(store, "ann", "asks", 100);
    const pending = [{ id: "q", kind: "interrupt", runId: "r", value: {} }] as const;
    await store.update({ principal: "ann", threadId: "asks" }, { pending });
    for (let index = 0; index < 20; index++) create(store, "ann", `t${index}`, 100);
    const threads = await threadsOf(store, "ann");
    expect(threads.slice(0, 2)).toEqual(["runs", "asks"]);
    expect(threads.at(-1)).toBe("t19");
    create(store, "ann", "large", 850);
    expect(await threadsOf(store, "ann")).toEqual(["runs", "large"]);
  });

  test("include logs: those of ended runs go before any thread", async () => {
    const store = open({ memoryBytes });
    create(store, "ann", "t", 100);
    for (let index = 0; index < 20; index++) {
      const key = { principal: "ann", threadId: "t", runId: `r${index}` };
      const lease = store.runs.open(key, { agentId: "a" }) as Lease;
      const event = { type: "CUSTOM", name: "n", value: text(100) } as never;
      void store.runs.append(lease, [{ from: 1, to: 1, at: 0, event }]);
      const end = { type: "RUN_FINISHED", threadId: "t", runId: key.runId } as never;
      void store.runs.close(lease, { from: 2, to: 2, at: 0, event: end }, "finished");
    }
    expect(await threadsOf(store, "ann")).toEqual(["t"]);
    expect(store.runs.find("ann", "r0")).toBeUndefined();
    expect(store.runs.find("ann", "r19")).toBeDefined();
    create(store, "ann", "large", 890);
    expect(await threadsOf(store, "ann")).toEqual(["t", "large"]);
    expect(store.runs.find("ann", "r19")).toBeUndefined();
  });

  test("refuse what begins when all threads are in use, and store what a run has made", async () => {
    const store = open({ memoryBytes });
    const leases = ["a", "b", "c"].map((id) => {
      create(store, "ann", id, 300);
      return run(store, "ann", id);
    });
    expect(codeOf(() => create(store, "bob", "b", 200))).toBe("capacity-exceeded");
    const messages = [{ id: "m", role: "user" as const, content: text(500) }];
    await store.update(leases[0]!, { messages, active: null }, { lease: leases[0]! });
    expect((await store.get(leases[0]!))!.messages).toEqual(messages);
  });

  test("count the values that a text stands for", async () => {
    const store = open({ memoryBytes });
    for (let index = 0; index < 20; index++) {
      create(store, "ann", `t${index}`);
      const state = Array.from({ length: 5_000 }, () => ({}));
      await store.update({ principal: "ann", threadId: `t${index}` }, { state });
    }
    // 15 KB of JSON each, 300 KB in memory.
    expect((await threadsOf(store, "ann")).length).toBeLessThanOrEqual(4);
  });
});

test("a deleted thread leaves no run, also where it had no session", () => {
  const store = open();
  const lease = run(store, "ann", "t");
  expect(store.delete({ principal: "ann", threadId: "t" })).toBe(false);
  expect(store.runs.find("ann", lease.runId)).toBeUndefined();
});
