import fc from "fast-check";
import { describe, expect, test } from "vitest";
// @ts-expect-error -- a script without types
import { median, quantile, ratios, summarize } from "../lib/stats.mjs";

const numbers = fc.array(fc.double({ min: 0.001, max: 1e6, noNaN: true }), {
  minLength: 1,
  maxLength: 20,
});

describe("a median", () => {
  test.for([
    [[3, 1, 2], 2],
    [[4, 1, 2, 3], 2.5],
    [[7], 7],
  ] as const)("of %j is %d", ([values, middle]) => {
    expect(median(values)).toBe(middle);
  });

  test("leaves the list as it was", () => {
    const values = [3, 1, 2];
    median(values);
    expect(values).toEqual([3, 1, 2]);
  });

  test("has as many values below it as above it", () => {
    fc.assert(
      fc.property(numbers, (values) => {
        const middle = median(values);
        const below = values.filter((value) => value < middle).length;
        const above = values.filter((value) => value > middle).length;
        expect(below).toBeLessThanOrEqual(values.length / 2);
        expect(above).toBeLessThanOrEqual(values.length / 2);
      }),
    );
  });
});

test("a quantile is one of the values, the greatest at most", () => {
  const values = Array.from({ length: 100 }, (_, index) => index);
  expect(quantile(values, 0.5)).toBe(50);
  expect(quantile(values, 0.99)).toBe(99);
  expect(quantile(values, 1)).toBe(99);
});

test("a summary leaves out what was not measured", () => {
  expect(summarize([Number.NaN, 2, 1])).toEqual({ median: 1.5, min: 1, max: 2 });
  expect(summarize([Number.NaN])).toBeUndefined();
});

describe("ratios", () => {
  test("are taken within a round, so that a slow round slows both", () => {
    expect(ratios([1, 10, 2], [2, 20, 4])).toEqual({ median: 0.5, min: 0.5, max: 0.5 });
  });

  test("to itself are one", () => {
    fc.assert(
      fc.property(numbers, (values) => {
        expect(ratios(values, values)).toEqual({ median: 1, min: 1, max: 1 });
      }),
    );
  });
});
