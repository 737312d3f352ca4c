import fc from "fast-check";
import { describe, expect, test } from "vitest";
// @ts-expect-error -- a script without types
import { assumptions, inputsOf, readRecord, simulate } from "../lib/report/simulation.mjs";

const inputs = {
  memoryKb: 20,
  cpuUs: 10,
  cpuRedisUs: 30,
  redisCpuUs: 20,
  redisKbPerRun: 10,
  wireBytes: 150,
};

describe("the simulation", () => {
  test("finds the limit that comes first", () => {
    const streams = 1_000_000;
    const of = (change: object): string =>
      simulate(streams, { ...inputs, ...change }, assumptions).processes.limit;
    expect(of({})).toBe("CPU");
    expect(of({ cpuRedisUs: 0.001, memoryKb: 400 })).toBe("memory");
    expect(of({ cpuRedisUs: 0.001, memoryKb: 1 })).toBe("files");
  });

  test("computes what its text states", () => {
    const given = { ...assumptions, speaking: 0.5, rate: 10, load: 0.5, cores: 4 };
    const found = simulate(100_000, inputs, given);
    expect(found.deltas).toBe(500_000);
    // 500,000 × 30 µs are 15 cores, at half their power 30.
    expect(found.processes).toEqual({ count: 30, limit: "CPU" });
    expect(found.machines).toBe(8);
    expect(found.memoryGb).toBe(2);
    expect(found.gigabits).toBeCloseTo(0.6);
  });

  test("never needs less for more streams", () => {
    const streams = fc.integer({ min: 1, max: 10_000_000 });
    fc.assert(
      fc.property(streams, streams, (one, other) => {
        const [less, more] = [Math.min(one, other), Math.max(one, other)].map((count) =>
          simulate(count, inputs, assumptions),
        );
        expect(more.processes.count).toBeGreaterThanOrEqual(less.processes.count);
        expect(more.redis.count).toBeGreaterThanOrEqual(less.redis.count);
        expect(more.machines).toBeGreaterThanOrEqual(less.machines);
      }),
    );
  });

  test("has its figures from the results, and names one that is missing", () => {
    for (const figure of Object.values(inputsOf(readRecord()))) expect(figure).toBeGreaterThan(0);
    expect(() => inputsOf({ scenarios: {} })).toThrow('no memoryKb of "ours" in idle');
  });
});
