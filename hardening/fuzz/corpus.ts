import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { nameOf } from "./fuzz.ts";
import type { Target } from "./target.ts";

const folder = fileURLToPath(new URL("../corpus", import.meta.url));

/** The known inputs of a target, in the order of their names. */
export function readCorpus({ name }: Pick<Target, "name">): Uint8Array[] {
  const own = join(folder, name);
  const files = readdirSync(own).sort();
  return files.map((file) => new Uint8Array(readFileSync(join(own, file))));
}

/** Keeps an input that failed, so that it is fed first from now on. Returns where it is. */
export function keep(
  { name, extension }: Pick<Target, "name" | "extension">,
  input: Uint8Array,
): string {
  const own = join(folder, name);
  mkdirSync(own, { recursive: true });
  const path = join(own, `${nameOf(input)}.${extension}`);
  writeFileSync(path, input);
  return relative(process.cwd(), path);
}
