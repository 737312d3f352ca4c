import { describe, expect, test } from "vitest";
import { compareMessages } from "../src/kit/sessions/compare-messages.ts";

const message = (id: string, content: string = id): string => JSON.stringify({ id, content });
const rows = (...values: readonly string[]): { position: number; value: string }[] =>
  values.map((value, index) => ({ position: index + 1, value }));
const [a, b, c, d] = ["a", "b", "c", "d"].map((id) => message(id)) as [
  string,
  string,
  string,
  string,
];

describe("what is written of a history", () => {
  test.for([
    ["nothing when it is the same", rows(a, b), [a, b], { changed: [], added: [], removed: [] }],
    ["what is new at its end", rows(a), [a, b, c], { changed: [], added: [b, c], removed: [] }],
    [
      "that its oldest are gone",
      rows(a, b, c),
      [c, d],
      { changed: [], added: [d], removed: [1, 2] },
    ],
    [
      "the one that was replaced",
      rows(a, b, c),
      [a, message("b", "new"), c],
      { changed: [{ position: 2, value: message("b", "new") }], added: [], removed: [] },
    ],
    [
      "all from a change of order on",
      rows(a, b, c),
      [a, c, b],
      { changed: [], added: [b], removed: [2] },
    ],
    ["copies of one message", rows(a, a, b), [a, a, a], { changed: [], added: [a], removed: [3] }],
  ] as const)("is %s", ([, before, after, expected]) => {
    expect(compareMessages(before, after)).toEqual(expected);
  });

  // Each comparison of two texts reads their common beginning; a count of reads stands for the time.
  test("takes a few looks at each row, however many are alike", () => {
    const long = "x".repeat(1_000);
    const count = 2_000;
    let reads = 0;
    const before = Array.from({ length: count }, (_, index) => ({
      position: index + 1,
      get value() {
        reads++;
        return message("same", `${long}${index}`);
      },
    }));
    const after = Array.from({ length: count }, (_, index) => message("same", `${long}y${index}`));
    const { changed } = compareMessages(before, after);
    expect(changed).toHaveLength(count);
    expect(reads).toBeLessThan(5 * count);
  });
});
