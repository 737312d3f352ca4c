// One name, one meaning: a name that two files of the sources export is confusing in imports, searches and reviews.
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import ts from "typescript";
import { describe, expect, test } from "vitest";

const root = fileURLToPath(new URL("../..", import.meta.url));
const isSource = /^packages\/[^/]+\/(?:src|page)\/.*\.tsx?$/;

// The same part of two stores, each on its own database.
const partsOfStores = [
  "ConnectionOptions",
  "Database",
  "LogFollowers",
  "LogFollowersOptions",
  "LogReader",
  "Presence",
  "createConnection",
  "createLogFollowers",
  "createLogReader",
  "createPresence",
  "migrate",
  "toListedSession",
];
const ownVersions = ["version"]; // Each package has its own.
const allowed = [...partsOfStores, ...ownVersions];

describe("a name that is exported", () => {
  const found = findShared(readSources());

  test("has one meaning: no other file exports it", () => {
    const shared = [...found].filter(([name]) => !allowed.includes(name));
    expect(shared.map(([name, files]) => `${name}: ${files.join(", ")}`)).toEqual([]);
  });

  test("is allowed in several files only while it is in several", () => {
    expect(allowed.filter((name) => !found.has(name))).toEqual([]);
  });

  test("is allowed in several files as a part of stores only there", () => {
    const elsewhere = partsOfStores.filter((name) =>
      found.get(name)?.some((file) => !file.startsWith("packages/sessions/src/")),
    );
    expect(elsewhere).toEqual([]);
  });
});

test("a shared name is found, whatever it names", () => {
  const shared = findShared([
    { path: "a.ts", text: "export function one() {}\nexport type Two = 1;\nconst three = 1;" },
    { path: "b.ts", text: "export const one = 1, four = 2;\nexport class Two {}" },
    { path: "c.ts", text: "export { one } from './a.ts';\nexport const three = 1;" },
  ]);
  expect([...shared]).toEqual([
    ["one", ["a.ts", "b.ts"]],
    ["Two", ["a.ts", "b.ts"]],
  ]);
});

interface SourceText {
  readonly path: string;
  readonly text: string;
}

function readSources(): SourceText[] {
  const tracked = execFileSync("git", ["ls-files", "packages"], { cwd: root, encoding: "utf8" });
  return tracked
    .split("\n")
    .filter((path) => isSource.test(path))
    .map((path) => ({ path, text: readFileSync(join(root, path), "utf8") }));
}

/** The names that several files declare and export, with the files. */
function findShared(sources: readonly SourceText[]): Map<string, string[]> {
  const files = new Map<string, string[]>();
  for (const { path, text } of sources) {
    const { statements } = ts.createSourceFile(path, text, ts.ScriptTarget.Latest);
    for (const name of new Set(statements.flatMap(exportedNames))) {
      files.set(name, [...(files.get(name) ?? []), path]);
    }
  }
  return new Map([...files].filter(([, paths]) => paths.length > 1));
}

function exportedNames(statement: ts.Statement): string[] {
  const modifiers = ts.canHaveModifiers(statement) ? (ts.getModifiers(statement) ?? []) : [];
  if (!modifiers.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword)) return [];
  if (ts.isVariableStatement(statement)) {
    const { declarations } = statement.declarationList;
    return declarations.flatMap(({ name }) => (ts.isIdentifier(name) ? [name.text] : []));
  }
  const { name } = statement as { name?: ts.Node };
  return name && ts.isIdentifier(name) ? [name.text] : [];
}
