// Every requirement of the founding documents has one row in docs/requirements.md, and every test
// that a row names exists.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { root } from "./lib.mjs";

const required = [...codes("M", [1, 341]), ...codes("C", [1, 42]), ...codes("H", [1, 21])];

if (process.argv[1] === fileURLToPath(import.meta.url)) main();

function main() {
  const page = "docs/requirements.md";
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

/** The rows of the tables whose first column is `code`: `{ code, proof, tests: [{ path, name }] }`. */
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
      rows.push({ code: cells[0], cells: cells.length, proof, tests: readTests(proof) });
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
  for (const { code, cells, proof, tests } of rows) {
    if (cells !== 4) faults.push(`${code} has ${cells} cells; four are wanted.`);
    const isOwned = /\bissue [6-9]\b/.test(proof) || proof.startsWith("background:");
    if (tests.length === 0 && !isOwned) {
      faults.push(`${code} names no test, no issue from 6 to 9, and is no background.`);
    }
    for (const { path, name } of tests) {
      const text = readFile(path);
      if (text === undefined) faults.push(`${code} names ${path}, which is not there.`);
      else if (!hasTest(text, name)) faults.push(`${code}: ${path} has no test "${name}".`);
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

// The name as the first argument of a call that is not skipped.
function hasTest(text, name) {
  const source = name.replaceAll(/[$()*+.?[\\\]^{|}]/g, "\\$&").replaceAll(/["'`]/g, "\\\\?$&");
  return new RegExp(`(?<!\\.(?:skip|todo|fails))\\(\\s*(["'\`])${source}\\1`).test(text);
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
