import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

/** This package, wherever it is installed: its folder and its version. */
export function findOwnPackage(): { folder: string; version: string } {
  let folder = dirname(fileURLToPath(import.meta.url));
  // From `src/init` it is two folders up, from `dist` one.
  while (!existsSync(join(folder, "package.json"))) folder = dirname(folder);
  const { version } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as {
    version: string;
  };
  return { folder, version };
}
