// Every requirement has one row in docs/contributing/requirements.md, and every test that a row
// names exists.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { root } from "./lib/workspace.mjs";

const required = [...codes("M", [1, 341]), ...codes("C", [1, 42]), ...codes("H", [1, 21])];

if (process.argv[1] === fileURLToPath(import.meta.url)) main();

function main() {
  const page = "docs/contributing/requirements.md";
  const rows = readRows(readFileSync(join(root, page), "utf8"));
  const faults = findFaults(rows, { required, read });
  for (const fault of faults) console.error(`${page}: ${fault}`);
  const tests = new Set(
    rows.flatMap(({ tests }) => tests.map((test) => Object.values(test).join())),
  );
  if (faults.length === 0)
    console.log(`${rows.length} requirements, shown by ${tests.size} tests.`);
  process.exitCode = faults.length === 0 ? 0 : 1;
}

/** The rows of the tables whose first column is `code`: `{ code, proof, needs, tests: [{ path, name }] }`. */
export function readRows(text) {
  const rows = [];
  let inTable = false;
  for (const line of text.split("\n")) {
    if (!line.startsWith("|")) inTable = false;
    else if (/^\|\s*code\s*\|/.test(line)) inTable = true;
    else if (inTable && !/^\|[\s|:-]+$/.test(line)) {
      const cells = line
        .split("|")
        .slice(1, -1)
        .map((cell) => cell.trim());
      const proof = cells[3] ?? "";
      const needs = /\bneeds [A-Z]\w+/.exec(`${cells[2]} ${proof}`)?.[0];
      rows.push({ code: cells[0], cells: cells.length, proof, needs, tests: readTests(proof) });
    }
  }
  return rows;
}

/** What is wrong with the rows, a sentence each. `read(path)` gives a file's text, or undefined. */
export function findFaults(rows, { required: wanted, read: readFile }) {
  const faults = [];
  for (const code of wanted) {
    const found = rows.filter((row) => row.code === code).length;
    if (found !== 1) faults.push(`${code} has ${found} rows; one is wanted.`);
  }
  for (const { code, cells, proof, needs, tests } of rows) {
    if (cells !== 4) faults.push(`${code} has ${cells} cells; four are wanted.`);
    if (tests.length === 0 && !proof.startsWith("background:")) {
      faults.push(`${code} names no test and is no background.`);
    }
    let isAlwaysShown = tests.length === 0;
    for (const { path, name } of tests) {
      const text = readFile(path);
      const places = text === undefined ? [] : findTest(text, name);
      if (text === undefined) faults.push(`${code} names ${path}, which is not there.`);
      else if (places.length === 0) faults.push(`${code}: ${path} has no test "${name}".`);
      const conditions = text === undefined ? [] : findConditions(text);
      const isFree = (at) => !conditions.some(([from, to]) => from <= at && at < to);
      if (places.length === 0 || places.some(isFree)) isAlwaysShown = true;
    }
    if (!isAlwaysShown && needs === undefined) {
      faults.push(
        `${code} names only tests that run under a condition; name one that always runs, or what they need, as in "needs Redis".`,
      );
    }
  }
  return faults;
}

// `path › name`, in one or two backticks.
function readTests(cell) {
  const spans = [...cell.matchAll(/(`+)(.+?)\1(?!`)/g)].map((match) => match[2].trim());
  return spans
    .filter((span) => span.includes(" › "))
    .map((span) => ({
      path: span.slice(0, span.indexOf(" › ")),
      name: span.slice(span.indexOf(" › ") + 3),
    }));
}

// Where the name is the first argument of a call that is not skipped.
function findTest(text, name) {
  const source = name.replaceAll(/[$()*+.?[\\\]^{|}]/g, "\\$&").replaceAll(/["'`]/g, "\\\\?$&");
  const call = new RegExp(`(?<!\\.(?:skip|todo|fails))\\(\\s*(["'\`])${source}\\1`, "g");
  return [...text.matchAll(call)].map(({ index }) => index);
}

// From where to where tests run only if something is so: `describe.skipIf(…)(…)` and its like.
function findConditions(text) {
  const starts = text.matchAll(/\b(?:describe|test|it)\.(?:skipIf|runIf|skip|todo)\b/g);
  return [...starts].map(({ index }) => [index, endOfCalls(text, index)]);
}

// Past the last of the calls that follow each other: `a.b(…).for(…)("name", () => {…})`.
function endOfCalls(text, start) {
  let at = text.indexOf("(", start);
  while (at >= 0) {
    at = closing(text, at) + 1;
    const next = /^(?:\s*\.\w+)?\s*\(/.exec(text.slice(at));
    if (!next) return at;
    at += next[0].length - 1;
  }
  return text.length;
}

// The bracket that closes the one at `open`; strings, comments and templates are passed over.
function closing(text, open) {
  let depth = 0;
  const token = /\/\/[^\n]*|\/\*[^]*?\*\/|(["'`])(?:\\[^]|(?!\1)[^\\])*\1|[()]/g;
  token.lastIndex = open;
  for (let match = token.exec(text); match; match = token.exec(text)) {
    if (match[0] === "(") depth++;
    else if (match[0] === ")" && --depth === 0) return match.index;
  }
  return text.length - 1;
}

function codes(letter, ...ranges) {
  return ranges.flatMap((range) => {
    const [first, last] = [range].flat();
    const count = (last ?? first) - first + 1;
    return Array.from({ length: count }, (_, index) => `${letter}${first + index}`);
  });
}

function read(path) {
  try {
    return readFileSync(join(root, path), "utf8");
  } catch {
    // The fault is the row's.
    return undefined;
  }
}
