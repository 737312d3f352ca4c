// The peers live outside the workspace, so that working on the library does not install them.
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

const source = fileURLToPath(new URL("../peers/", import.meta.url));
const work = fileURLToPath(new URL("../subjects/_work.mjs", import.meta.url));
export const peersFolder = fileURLToPath(
  new URL("../../node_modules/.cache/bench-peers/", import.meta.url),
);

/** Installs what is locked, unless it is there, and puts the subjects beside it. */
export function installPeers(report) {
  mkdirSync(peersFolder, { recursive: true });
  const files = ["package.json", "package-lock.json", ".npmrc"];
  const hash = createHash("sha256");
  for (const file of files) hash.update(readFileSync(join(source, file)));
  const stamp = hash.digest("hex");
  const stampFile = join(peersFolder, ".stamp");
  const isThere = existsSync(stampFile) && readFileSync(stampFile, "utf8") === stamp;
  if (!isThere) {
    report("Installing the peers: about 380 packages and 390 MB, once. This takes a few minutes.");
    for (const file of files) copyFileSync(join(source, file), join(peersFolder, file));
    const command = ["ci", "--ignore-scripts", "--no-fund", "--no-audit", "--loglevel=error"];
    const { status } = spawnSync("npm", command, {
      cwd: peersFolder,
      stdio: ["ignore", "ignore", "inherit"],
      shell: process.platform === "win32",
    });
    if (status !== 0)
      throw new Error("The peers could not be installed; npm printed the reason above.");
    writeFileSync(stampFile, stamp);
  }
  // Next to their packages they import them like any project.
  copyFileSync(work, join(peersFolder, "_work.mjs"));
  for (const file of readdirSync(join(source, "subjects"))) {
    copyFileSync(join(source, "subjects", file), join(peersFolder, file));
  }
}

/** Where a subject's module is, as a URL. */
export function subjectUrl(module) {
  if (module.startsWith("peers/")) {
    return pathToFileURL(join(peersFolder, `${module.slice("peers/".length)}.mjs`)).href;
  }
  return new URL(`../subjects/${module}.mjs`, import.meta.url).href;
}
