import { memorySessions } from "@holodeck/agui";
import { describe, expect, test } from "vitest";
import { createStoreBench } from "../src/vitest/store/_store-bench.ts";

const key = { principal: "ann", threadId: "t1" };

function standStill(ms: number): void {
  const end = performance.now() + ms;
  while (performance.now() < end);
}

describe("a case of a store with a real clock", () => {
  test("is run again, on new data, when it failed while the machine stood still", async () => {
    const bench = createStoreBench(({ ttlMs = 0 }) => memorySessions({ ttlMs }), { clock: "real" });
    let attempts = 0;
    await bench.play(async () => {
      const store = await bench.open({ ttlMs: 300 });
      expect(await store.get(key)).toBeUndefined();
      await store.create(key, { agentId: "agent" });
      if (++attempts === 1) standStill(400);
      await bench.pass(50);
      expect(await store.get(key)).toBeDefined();
    });
    expect(attempts).toBeGreaterThan(1);
    await bench.closeAll();
  });

  test("fails at once when it had all the time it asked for", async () => {
    const bench = createStoreBench(() => memorySessions(), { clock: "real" });
    let attempts = 0;
    const playing = bench.play(async () => {
      attempts++;
      await bench.pass(400);
      throw new Error("broken");
    });
    await expect(playing).rejects.toThrow("broken");
    // Once, unless the machine did stand still.
    expect(attempts).toBeLessThan(5);
  });

  test("is given up when it fails again and again", async () => {
    const bench = createStoreBench(() => memorySessions(), { clock: "real" });
    let attempts = 0;
    const playing = bench.play(async () => {
      attempts++;
      standStill(150);
      throw new Error("broken");
    });
    await expect(playing).rejects.toThrow("broken");
    expect(attempts).toBe(5);
  });
});
