import { expect, test } from "vitest";
import { createBuckets } from "../src/kit/storage/buckets.ts";

const rate = { tokens: 1, perMs: 1_000 };

test("full buckets are gone after a round, without a walk over all", () => {
  const buckets = createBuckets();
  for (let index = 0; index < 30_000; index++) buckets.take(`b${index}`, 1, { ...rate, now: 0 });
  expect(buckets.size).toBe(30_000);
  // None is full: each take looks at a few, and removes nothing.
  buckets.take("more", 1, { ...rate, now: 1 });
  expect(buckets.size).toBe(30_001);
  for (let take = 0; take < 16_000; take++) buckets.take("one", 1, { ...rate, now: 5_000 });
  expect(buckets.size).toBe(1);
});

test("a take costs the same with 1,000 buckets and with 200,000", () => {
  const looks = (count: number): number => {
    const buckets = createBuckets();
    const seen: string[] = [];
    for (let index = 0; index < count; index++) buckets.take(`b${index}`, 1, { ...rate, now: 0 });
    const now = {
      valueOf: () => {
        seen.push("look");
        return 1;
      },
    } as unknown as number;
    buckets.take("b0", 1, { ...rate, now });
    return seen.length;
  };
  expect(looks(200_000)).toBe(looks(1_000));
});
