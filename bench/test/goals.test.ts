import { describe, expect, test } from "vitest";
// @ts-expect-error -- a script without types
import { goalRows, judge } from "../lib/report/goals.mjs";
// @ts-expect-error -- a script without types
import { scenarios } from "../lib/scenarios.mjs";

interface Subject {
  name: string;
}

interface Goal {
  name: string;
  limit: number;
  measured?: { median: number };
  verdict: string;
}

/** Every scenario measured, each quantity the same for everybody. */
function evenResults(): Record<string, { subjects: object[] }> {
  const values = { cpuUs: [2, 2], lateP99Ms: [5, 5], memoryKb: [10, 10], importMs: [50, 50] };
  const imports = [{ name: "rxjs" }, { name: "@holodeck/agui" }];
  return Object.fromEntries(
    scenarios.map(({ name, subjects = imports }: { name: string; subjects?: Subject[] }) => [
      name,
      { subjects: subjects.map((one) => ({ name: one.name, values })) },
    ]),
  );
}

describe("goals", () => {
  test("name subjects that their scenarios have", () => {
    const judged: Goal[] = judge(evenResults());
    expect(judged.length).toBeGreaterThan(12);
    for (const { measured } of judged) expect(measured?.median).toBe(1);
  });

  test("are met at their limit and missed over it", () => {
    const verdicts = Object.fromEntries(
      judge(evenResults()).map(({ name, verdict }: Goal) => [name, verdict]),
    );
    expect(verdicts["burst, Node's binding: CPU per delta to raw"]).toBe("missed");
    expect(verdicts["paced 300: CPU per delta to raw"]).toBe("met");
  });

  test("report a scenario that did not run", () => {
    const judged: Goal[] = judge({});
    expect(new Set(judged.map(({ verdict }) => verdict))).toEqual(new Set(["not measured"]));
    expect(goalRows(judged)[1].at(-2)).toBe("–");
  });

  test("do not pass over a subject that is gone", () => {
    const results = evenResults();
    results["paced-300"]?.subjects.splice(1, 1);
    expect(() => judge(results)).toThrow('Scenario paced-300 has no subject "ours".');
  });

  test("are not measured where only other subjects were asked for", () => {
    const results = evenResults();
    results["paced-300"]?.subjects.splice(1, 1);
    const judged: Goal[] = judge(results, { isPart: true });
    const unknown = judged.filter(({ verdict }) => verdict === "not measured");
    expect(unknown.map(({ name }) => name)).toEqual([
      "paced 300: CPU per delta to raw",
      "paced 300: event to socket p99 to raw",
    ]);
  });
});
