import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { isParent, nameOf } from "./fuzz.ts";
import type { Target } from "./target.ts";

const folder = fileURLToPath(new URL("../corpus", import.meta.url));

/** The known inputs of a target, in the order of their names. */
export function readCorpus(target: Pick<Target, "name">): Uint8Array[] {
  return read(target, () => true);
}

/** Those of them that new ones are made from. */
export function readParents(target: Pick<Target, "name">): Uint8Array[] {
  return read(target, isParent);
}

function read({ name }: Pick<Target, "name">, isRead: (file: string) => boolean): Uint8Array[] {
  const own = join(folder, name);
  const files = readdirSync(own).filter(isRead).sort();
  // A find is not the last: the others are usual ones.
  const [finds, usual] = [files.filter(isFind), files.filter((file) => !isFind(file))];
  return [...finds, ...usual].map((file) => new Uint8Array(readFileSync(join(own, file))));
}

function isFind(file: string): boolean {
  return /^(?:find|slow)-/.test(file);
}

/** Keeps an input that failed, so that it is fed first from now on. Returns where it is. */
export function keep(
  { name, extension }: Pick<Target, "name" | "extension">,
  find: Parameters<typeof nameOf>[0],
): string {
  const own = join(folder, name);
  mkdirSync(own, { recursive: true });
  const path = join(own, `${nameOf(find)}.${extension}`);
  writeFileSync(path, find.input);
  return relative(process.cwd(), path);
}
