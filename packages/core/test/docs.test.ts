import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { AgentError } from "@holodeck/agui-core";
import type { AgentErrorCode } from "@holodeck/agui-core";
import { describe, expect, test } from "vitest";

const root = fileURLToPath(new URL("../../../", import.meta.url));
const read = (path: string): string => readFileSync(join(root, path), "utf8");

// The cells of every table row whose first cell is one name in backticks.
function readRows(page: string): Map<string, string[]> {
  const rows = read(page)
    .split("\n")
    .map((line) => line.split("|").map((cell) => cell.trim()))
    .filter(([, first]) => first !== undefined && /^`[\w/-]+`$/.test(first));
  return new Map(rows.map(([, first, ...rest]) => [first!.slice(1, -1), rest]));
}

// The text of a source between two marks, neither included.
function between(source: string, start: string, end: string): string {
  const from = source.indexOf(start);
  expect(from, start).toBeGreaterThanOrEqual(0);
  const to = source.indexOf(end, from + start.length);
  expect(to, end).toBeGreaterThan(from);
  return source.slice(from + start.length, to);
}

describe("docs/reference/errors.md", () => {
  const source = read("packages/core/src/contract/errors.ts");
  const names = (text: string): string[] =>
    text.split("\n").flatMap((line) => /^\s+"?([a-z-]+)"?(?::|,)/.exec(line)?.[1] ?? []);
  const requestCodes = names(between(source, "const requestStatus = {", "} as const"));
  const streamCodes = names(between(source, "const streamCodes = [", "] as const"));
  const rows = readRows("docs/reference/errors.md");

  test("has a row for every code, and for no other", () => {
    expect(requestCodes.length).toBeGreaterThan(0);
    expect(streamCodes.length).toBeGreaterThan(0);
    expect([...rows.keys()].toSorted()).toEqual([...requestCodes, ...streamCodes].toSorted());
  });

  test("has the status of every code that ends a request", () => {
    const statuses = requestCodes.map((code) => [code, rows.get(code)?.[0]]);
    expect(statuses).toEqual(
      requestCodes.map((code) => [code, String(new AgentError(code as AgentErrorCode, "").status)]),
    );
  });
});

describe("docs/reference/repairs.md", () => {
  test("has a row for every kind of repair, and for no other", () => {
    const source = read("packages/core/src/guard/repairs.ts");
    const union = between(source, "export type RepairKind =", ";\n\n");
    const kinds = [...union.matchAll(/^\s*\| "([a-z-]+)"/gm)].map(([, kind]) => kind!);
    expect(kinds.length).toBeGreaterThan(0);
    const documented = [...readRows("docs/reference/repairs.md").keys()];
    expect(documented.toSorted()).toEqual(kinds.toSorted());
  });
});

describe("docs/limits.md", () => {
  test("has every limit, with a file that enforces it", () => {
    const source = read("packages/core/src/contract/limits.ts");
    const union = between(source, "export interface Limits {", "}");
    const limits = [...union.matchAll(/readonly (\w+): number/g)].map(([, name]) => name!);
    expect(limits.length).toBeGreaterThan(0);
    const lines = read("docs/limits.md").split("\n");
    for (const limit of limits) {
      const row = lines.find((line) => line.startsWith("|") && line.includes(`\`${limit}\` `));
      expect(row?.split("|").at(-2), limit).toMatch(/`\w+\/src\/[\w/-]+\.ts`/);
    }
  });
});

describe("a page", () => {
  const packages = readdirSync(join(root, "packages"));
  const pages = [
    "README.md",
    "CONTRIBUTING.md",
    "AGENTS.md",
    "bench/README.md",
    "examples/README.md",
    ...pagesUnder("docs"),
    ...packages.map((name) => `packages/${name}/README.md`),
    ...readdirSync(join(root, "examples")).map((name) => `examples/${name}/README.md`),
  ].filter((path) => existsSync(join(root, path)));

  const isMissing = (path: string): boolean => !existsSync(join(root, path));

  // Not `recursive: true`: that follows the links of node_modules in circles.
  function pagesUnder(folder: string): string[] {
    return readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
      const path = `${folder}/${entry.name}`;
      if (entry.isDirectory()) return entry.name === "node_modules" ? [] : pagesUnder(path);
      return path.endsWith(".md") ? [path] : [];
    });
  }

  test.for(pages)("names only source files that exist: %s", (page) => {
    const path = new RegExp(
      `(?<![\\w/-])(?:packages/)?((?:${packages.join("|")})/(?:src|test|page)/[\\w./-]*\\w)`,
      "g",
    );
    const named = [...read(page).matchAll(path)].map(([, name]) => `packages/${name}`);
    expect(named.filter(isMissing)).toEqual([]);
  });

  test.for(pages)("links only to files and headings that exist: %s", (page) => {
    const prose = read(page).replaceAll(/^```[^]*?^```/gm, "");
    const targets = [...prose.matchAll(/\]\((?!https?:|mailto:)([^)\s]+)\)/g)];
    const broken = targets.filter(([, target]) => !isThere(page, target!));
    expect(broken.map(([, target]) => target)).toEqual([]);
  });

  function isThere(page: string, target: string): boolean {
    const [path, anchor] = target.split("#");
    const to = path === "" ? page : relative(root, join(root, dirname(page), path!));
    if (isMissing(to)) return false;
    if (anchor === undefined) return true;
    const file = to.endsWith(".md") ? to : `${to}/README.md`;
    return existsSync(join(root, file)) && headings(read(file)).includes(anchor);
  }

  // The anchors that GitHub makes of headings.
  function headings(text: string): string[] {
    return [...text.matchAll(/^#+ (.*)$/gm)].map(([, heading]) =>
      heading!
        .toLowerCase()
        .replaceAll(/[^\p{L}\p{N} _-]/gu, "")
        .replaceAll(" ", "-"),
    );
  }
});
