// The outcomes of earlier runs, by the texts of the source and of the test file: only what changed is tried again.
import { createHash } from "node:crypto";
import { appendFileSync, existsSync, mkdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { root } from "../lib/workspace.mjs";

const folder = join(root, "node_modules", ".cache", "mutants");

/** The outcomes of an area: `find(mutant, test)` and `add(mutant, test, { outcome, by })`. */
export function createOutcomes(area) {
  mkdirSync(folder, { recursive: true });
  const file = join(folder, `${area}.jsonl`);
  const known = new Map();
  const lines = existsSync(file) ? readFileSync(file, "utf8").split("\n").filter(Boolean) : [];
  for (const line of lines) {
    const { key, ...outcome } = JSON.parse(line);
    known.set(key, outcome);
  }
  return {
    find: (mutant, test) => known.get(keyOf(mutant, test)),
    add(mutant, test, outcome) {
      const key = keyOf(mutant, test);
      known.set(key, outcome);
      appendFileSync(file, `${JSON.stringify({ key, name: mutant.name, test, ...outcome })}\n`);
    },
  };
}

const texts = new Map();

function keyOf({ path, name }, test) {
  return digest(name, textOf([path]), textOf(withHelpers(join(root, test))));
}

// A test file and the helpers that it imports, which stand beside it.
function withHelpers(file, known = new Set()) {
  known.add(file);
  for (const [, path] of readFileSync(file, "utf8").matchAll(
    / from "(\.\.?\/[^"]*_[^"/]+\.ts)";/g,
  )) {
    const helper = join(dirname(file), path);
    if (!known.has(helper)) withHelpers(helper, known);
  }
  return [...known];
}

function textOf(paths) {
  const key = paths[0];
  if (!texts.has(key)) texts.set(key, digest(...paths.map((path) => readFileSync(path, "utf8"))));
  return texts.get(key);
}

function digest(...parts) {
  const hash = createHash("sha256");
  for (const part of parts) hash.update(part).update("\0");
  return hash.digest("hex").slice(0, 24);
}
