import { watch } from "node:fs";
import type { FSWatcher } from "node:fs";
import { basename, dirname, extname, join } from "node:path";

/** Notifies when one of a set of files changes. */
export interface FileWatch {
  /** These as well. */
  add(files: readonly string[]): void;
  close(): void;
}

// An editor writes a file in several steps.
const quietMs = 50;
const codeTypes = [".ts", ".mts", ".cts", ".js", ".mjs", ".cjs", ".json", ".yaml", ".yml"];

/**
 * Watches the folders of the files rather than the files: most editors write a new file and give it the
 * name of the old one. A new file of code in one of them counts as well: it may be what was missing.
 */
export function watchFiles(onChange: () => void): FileWatch {
  const folders = new Map<string, FSWatcher>();
  const known = new Set<string>();
  let timer: NodeJS.Timeout | undefined;

  function look(folder: string, name: string | null, kind: string): void {
    const isKnown = name === null || known.has(join(folder, name));
    const isNew = kind === "rename" && codeTypes.includes(extname(name ?? ""));
    if (!isKnown && !isNew) return;
    clearTimeout(timer);
    timer = setTimeout(onChange, quietMs);
  }

  function open(folder: string): void {
    try {
      // The server keeps the process, not this.
      const watcher = watch(folder, { persistent: false }, (kind, name) =>
        look(folder, name && basename(name), kind),
      );
      watcher.on("error", () => remove(folder));
      folders.set(folder, watcher);
    } catch {
      // It was deleted; importing it will fail.
    }
  }

  function remove(folder: string): void {
    folders.get(folder)?.close();
    folders.delete(folder);
  }

  return {
    add(files) {
      for (const file of files) {
        known.add(file);
        if (!folders.has(dirname(file))) open(dirname(file));
      }
    },
    close() {
      clearTimeout(timer);
      for (const folder of folders.keys()) remove(folder);
    },
  };
}
