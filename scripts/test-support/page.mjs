// Builds the playground's page when a source of it is newer than what was built.
import { existsSync, readdirSync, statSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { run } from "../lib/process.mjs";
import { root } from "../lib/workspace.mjs";

const folder = join(root, "packages", "playground");

/** Needs what was installed. Takes a second or two, and nothing when the page is up to date. */
export async function buildPage() {
  const built = join(folder, "dist", "page", "index.html");
  if (existsSync(built) && statSync(built).mtimeMs >= newest(join(folder, "page"))) return;
  const vite = createRequire(join(folder, "package.json")).resolve("vite/package.json");
  const command = [process.execPath, join(dirname(vite), "bin", "vite.js"), "build", "page"];
  const result = await run(command, { cwd: folder });
  if (result.code === 0) return;
  console.error(result.output);
  console.error("The playground's page could not be built; the reason is in the output above.");
  process.exit(1);
}

function newest(dir) {
  const files = readdirSync(dir, { recursive: true, withFileTypes: true });
  return Math.max(...files.map((file) => statSync(join(file.parentPath, file.name)).mtimeMs));
}
