// Where the repository and its packages are. No dependencies: it runs before anything is installed.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

export const root = resolve(fileURLToPath(new URL("../..", import.meta.url)));

/** The directories of the workspace's packages, as `packages/core`. */
export function workspaceDirs(parents = ["packages", "examples"]) {
  return parents.flatMap((parent) =>
    readDirs(join(root, parent))
      .map((name) => `${parent}/${name}`)
      .filter((dir) => existsSync(join(root, dir, "package.json"))),
  );
}

/** The packages that are published: `{ dir, manifest }`. */
export function publicPackages() {
  return workspaceDirs(["packages"])
    .map((dir) => ({ dir, manifest: readJson(join(root, dir, "package.json")) }))
    .filter(({ manifest }) => !manifest.private);
}

export function readJson(file) {
  return JSON.parse(readFileSync(file, "utf8"));
}

/** A script of an installed package, started with this very Node: `bin("vitest", "vitest.mjs")`. */
export function bin(name, file) {
  const dir = join(root, "node_modules", name);
  const declared = readJson(join(dir, "package.json")).bin;
  const path = file ?? (typeof declared === "string" ? declared : Object.values(declared)[0]);
  return [process.execPath, join(dir, path)];
}

function readDirs(dir) {
  if (!existsSync(dir)) return [];
  return readdirSync(dir, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map((entry) => entry.name)
    .sort();
}
