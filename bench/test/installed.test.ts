import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
// @ts-expect-error -- a script without types
import { closureOfLock } from "../lib/installed.mjs";
// @ts-expect-error -- a script without types
import { installs } from "../lib/scenarios.mjs";

const lock = JSON.parse(
  readFileSync(new URL("../peers/package-lock.json", import.meta.url), "utf8"),
) as { packages: Record<string, { resolved?: string }> };

describe("what an installation needs", () => {
  test("is found where Node would find it: the nearest copy first", () => {
    const packages = {
      "node_modules/a": { dependencies: { b: "1", c: "1" } },
      "node_modules/a/node_modules/b": { dependencies: { c: "1" } },
      "node_modules/b": {},
      "node_modules/c": { dependencies: { a: "1" } },
      "node_modules/unused": {},
    };
    expect(closureOfLock(packages, ["a"]).toSorted()).toEqual([
      "node_modules/a",
      "node_modules/a/node_modules/b",
      "node_modules/c",
    ]);
  });

  test("has peers in it, but not optional ones that are not installed", () => {
    const packages = {
      "node_modules/a": {
        peerDependencies: { b: "1", c: "1" },
        peerDependenciesMeta: { c: { optional: true } },
        optionalDependencies: { d: "1" },
      },
      "node_modules/b": {},
      "node_modules/c": {},
    };
    expect(closureOfLock(packages, ["a"])).toEqual(["node_modules/a", "node_modules/b"]);
  });

  test("is an error where the lock lacks it", () => {
    const packages = { "node_modules/a": { dependencies: { b: "1" } } };
    expect(() => closureOfLock(packages, ["a"])).toThrow("b is not in the lock");
  });
});

describe("the lock of the peers", () => {
  test("has all that is measured", () => {
    for (const roots of Object.values(installs) as string[][]) {
      if (roots.some((name) => name.startsWith("@holodeck"))) continue;
      expect(closureOfLock(lock.packages, roots).length).toBeGreaterThanOrEqual(roots.length);
    }
  });

  test("does not contain where packages come from", () => {
    expect(Object.values(lock.packages).filter(({ resolved }) => resolved)).toEqual([]);
  });
});
