// Node, pnpm and the locked dependencies. It imports no dependency: it runs before anything is installed.
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { childEnv, run, seconds } from "./process.mjs";
import { root, workspaceDirs } from "./workspace.mjs";

const pnpmVersion = "12.18.0";
const stampFile = join(root, "node_modules", ".holodeck-stamp");

/** Ends the process with one sentence when Node is too old. */
export function requireNode() {
  const [major, minor] = process.versions.node.split(".").map(Number);
  if (major > 20 || (major === 20 && minor >= 19)) return;
  console.error(`Node 20.19 or newer is needed; this is Node ${process.versions.node}.`);
  process.exit(1);
}

/** The command that runs pnpm 12: the one on PATH, else through npx. */
export function findPnpm() {
  const found = spawnSync("pnpm", ["--version"], {
    cwd: root,
    env: childEnv({ COREPACK_ENABLE_DOWNLOAD_PROMPT: "0" }),
    encoding: "utf8",
    timeout: 30_000,
    shell: process.platform === "win32",
  });
  const major = pnpmVersion.split(".")[0];
  if (found.status === 0 && found.stdout.trim().startsWith(`${major}.`)) return ["pnpm"];
  return ["npx", "-y", `pnpm@${pnpmVersion}`];
}

/** Installs the locked dependencies, unless they are the ones of the last time. */
export async function install() {
  const stamp = installStamp();
  if (isInstalled(stamp)) return;
  const [command, ...args] = findPnpm();
  const via = command === "npx" ? `pnpm ${pnpmVersion} through npx` : "pnpm";
  console.log(`Installing dependencies (${via}) ...`);
  const started = Date.now();
  // CI: pnpm must not ask whether it may replace a node_modules of another layout.
  const result = await run([command, ...args, "install", "--frozen-lockfile"], {
    env: { CI: "true" },
  });
  if (result.code !== 0) {
    console.error(result.output);
    console.error("The dependencies could not be installed; the reason is in the output above.");
    process.exit(1);
  }
  writeFileSync(stampFile, stamp);
  console.log(`Installed in ${seconds(started)}.`);
}

function isInstalled(stamp) {
  const written = existsSync(stampFile) && readFileSync(stampFile, "utf8") === stamp;
  return written && existsSync(join(root, "node_modules", "vitest"));
}

function installStamp() {
  const hash = createHash("sha256").update(`${process.platform} ${process.arch}`);
  const manifests = [...workspaceDirs(), "bench", "docs", "hardening", "hosts"].map(
    (dir) => `${dir}/package.json`,
  );
  const files = ["pnpm-lock.yaml", "pnpm-workspace.yaml", "package.json", ...manifests];
  for (const file of files) {
    const path = join(root, file);
    if (existsSync(path)) hash.update(`\0${file}\0`).update(readFileSync(path));
  }
  return hash.digest("hex");
}
