// `npm run check:fresh`: the two commands of the README on a machine that has only Node and npm.
// Clones HEAD into an empty folder with an empty HOME and a PATH without pnpm. `--cold` also
// leaves out this machine's package caches.
import { execFileSync, spawn, spawnSync } from "node:child_process";
import {
  accessSync,
  constants,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  rmSync,
  symlinkSync,
} from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { requireNode } from "./lib/install.mjs";
import { run } from "./lib/process.mjs";
import { root } from "./lib/workspace.mjs";

requireNode();

const cold = process.argv.includes("--cold");
const part = "packages/core";
const folder = mkdtempSync(join(realpathSync(tmpdir()), "holodeck-fresh-"));
const clone = join(folder, "clone");
const env = freshEnvironment();
let passed = 0;

try {
  await main();
  console.log(`fresh: ${passed} passed, 0 failed`);
} catch (error) {
  console.error(error.message);
  console.log(`fresh: ${passed} passed, 1 failed`);
  process.exitCode = 1;
} finally {
  rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
}
// A child that would not end must not keep us.
process.exit();

async function main() {
  if (git("status", "--porcelain") !== "") {
    console.log("Note: what is not committed is not in the clone.");
  }
  execFileSync("git", ["clone", "--quiet", "--no-hardlinks", root, clone]);
  const pnpm = spawnSync("pnpm", ["--version"], { env, cwd: clone });
  check("PATH has no pnpm", pnpm.error?.code === "ENOENT");

  const first = await demo("first", (_npm, server) => process.kill(server, "SIGTERM"));
  check("the demo answers a fresh clone with a whole run", isWholeRun(first.events));
  check("the demo ends on SIGTERM with code 0", first.code === 0, first.output);

  const suite = await run(["npm", "test", "--", part], { cwd: clone, env, timeoutMs: 900_000 });
  const counts = /^(\d+) passed, 0 failed(, \d+ skipped)?$/m.exec(suite.output);
  check(`npm test runs ${part}`, suite.code === 0 && Number(counts?.[1]) > 0, suite.output);

  const second = await demo("second", (npm) => npm.kill("SIGTERM"));
  check("the second demo answers, and ends with npm itself", isWholeRun(second.events));
  check("the second demo installs nothing", !/Installing/.test(second.output), second.output);
  const ratio = second.startMs / first.startMs;
  check(`the second start takes ${ratio.toFixed(2)} of the first`, ratio < 0.8, second.output);
}

function check(name, isOk, output = "") {
  if (!isOk) throw new Error(`FAIL ${name}\n${output}`);
  passed += 1;
  console.log(`ok ${name}`);
}

// Starts the demo, asks it for one run, and stops it.
async function demo(name, stop) {
  const port = await freePort();
  const started = performance.now();
  const child = spawn("npm", ["run", "demo", "--", "--port", String(port)], {
    cwd: clone,
    env,
    stdio: ["ignore", "pipe", "pipe"],
  });
  let output = "";
  let server;
  const ended = new Promise((resolve) => {
    child.on("close", (code) => resolve(code));
  });
  try {
    const url = await new Promise((resolve, reject) => {
      const look = (chunk) => {
        output += chunk;
        server = Number(/process (\d+)/.exec(output)?.[1]);
        const found = /curl .* (http:\/\/\S+\/agui) /.exec(output);
        if (found && server > 0) resolve(found[1]);
      };
      child.stdout.on("data", look);
      child.stderr.on("data", look);
      child.on("error", reject);
      void ended.then((code) => reject(new Error(`It ended with code ${code}.`)));
      void afterSeconds(300).then(() => reject(new Error("It printed no URL in 5 minutes.")));
    });
    const startMs = performance.now() - started;
    const events = await ask(url);
    stop(child, server);
    // The pipes close when the last of npm, its shell and the server is gone.
    const code = await Promise.race([ended, afterSeconds(60)]);
    if (code === "late") throw new Error("It did not end within 60 s of SIGTERM.");
    return { startMs, events, code, output };
  } catch (error) {
    child.kill("SIGKILL");
    if (server > 0) kill(server);
    throw new Error(`FAIL the ${name} demo: ${error.message}\n${output}`, { cause: error });
  }
}

function kill(pid) {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // It is gone already.
  }
}

async function ask(url) {
  const response = await fetch(url, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ messages: [{ role: "user", content: "hi" }] }),
    signal: AbortSignal.timeout(180_000),
  });
  const text = await response.text();
  if (response.status !== 200) throw new Error(`The demo answered ${response.status}: ${text}`);
  const lines = text.split("\n").filter((line) => line.startsWith("data:"));
  return lines.map((line) => JSON.parse(line.slice("data:".length)).type);
}

function isWholeRun(events) {
  return (
    events[0] === "RUN_STARTED" &&
    events.at(-1) === "RUN_FINISHED" &&
    events.includes("TEXT_MESSAGE_CONTENT")
  );
}

function freshEnvironment() {
  const home = join(folder, "home");
  const bin = join(folder, "bin");
  mkdirSync(home);
  mkdirSync(bin);
  linkTools(bin);
  // With an empty HOME the user's own settings are gone: which registry, and where the caches are.
  const registry = config("registry");
  const shared = cold ? {} : { npm_config_cache: config("cache"), ...storeSetting() };
  return {
    PATH: bin,
    HOME: home,
    TMPDIR: process.env.TMPDIR,
    CI: "true",
    npm_config_registry: registry,
    npm_config_update_notifier: "false",
    ...proxySettings(),
    ...shared,
  };
}

// Every tool of this machine but the package managers that a fresh one lacks.
function linkTools(bin) {
  const absent = /^(pnpm|pnpx|pn|yarn|yarnpkg|corepack|bun|bunx|vitest|tsx|tsc)$/;
  const dirs = [dirname(process.execPath), ...(process.env.PATH ?? "").split(delimiter)];
  for (const dir of dirs.filter((one) => existsSync(one) && !one.includes("node_modules"))) {
    for (const name of readdirSync(dir)) {
      const target = join(bin, name);
      if (absent.test(name) || existsSync(target) || !isExecutable(join(dir, name))) continue;
      symlinkSync(join(dir, name), target);
    }
  }
}

function isExecutable(path) {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    // A dangling link or a plain file.
    return false;
  }
}

function storeSetting() {
  const { status, stdout } = spawnSync("pnpm", ["store", "path"], { cwd: root, encoding: "utf8" });
  // `…/store/v11`: the setting is the folder without the version.
  return status === 0 ? { pnpm_config_store_dir: dirname(stdout.trim()) } : {};
}

function proxySettings() {
  const names = ["http_proxy", "https_proxy", "no_proxy", "NODE_EXTRA_CA_CERTS", "SSL_CERT_FILE"];
  const all = names.flatMap((name) => [name, name.toUpperCase()]);
  return Object.fromEntries(all.flatMap((name) => entry(name, process.env[name])));
}

function entry(name, value) {
  return value === undefined ? [] : [[name, value]];
}

function config(name) {
  const stdio = ["ignore", "pipe", "ignore"];
  // npm hands its settings to scripts by these variables; they would hide the user's own.
  const { npm_config_cache: _cache, ...rest } = process.env;
  const options = { cwd: root, encoding: "utf8", stdio, env: rest };
  return execFileSync("npm", ["config", "get", name], options).trim();
}

function git(...args) {
  return execFileSync("git", args, { cwd: root, encoding: "utf8" }).trim();
}

function freePort() {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.on("error", reject);
    server.listen(0, "127.0.0.1", () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });
}

function afterSeconds(count) {
  return new Promise((resolve) => {
    setTimeout(resolve, count * 1000, "late").unref();
  });
}
