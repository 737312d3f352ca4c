// Runtimes and frameworks live outside the workspace: only those that check hosts install them.
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { copyFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const source = fileURLToPath(new URL("../peers/", import.meta.url));

/** Where bundles and peers are. */
export const cache: string = fileURLToPath(
  new URL("../../node_modules/.cache/hosts/", import.meta.url),
);

/** Installs a group of peers as its lock has them, unless they are there. Returns their folder. */
export function installPeers(group: string): string {
  const folder = join(cache, group);
  mkdirSync(folder, { recursive: true });
  const files = ["package.json", "package-lock.json", ".npmrc"];
  const hash = createHash("sha256");
  for (const file of files) hash.update(readFileSync(join(source, group, file)));
  const stamp = hash.digest("hex");
  const stampFile = join(folder, ".stamp");
  if (existsSync(stampFile) && readFileSync(stampFile, "utf8") === stamp) return folder;
  console.log(`Installing what the hosts of "${group}" need, once.`);
  for (const file of files) copyFileSync(join(source, group, file), join(folder, file));
  // Not `ci`: it wants the binaries of every platform in the lock, and registries leave some out.
  const command = [
    "install",
    "--no-save",
    "--ignore-scripts",
    "--no-fund",
    "--no-audit",
    "--loglevel=error",
  ];
  const { status } = spawnSync("npm", command, {
    cwd: folder,
    stdio: ["ignore", "ignore", "inherit"],
  });
  if (status !== 0) throw new Error(`"${group}" could not be installed; npm printed the reason.`);
  writeFileSync(stampFile, stamp);
  return folder;
}
