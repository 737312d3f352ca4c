// What every script here shares. No dependencies: it runs before anything is installed.
import { spawn, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { userInfo } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

export const root = dirname(dirname(fileURLToPath(import.meta.url)));

const pnpmVersion = "12.18.0";
const stampFile = join(root, "node_modules", ".holodeck-stamp");

/** Ends the process with one sentence when Node is too old. */
export function requireNode() {
  const [major, minor] = process.versions.node.split(".").map(Number);
  if (major > 20 || (major === 20 && minor >= 19)) return;
  console.error(`Node 20.19 or newer is needed; this is Node ${process.versions.node}.`);
  process.exit(1);
}

/** The environment for child processes, with a HOME even where there is none. */
export function childEnv(extra = {}) {
  const env = { ...process.env, ...extra };
  if (!env.HOME && process.platform !== "win32") env.HOME = userInfo().homedir;
  return env;
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
    console.error("The dependencies could not be installed; the output above says why.");
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
  const manifests = [...workspaceDirs(), "bench", "docs"].map((dir) => `${dir}/package.json`);
  const files = ["pnpm-lock.yaml", "pnpm-workspace.yaml", "package.json", ...manifests];
  for (const file of files) {
    const path = join(root, file);
    if (existsSync(path)) hash.update(`\0${file}\0`).update(readFileSync(path));
  }
  return hash.digest("hex");
}

/** Runs a command to its end and keeps what it printed. */
export function run([command, ...args], options = {}) {
  const { cwd = root, env = {}, timeoutMs = 600_000 } = options;
  return new Promise((resolve) => {
    const child = spawn(command, args, {
      cwd,
      env: childEnv({ NO_COLOR: "1", FORCE_COLOR: undefined, ...env }),
      stdio: ["ignore", "pipe", "pipe"],
      shell: process.platform === "win32",
    });
    let output = "";
    let stdout = "";
    const timer = setTimeout(() => {
      output += `\nStopped after ${timeoutMs / 1000} s.`;
      child.kill("SIGKILL");
    }, timeoutMs);
    child.stdout.on("data", (chunk) => {
      output += chunk;
      stdout += chunk;
    });
    child.stderr.on("data", (chunk) => (output += chunk));
    child.on("error", (error) => {
      clearTimeout(timer);
      resolve({ code: 1, output: `${output}${error.message}`, stdout });
    });
    child.on("close", (code) => {
      clearTimeout(timer);
      resolve({ code: code ?? 1, output, stdout });
    });
  });
}

/** Runs a command on this terminal, hands signals on to it, and resolves to its exit code. */
export function runHere([command, ...args]) {
  return new Promise((resolve) => {
    const child = spawn(command, args, {
      cwd: root,
      env: childEnv(process.stdout.isTTY ? {} : { NO_COLOR: "1", FORCE_COLOR: undefined }),
      stdio: "inherit",
    });
    const signals = ["SIGINT", "SIGTERM", "SIGHUP"];
    const forward = (signal) => child.kill(signal);
    for (const signal of signals) process.on(signal, forward);
    // npm hands SIGTERM to its shell, and a shell dies without handing it on: we notice as orphans.
    const parent = process.ppid;
    const watch = setInterval(() => {
      if (process.ppid !== parent) child.kill("SIGTERM");
    }, 500);
    child.on("error", (error) => {
      clearInterval(watch);
      console.error(error.message);
      resolve(1);
    });
    child.on("exit", (code, signal) => {
      clearInterval(watch);
      for (const name of signals) process.off(name, forward);
      resolve(code ?? (signal ? 1 : 0));
    });
  });
}

/** A script of an installed package, started with this very Node: `bin("vitest", "vitest.mjs")`. */
export function bin(name, file) {
  const dir = join(root, "node_modules", name);
  const declared = readJson(join(dir, "package.json")).bin;
  const path = file ?? (typeof declared === "string" ? declared : Object.values(declared)[0]);
  return [process.execPath, join(dir, path)];
}

/** `1.2 s` since a moment of `Date.now()`. */
export function seconds(since) {
  return `${((Date.now() - since) / 1000).toFixed(1)} s`;
}

function readDirs(dir) {
  if (!existsSync(dir)) return [];
  return readdirSync(dir, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map((entry) => entry.name)
    .sort();
}
