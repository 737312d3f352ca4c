// Removes types from the sources that a process of a test loads; see typescript.mjs. What was made of a text is kept.
import { createHash } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const root = new URL("../../", import.meta.url).href;
const folder = fileURLToPath(`${root}node_modules/.cache/plain-sources/`);
mkdirSync(folder, { recursive: true });

export async function load(url, context, next) {
  const [path] = url.split("?");
  // What users write is not ours to read.
  if (!path.startsWith(root) || !path.endsWith(".ts")) return next(url, context);
  const source = await toPlain(readFileSync(fileURLToPath(path), "utf8"));
  return { format: "module", shortCircuit: true, source };
}

/** For vitest, before all tests: many processes that start at once would all make the same. */
export async function setup() {
  const packages = fileURLToPath(`${root}packages`);
  for (const dir of readdirSync(packages).flatMap((name) => [`${name}/src`, `${name}/test`])) {
    const files = readdirSync(join(packages, dir), { recursive: true });
    for (const file of files.filter((name) => /(?<!\.test)\.ts$/.test(name))) {
      await toPlain(readFileSync(join(packages, dir, file), "utf8"));
    }
  }
}

async function toPlain(text) {
  const file = join(folder, `${createHash("sha256").update(text).digest("hex").slice(0, 32)}.js`);
  try {
    return readFileSync(file, "utf8");
  } catch {
    const made = await transpile(text);
    const own = `${file}.${process.pid}`;
    writeFileSync(own, made);
    renameSync(own, file);
    return made;
  }
}

async function transpile(text) {
  const { default: ts } = await import("typescript");
  const compilerOptions = { target: "ES2023", module: "ESNext", verbatimModuleSyntax: true };
  return ts.transpileModule(text, { compilerOptions }).outputText;
}
