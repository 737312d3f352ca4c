// What is measured is what is published: the built packages.
import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { findPnpm } from "../../scripts/lib/install.mjs";
import { run } from "../../scripts/lib/process.mjs";

const packages = fileURLToPath(new URL("../../packages/", import.meta.url));

/** Builds the packages the bench needs, if a source is newer than what was built from it. */
export async function buildIfNeeded(report) {
  // From the sources, through tsx, there is nothing to build.
  if (process.execArgv.some((flag) => flag.includes("@holodeck/source"))) return;
  if (readdirSync(packages).every(isBuilt)) return;
  report("Building the packages ...");
  const filter = ["-r", "--filter", "@holodeck/agui-bench^...", "--workspace-concurrency=2"];
  const { code, output } = await run([...findPnpm(), ...filter, "run", "build"]);
  if (code !== 0) throw new Error(`The packages could not be built.\n${output}`);
}

// Packages that the bench does not use may be unbuilt for good.
function isBuilt(name) {
  if (!used.has(name)) return true;
  const built = newest(join(packages, name, "dist"));
  return built > 0 && built >= newest(join(packages, name, "src"));
}

const used = new Set(
  "core protocol copilotkit vercel rest sessions middleware node express fastify hono agui".split(
    " ",
  ),
);

function newest(folder) {
  let latest = 0;
  for (const entry of entriesOf(folder)) {
    const path = join(folder, entry.name);
    latest = Math.max(latest, entry.isDirectory() ? newest(path) : statSync(path).mtimeMs);
  }
  return latest;
}

function entriesOf(folder) {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch {
    // Not built yet.
    return [];
  }
}
