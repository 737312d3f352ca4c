// The next version of all packages, from the changesets: manifests, CHANGELOGs, and the version that the server answers.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { run } from "./process.mjs";
import { bin, readJson } from "./workspace.mjs";

/** Versions the packages of the workspace in `folder`. Resolves to the exit code and the output of changesets. */
export async function versionPackages(folder) {
  const result = await run([...bin("@changesets/cli"), "version"], { cwd: folder });
  if (result.code !== 0) return result;
  const file = join(folder, "packages/agui/src/describe/version.ts");
  const { version } = readJson(join(folder, "packages/agui/package.json"));
  writeFileSync(file, readFileSync(file, "utf8").replace(/"[^"]*"/, JSON.stringify(version)));
  return result;
}
