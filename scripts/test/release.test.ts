// What a release does and needs, as far as it can be seen without publishing one.
import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
// @ts-expect-error Scripts have no declarations.
import { versionPackages as untypedVersion } from "../lib/version-packages.mjs";
// @ts-expect-error Scripts have no declarations.
import { publicPackages, root as untypedRoot } from "../lib/workspace.mjs";

interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly keywords: readonly string[];
  readonly [name: string]: unknown;
}

const versionPackages = untypedVersion as (
  folder: string,
) => Promise<{ code: number; output: string }>;
const root = untypedRoot as string;
const packages = publicPackages() as { dir: string; manifest: Manifest }[];
const { parse } = createRequire(join(root, "packages/cli/package.json"))("yaml") as {
  parse(text: string): Record<string, unknown>;
};
const workflow = (name: string): Record<string, unknown> =>
  parse(readFileSync(join(root, ".github", name), "utf8"));

function readJson(path: string): Record<string, unknown> {
  return JSON.parse(readFileSync(path, "utf8")) as Record<string, unknown>;
}

describe("the first version", () => {
  let copy: string;
  beforeAll(async () => {
    copy = mkdtempSync(join(tmpdir(), "holodeck-release-"));
    const files = execFileSync("git", ["ls-files"], { cwd: root, encoding: "utf8" }).split("\n");
    const needed =
      /^(?:\.changeset\/.*|[^/]+\.(?:json|yaml)|[^/]+\/[^/]+\/package\.json|.*\/version\.ts)$/;
    for (const file of files.filter((path) => needed.test(path))) {
      mkdirSync(dirname(join(copy, file)), { recursive: true });
      cpSync(join(root, file), join(copy, file));
    }
    const git = (...args: string[]): unknown => execFileSync("git", args, { cwd: copy });
    git("init", "-q");
    git("add", "-A");
    git("-c", "user.name=a", "-c", "user.email=a@b.test", "commit", "-qm", "a copy");
    const { code, output } = await versionPackages(copy);
    expect(code, output).toBe(0);
  }, 60_000);
  afterAll(() => rmSync(copy, { recursive: true, force: true }));

  test("is 0.1.0 for every package, and for what the server answers", () => {
    const versions = packages.map(
      ({ dir }) => readJson(join(copy, dir, "package.json"))["version"],
    );
    expect(new Set(versions)).toEqual(new Set(["0.1.0"]));
    const source = readFileSync(join(copy, "packages/agui/src/describe/version.ts"), "utf8");
    expect(source).toContain('export const version = "0.1.0";');
  });

  test("has a CHANGELOG that describes the packages, without hashes of commits and lists of packages", () => {
    for (const { dir, manifest } of packages) {
      const text = readFileSync(join(copy, dir, "CHANGELOG.md"), "utf8");
      expect(text).toMatch(new RegExp(`^# ${manifest.name}\n\n## 0\\.1\\.0\n`));
      expect(text).toContain("First release: serve any agent over AG-UI");
      expect(text).not.toMatch(/\b[\da-f]{7,}: |Updated dependencies|no longer|instead of before/);
    }
  });
});

describe("a package", () => {
  test.for(packages)("$manifest.name has what a registry shows", ({ dir, manifest }) => {
    expect(manifest).toMatchObject({
      license: "MIT",
      author: "HoloDeck contributors",
      homepage: `https://github.com/holodeck/agui/tree/main/${dir}#readme`,
      bugs: "https://github.com/holodeck/agui/issues",
      repository: { directory: dir },
      publishConfig: { access: "public" },
    });
    expect(manifest.keywords).toEqual(expect.arrayContaining(["ag-ui", "agents"]));
    expect(manifest["funding"]).toBeUndefined();
  });
});

describe("workflows", () => {
  test("publish with provenance, and only with the rights that it takes", () => {
    const release = workflow("workflows/release.yml") as {
      permissions: object;
      jobs: { release: { permissions: object; steps: { with?: object; env?: object }[] } };
    };
    expect(release.permissions).toEqual({});
    expect(release.jobs.release.permissions).toEqual({
      contents: "write",
      "pull-requests": "write",
      "id-token": "write",
    });
    const action = release.jobs.release.steps.at(-1);
    expect(action?.env).toMatchObject({ NPM_CONFIG_PROVENANCE: "true" });
    const { scripts } = readJson(join(root, "package.json"));
    for (const name of ["version", "publish"] as const) {
      expect(action?.with).toMatchObject({ [name]: `npm run release:${name}` });
      expect(scripts).toHaveProperty([`release:${name}`]);
    }
  });

  test("run everything on each supported Node, and the packages without services on other systems", () => {
    const { jobs } = workflow("workflows/ci.yml") as {
      jobs: Record<string, { strategy: { matrix: object }; steps: { run?: string }[] }>;
    };
    expect(jobs["check"]?.strategy.matrix).toEqual({ node: ["20.19", "22", "24"] });
    expect(jobs["other-systems"]?.strategy.matrix).toEqual({
      os: ["macos-latest", "windows-latest"],
    });
    const named = jobs["other-systems"]?.steps.at(-1)?.run?.match(/packages\/\w+/g) ?? [];
    expect(packages.map(({ dir }) => dir)).toEqual(expect.arrayContaining(named));
    expect(named.length).toBeGreaterThan(5);
  });

  test("look for known faults, and for new versions of dependencies in groups", () => {
    expect(workflow("workflows/codeql.yml")).toHaveProperty("jobs.analyze.permissions");
    const { updates } = workflow("dependabot.yml") as { updates: { groups: object }[] };
    expect(updates.map(({ groups }) => Object.keys(groups).length)).toEqual([2, 1]);
  });
});
