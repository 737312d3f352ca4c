// The figures of the source: small files, few files in a folder, few fields in a class.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import ts from "typescript";
import { expect, test } from "vitest";

const root = fileURLToPath(new URL("../..", import.meta.url));

const maxLines = 400;
const usualLines = 300;
const maxMedian = 100;
const maxP90 = 220;
const maxFiles = 20;
const maxFilesOfCore = 12;
const maxFields = 20;
// Used only by files that have a process to themselves.
const alone = ["packages/vercel/test/_v4-page.ts"];

interface SourceFile {
  readonly path: string;
  readonly text: string;
  readonly lines: number;
}

const files = sourceFolders().flatMap(readSources);

test("no file is longer than 400 lines", () => {
  const long = files.filter(({ lines }) => lines > maxLines);
  expect(long.map(describeLines)).toEqual([]);
});

test("a file of more than 300 lines begins with its reason", () => {
  const long = files.filter(({ lines, text }) => lines > usualLines && !/^\/\/ \w/.test(text));
  expect(long.map(describeLines)).toEqual([]);
});

test("half of the files have at most 100 lines, nine of ten at most 220", () => {
  const lines = files.map((file) => file.lines).sort((a, b) => a - b);
  expect(lines[Math.floor(lines.length * 0.5)]).toBeLessThanOrEqual(maxMedian);
  expect(lines[Math.floor(lines.length * 0.9)]).toBeLessThanOrEqual(maxP90);
});

test("no folder has more than 20 files, and no room of core more than 12", () => {
  const counts = new Map<string, number>();
  for (const { path } of files) counts.set(dirname(path), (counts.get(dirname(path)) ?? 0) + 1);
  const full = [...counts].filter(([folder, count]) => {
    const isCore = folder.startsWith("packages/core/src");
    return count > (isCore ? maxFilesOfCore : maxFiles);
  });
  expect(full.map(([folder, count]) => `${folder}: ${count}`)).toEqual([]);
});

test("no class has more than 20 private fields", () => {
  const large = files.flatMap((file) =>
    classesIn(file)
      .filter(({ fields }) => fields > maxFields)
      .map(({ name, fields }) => `${file.path}: ${name} has ${fields}`),
  );
  expect(large).toEqual([]);
});

// Test files share processes: a helper is loaded for the first of them only, and so would be its hooks.
test("no helper of tests has a hook at its top level", () => {
  const folders = readdirSync(join(root, "packages")).map((name) => `packages/${name}/test`);
  const helpers = folders
    .filter((folder) => existsSync(join(root, folder)))
    .flatMap(readSources)
    .filter(({ path }) => !path.endsWith(".test.ts") && !alone.includes(path));
  const hooked = helpers.filter(({ text }) => /^(before|after)(Each|All)\(/m.test(text));
  expect(hooked.map(({ path }) => path)).toEqual([]);
});

function sourceFolders(): string[] {
  const packages = readdirSync(join(root, "packages"));
  return [...packages.map((name) => `packages/${name}/src`), "packages/playground/page"];
}

function readSources(folder: string): SourceFile[] {
  return readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /\.tsx?$/.test(entry.name))
    .map((entry) => {
      const whole = join(entry.parentPath, entry.name);
      const text = readFileSync(whole, "utf8");
      const path = relative(root, whole).replaceAll("\\", "/");
      return { path, text, lines: text.split("\n").length - 1 };
    });
}

function describeLines({ path, lines }: SourceFile): string {
  return `${path}: ${lines}`;
}

function classesIn({ path, text }: SourceFile): { name: string; fields: number }[] {
  // Most files have none, and parsing is what takes the time here.
  if (!/\bclass\b/.test(text)) return [];
  const found: { name: string; fields: number }[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isClassLike(node)) {
      const name = node.name?.text ?? "a class";
      found.push({ name, fields: node.members.filter(isPrivateField).length });
    }
    ts.forEachChild(node, visit);
  };
  visit(ts.createSourceFile(path, text, ts.ScriptTarget.Latest));
  return found;
}

function isPrivateField(member: ts.ClassElement): boolean {
  if (!ts.isPropertyDeclaration(member)) return false;
  if (ts.isPrivateIdentifier(member.name)) return true;
  return member.modifiers?.some(({ kind }) => kind === ts.SyntaxKind.PrivateKeyword) ?? false;
}
