import { existsSync, statSync } from "node:fs";
import { createRequire } from "node:module";
import { join, resolve } from "node:path";

/** The file of a module that is named in a folder: one of its files, or a package that is installed there. */
export function findModule(folder: string, name: string): string {
  const file = resolve(folder, name);
  if (existsSync(file) && statSync(file).isFile()) return file;
  if (/^(?:\.{0,2}\/|[A-Za-z]:\\)/.test(name)) throw new Error(`There is no file ${file}.`);
  try {
    return createRequire(join(folder, "_")).resolve(name);
  } catch (cause) {
    throw new Error(`There is neither a file nor a package "${name}".`, { cause });
  }
}
