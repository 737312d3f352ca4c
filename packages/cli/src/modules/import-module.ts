import { existsSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, extname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { AgentFault } from "../shared/agent-fault.ts";
import { findPlace, readSyntaxError } from "./error-place.ts";

/** A module of the user's, and the files that were read for it. */
export interface ImportedModule {
  readonly exports: Readonly<Record<string, unknown>>;
  readonly files: readonly string[];
}

/**
 * Imports a TypeScript or JavaScript file as it is now, with what it imports itself. What is in
 * `node_modules` is Node's to import, and stays as it is.
 */
export async function importModule(path: string): Promise<ImportedModule> {
  if (!isOwn(path)) return { exports: await importForeign(path), files: [] };
  const source = readSource(path);
  const { createJiti } = await import("jiti");
  const options = { moduleCache: false, interopDefault: false };
  const jiti = createJiti(path, { ...options, fsCache: cacheFolder(path) ?? false });
  const { cache: required } = createRequire(path);
  for (const file of Object.keys(required)) if (isOwn(file)) delete required[file];
  const cache: Record<string, never> = {};
  const files = (): string[] => [
    path,
    ...Object.keys(cache),
    ...Object.keys(required).filter(isOwn),
  ];

  const { stackTraceLimit } = Error;
  // The frame that counts may be far below those of a library.
  Error.stackTraceLimit = 100;
  try {
    const module: unknown = await jiti.evalModule(source, {
      filename: path,
      ext: extname(path),
      async: true,
      // Node would keep the first version of a module that it imports itself.
      forceTranspile: true,
      cache,
    });
    return { exports: module as ImportedModule["exports"], files: files() };
  } catch (error) {
    const mapped = createJiti(path, { ...options, fsCache: false, sourceMaps: true });
    throw toFault(error, { file: path, files: files(), transform: mapped.transform });
  } finally {
    Error.stackTraceLimit = stackTraceLimit;
  }
}

async function importForeign(path: string): Promise<ImportedModule["exports"]> {
  return (await import(/* @vite-ignore */ pathToFileURL(path).href)) as ImportedModule["exports"];
}

function isOwn(file: string): boolean {
  return !/[\\/]node_modules[\\/]/.test(file);
}

function readSource(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    const reason = code === "ENOENT" ? "There is no such file." : (error as Error).message;
    throw new AgentFault(reason, { file: path }, { cause: error });
  }
}

// Transpiled code is cached in the project only: in a world-writable folder, another user could
// replace it with other code.
function cacheFolder(path: string): string | undefined {
  for (let dir = dirname(path); ; dir = dirname(dir)) {
    const modules = join(dir, "node_modules");
    if (existsSync(modules)) return join(modules, ".cache", "holodeck");
    if (dir === dirname(dir)) return undefined;
  }
}

function toFault(
  error: unknown,
  where: { file: string; files: readonly string[] } & Parameters<typeof findPlace>[1],
): AgentFault {
  const { file, files } = where;
  const unread = readSyntaxError(error);
  if (unread) return new AgentFault(unread.message, unread.place, { cause: error, files });
  const place = findPlace(error, where) ?? { file };
  return new AgentFault(describe(error), place, { cause: error, files });
}

function describe(error: unknown): string {
  if (!(error instanceof Error)) return `It threw ${String(error)}.`;
  // The location already names the requiring file.
  const message = error.message.replace(/\nRequire stack:[\s\S]*$/, "");
  return error.name === "Error" ? message : `${error.name}: ${message}`;
}
