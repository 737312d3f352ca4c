import { existsSync, statSync } from "node:fs";
import { createRequire } from "node:module";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";

export interface ImportedModule {
  /** Undefined for what is no file of the project. */
  readonly file: string | undefined;
  readonly exports: Readonly<Record<string, unknown>>;
}

// What Node says of TypeScript that it cannot read by itself.
const needsTransform = new Set([
  "ERR_UNKNOWN_FILE_EXTENSION",
  "ERR_UNSUPPORTED_TYPESCRIPT_SYNTAX",
  "ERR_UNSUPPORTED_NODE_MODULES_TYPE_STRIPPING",
]);

/** Loads a module of the file's folder, or a package that is installed there. */
export async function importModule(folder: string, name: string): Promise<ImportedModule> {
  const file = resolve(folder, name);
  const isFile = existsSync(file) && statSync(file).isFile();
  if (isFile) return { file, exports: await importFile(file) };
  if (/^(?:\.{0,2}\/|[A-Za-z]:\\)/.test(name)) throw new Error(`There is no file ${file}.`);
  return { file: undefined, exports: await importFile(find(folder, name)) };
}

function find(folder: string, name: string): string {
  try {
    return createRequire(resolve(folder, "agent.yaml")).resolve(name);
  } catch (cause) {
    throw new Error(`There is neither a file nor a package "${name}".`, { cause });
  }
}

async function importFile(file: string): Promise<Record<string, unknown>> {
  // A file that was changed is another module.
  const url = `${pathToFileURL(file).href}?t=${Math.trunc(statSync(file).mtimeMs)}`;
  try {
    return (await import(/* @vite-ignore */ url)) as Record<string, unknown>;
  } catch (error) {
    const { code } = error as { code?: string };
    if (code === undefined || !needsTransform.has(code)) throw error;
  }
  const { createJiti } = await import("jiti");
  return createJiti(import.meta.url, {
    moduleCache: false,
    interopDefault: false,
    // In a folder that everybody can write to, anybody could put code of their own into the cache.
    fsCache: false,
  }).import(file);
}
