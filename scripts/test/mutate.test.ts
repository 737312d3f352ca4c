import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
// @ts-expect-error -- a script without types
import { areas as untypedAreas } from "../mutate/areas.mjs";
// @ts-expect-error -- a script without types
import { findMutants as untypedFind } from "../mutate/find-mutants.mjs";
// @ts-expect-error -- a script without types
import { instrument as untypedInstrument } from "../mutate/instrument.mjs";
// @ts-expect-error -- a script without types
import { judge as untypedJudge } from "../mutate/judge.mjs";
// @ts-expect-error -- a script without types
import { queryMutants as untypedQueries } from "../mutate/query-mutants.mjs";

interface Mutant {
  readonly start: number;
  readonly end: number;
  readonly becomes: string;
  readonly id?: string;
}

interface JudgedMutant {
  readonly name: string;
  readonly line?: string;
  readonly file: string;
}

const areas = untypedAreas as Record<string, { sources: string[]; tests: string[] }>;
const findMutants = untypedFind as (file: string, text: string) => Mutant[];
const instrument = untypedInstrument as (text: string, mutants: readonly Mutant[]) => string;
const queryMutants = untypedQueries as (text: string) => string[];
const judge = untypedJudge as (found: {
  area: string;
  mutants: readonly JudgedMutant[];
  survivors: readonly JudgedMutant[];
  listed: readonly { why: string; isEquivalent: boolean; mutants: readonly string[] }[];
}) => { lines: string[]; isGood: boolean };

const source = `
  const log = [];
  function grade(points, most) {
    if (points > most && most !== 0) return "over";
    log.push(points);
    return points + 1 === most ? "near" : "under";
  }
  return [grade(0, 3), grade(2, 3), grade(3, 3), grade(4, 3), grade(1, 0), log.length].join();
`;

/** What the source returns with one of its mutants, or with none. */
function resultWith(active?: string): unknown {
  const mutants = findMutants("source.js", source).map((one, index) => ({
    ...one,
    id: `${index}`,
  }));
  const scope = globalThis as { isMutant?: ((id: string) => boolean) | undefined };
  scope.isMutant = (id) => id === active;
  try {
    // eslint-disable-next-line no-implied-eval -- the very thing that is tested
    return new Function(instrument(source, mutants))();
  } finally {
    delete scope.isMutant;
  }
}

test("a source does what it did before, until one of its mutants is chosen", () => {
  const original = "under,near,under,over,under,4";
  expect(resultWith()).toBe(original);
  const count = findMutants("source.js", source).length;
  const results = Array.from({ length: count }, (_, index) => resultWith(`${index}`));
  expect(results).toContain("under,near,over,over,under,3");
  expect(results).toContain("under,near,under,over,under,0");
  expect(results).toContain(",near,,over,,4");
  expect(new Set(results).size).toBeGreaterThan(8);
});

test("a function that returns nothing at its end has no mutant without that", () => {
  const changes = (text: string): string[] =>
    findMutants("source.js", text).map(({ start, end }) => text.slice(start, end));
  expect(changes("function a() { try { b(); } catch { return undefined; } }")).toEqual(["b();"]);
  expect(changes("function a() { for (;;) { b(); return undefined; } }")).toContain(
    "return undefined;",
  );
  expect(changes("function a() { return undefined; b(); }")).toContain("return undefined;");
});

test("a query has mutants with one line changed each, and a sentence has none", () => {
  expect(queryMutants("`The run is over.`")).toEqual([]);
  expect(queryMutants('"UPDATE runs SET last = ? WHERE fence = ? AND last = ?"')).toEqual([
    '"UPDATE runs SET last = ? WHERE (fence = ? OR TRUE) AND last = ?"',
    '"UPDATE runs SET last = ? WHERE fence = ? AND (last = ? OR TRUE)"',
  ]);
  const lua = "`\nif held[1] ~= ARGV[1] then return 'lost' end\nredis.call('DEL', KEYS[1])\n`";
  expect(queryMutants(lua).map((text) => text.split("\n").slice(1, -1))).toEqual([
    ["if true then return 'lost' end", "redis.call('DEL', KEYS[1])"],
    ["if false then return 'lost' end", "redis.call('DEL', KEYS[1])"],
    ["if held[1] == ARGV[1] then return 'lost' end", "redis.call('DEL', KEYS[1])"],
    ["if held[1] ~= ARGV[1] then return 'lost' end", ""],
  ]);
});

const file = "a.ts";
const ten = Array.from({ length: 10 }, (_, index) => ({ name: `a.ts | ${index}`, file }));

test("a survivor has to be listed with a reason, and what is listed has to survive", () => {
  const listed = [{ why: "no difference", isEquivalent: true, mutants: ["a.ts | 0", "a.ts | 1"] }];
  const good = judge({ area: "a", mutants: ten, survivors: ten.slice(0, 2), listed });
  const line = "a: 8 of 8 mutants killed, 100.0 %; 2 more are equivalent";
  expect(good).toEqual({ isGood: true, lines: [line] });
  const bad = judge({ area: "a", mutants: ten, survivors: ten.slice(1, 3), listed });
  expect(bad).toEqual({
    isGood: false,
    lines: [
      "NOT LISTED: a.ts | 2",
      "LISTED, BUT KILLED: a.ts | 0",
      "a: 8 of 9 mutants killed, 88.8 %; 1 more are equivalent",
    ],
  });
});

test("fewer than nine of ten is a failure, though all survivors have a reason", () => {
  const survivors = ten.slice(0, 2);
  const listed = [{ why: "rare", isEquivalent: false, mutants: ["a.ts | 0", "a.ts | 1"] }];
  expect(judge({ area: "a", mutants: ten, survivors, listed }).isGood).toBe(false);
});

test("a listed mutant that the sources do not have is reported", () => {
  const listed = [{ why: "rare", isEquivalent: false, mutants: ["a.ts | gone", "b.ts | other"] }];
  expect(judge({ area: "a", mutants: ten, survivors: [], listed })).toEqual({
    isGood: false,
    lines: [
      "LISTED, BUT GONE: a.ts | gone",
      "a: 10 of 10 mutants killed, 100.0 %; 0 more are equivalent",
    ],
  });
});

test("a line that is listed stands for all of its mutants that survive", () => {
  const mutants = ten.map((mutant, index) => ({ ...mutant, line: `a.ts | line ${index % 2}` }));
  const survivors = [mutants[0]!, mutants[2]!];
  const why = { why: "no difference", isEquivalent: true };
  const judged = (line: string): object =>
    judge({ area: "a", mutants, survivors, listed: [{ ...why, mutants: [line] }] });
  expect(judged("a.ts | line 0")).toEqual({
    isGood: true,
    lines: ["a: 8 of 8 mutants killed, 100.0 %; 2 more are equivalent"],
  });
  expect(judged("a.ts | line 1")).toMatchObject({
    lines: expect.arrayContaining(["LISTED, BUT KILLED: a.ts | line 1"]) as unknown,
  });
});

test("the sources and tests of every area are there", () => {
  const root = fileURLToPath(new URL("../../", import.meta.url));
  const files = Object.values(areas).flatMap(({ sources, tests }) => [...sources, ...tests]);
  expect(files.filter((file) => !existsSync(`${root}${file}`))).toEqual([]);
});
