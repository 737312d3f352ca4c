import type { Lease, LogEntry, SessionStore } from "@holodeck/agui-core";
import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { beforeEach, describe, expect, test } from "vitest";
import { memorySessions } from "../src/index.ts";
import { manualClock } from "./_clock.ts";
import { sourceFlags } from "../../../scripts/test-support/source-flags.ts";

const minute = 60_000;
const keyOf = (threadId: string) => ({ principal: "ann", threadId });
const end: LogEntry = { from: 1, to: 1, at: 0, event: { type: "RUN_FINISHED" as never } };
let clock = manualClock();
let store: SessionStore;

beforeEach(() => {
  clock = manualClock();
  store = memorySessions({ clock });
});

function create(...threadIds: string[]): void {
  for (const threadId of threadIds) void store.create(keyOf(threadId), { agentId: "a" });
}

describe("a session in memory", () => {
  test("is swept away without being asked for, and the sweep ends with the last one", () => {
    create("t1", "t2");
    expect(clock.timers).toBe(1);
    clock.advance(29 * minute);
    expect(clock.timers).toBe(1);
    // Nobody has looked: only the sweep itself can have found that there is nothing left.
    clock.advance(2 * minute);
    expect(clock.timers).toBe(0);
    // There is nothing left to clean up: the sweep has not only stopped.
    expect(store.cleanupExpired()).toBe(0);
    create("t3");
    expect(clock.timers).toBe(1);
  });

  test("keeps no process alive", { timeout: 120_000 }, async () => {
    const script = fileURLToPath(new URL("_idle-child.ts", import.meta.url));
    // Ended by force it would reject.
    const child = promisify(execFile)(process.execPath, [...sourceFlags, script], {
      timeout: 100_000,
    });
    expect((await child).stdout).toBe("Nothing left to do.\n");
  });

  test("is counted when it is cleaned up, unless a run is in flight", () => {
    store = memorySessions({ clock, ttlMs: 30_000 });
    create("t1", "t2", "t3");
    const lease = store.runs.open({ ...keyOf("t3"), runId: "r" }, { agentId: "a" }) as Lease;
    clock.advance(30_000);
    expect(store.cleanupExpired()).toBe(2);
    expect(store.get(keyOf("t3"))).toBeDefined();
    void store.runs.close(lease, end, "finished");
    expect(store.cleanupExpired()).toBe(1);
    expect(store.cleanupExpired()).toBe(0);
  });

  test("keeps the time it was created, however often it is used", () => {
    create("t1");
    for (let use = 1; use <= 3; use++) {
      clock.advance(minute);
      if (use % 2 === 0) void store.update(keyOf("t1"), { metadata: { use } });
      else void store.touch(keyOf("t1"));
      expect(store.get(keyOf("t1"))).toMatchObject({
        createdAt: 1_000_000,
        lastActivity: 1_000_000 + use * minute,
      });
    }
  });
});
