// `npm run check [-- names]`: everything CI asks beside the tests, two checks at a time.
import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join, relative } from "node:path";
import { findPnpm, install, requireNode } from "./lib/install.mjs";
import { run, seconds } from "./lib/process.mjs";
import { bin, publicPackages, root } from "./lib/workspace.mjs";

requireNode();
await install();

// Only now: these need what was installed.
const { packAll } = await import("./lib/pack.mjs");
const { checkPackage } = await import("./packages.mjs");

const node = process.execPath;
const checks = [
  command("build", build()),
  command("typecheck", [...bin("typescript", "bin/tsc"), "-p", "tsconfig.json"]),
  command("typecheck edge", [...bin("typescript", "bin/tsc"), "-p", "tsconfig.edge.json"]),
  command("typecheck page", [
    ...bin("typescript", "bin/tsc"),
    "-p",
    "packages/playground/page/tsconfig.json",
  ]),
  command("lint", [...bin("oxlint"), "-c", "oxlint.config.mjs", "--type-aware"]),
  command("format", [...bin("oxfmt"), "--check"]),
  command("snippets", [node, "scripts/snippets.mjs"]),
  command("requirements", [node, "scripts/requirements.mjs"]),
  command("unused", [...bin("knip", "bin/knip.js"), "--no-progress", "--no-config-hints"]),
  command("workspace", [...bin("sherif")]),
  command("engines", [node, "scripts/engines.mjs"]),
  command("dependencies", [node, "scripts/dependencies.mjs"]),
  command("strings", [node, "scripts/strings.mjs"]),
  command("words", [node, "scripts/words.mjs"]),
  { name: "changesets", run: changesets },
  { name: "pack", needs: ["build"], run: pack },
  { ...command("size", [...bin("size-limit")]), needs: ["build"] },
  ...publicPackages().map(({ manifest }) => ({
    name: `package ${manifest.name}`,
    needs: ["pack"],
    run: () => checkPackage(manifest),
  })),
  { ...command("tarballs", [node, "scripts/tarballs.mjs"]), needs: ["pack"] },
  { ...command("publish", [node, "scripts/release.mjs", "publish", "--dry-run"]), needs: ["pack"] },
  { ...command("sbom", [node, "scripts/sbom.mjs"]), needs: ["pack"] },
  { ...command("init", [node, "scripts/init.mjs"]), needs: ["pack"] },
  // Last and alone, one after the other: they measure.
  {
    ...command("cold start", [node, "bench/cold-start.mjs", "--max", "2"]),
    needs: ["build"],
    alone: true,
  },
  { ...command("bench guard", [node, "bench/guard.mjs"]), needs: ["build"], alone: true },
];

const names = process.argv.slice(2);
const chosen = choose(names);
const outcome = new Map();
const running = new Set();
let waiting = [...chosen];

while (waiting.length > 0 || running.size > 0) {
  const next = waiting.find(isStartable);
  if (next) start(next);
  else await Promise.race(running);
}

const failed = [...outcome.values()].filter((ok) => !ok).length;
console.log(`checks: ${outcome.size - failed} passed, ${failed} failed`);
process.exit(failed === 0 ? 0 : 1);

function build() {
  const every = ["-r", "--filter", "./packages/*", "--workspace-concurrency=2"];
  return [...findPnpm(), ...every, "run", "build"];
}

function command(name, words) {
  return { name, run: () => run(words) };
}

async function pack() {
  try {
    await packAll();
    return { code: 0, output: "" };
  } catch (error) {
    return { code: 1, output: error.message };
  }
}

// A package whose sources changed must be named by a pending changeset; a clone without `main` has nothing to compare.
function changesets() {
  const base = ["main", "origin/main"].find(isCommit);
  if (!base) return { code: 0, output: "" };
  const files = git("diff", "--name-only", `${base}...HEAD`).split("\n");
  const pending = readdirSync(join(root, ".changeset"))
    .filter((name) => name.endsWith(".md"))
    .map((name) => readFileSync(join(root, ".changeset", name), "utf8").split("\n---\n")[0]);
  const unnamed = publicPackages()
    .filter(({ dir }) => files.some((file) => /^(src\/|package\.json$)/.test(relative(dir, file))))
    .filter(({ manifest }) => !pending.some((head) => head.includes(`"${manifest.name}": `)))
    .map(
      ({ manifest }) => `${manifest.name} changed, and no changeset names it: npm run changeset`,
    );
  return { code: unnamed.length === 0 ? 0 : 1, output: unnamed.join("\n") };
}

function isCommit(name) {
  try {
    git("rev-parse", "--verify", "--quiet", `${name}^{commit}`);
    return true;
  } catch {
    // Not there is an answer, not a failure.
    return false;
  }
}

function git(...args) {
  return execFileSync("git", args, { cwd: root, encoding: "utf8" }).trim();
}

function choose(wanted) {
  if (wanted.length === 0) return checks;
  const picked = new Set();
  const add = (check) => {
    checks.filter(({ name }) => check.needs?.includes(name)).forEach(add);
    picked.add(check);
  };
  for (const name of wanted) {
    const matching = checks.filter((check) => `${check.name} `.startsWith(`${name} `));
    if (matching.length === 0) {
      console.error(`No check "${name}". There are: ${checks.map((one) => one.name).join(", ")}.`);
      process.exit(1);
    }
    matching.forEach(add);
  }
  return checks.filter((check) => picked.has(check));
}

function isStartable({ needs = [], alone = false }) {
  if (alone) return running.size === 0 && waiting.every((one) => one.alone);
  return running.size < 2 && needs.every((name) => outcome.has(name));
}

function start(check) {
  waiting = waiting.filter((one) => one !== check);
  const job = perform(check).finally(() => running.delete(job));
  running.add(job);
}

async function perform({ name, needs = [], run: body }) {
  const started = Date.now();
  const broken = needs.find((need) => outcome.get(need) === false);
  const result = broken ? { code: 1, output: `Not run: ${broken} failed.` } : await attempt(body);
  outcome.set(name, result.code === 0);
  if (result.code === 0) return console.log(`ok ${name} (${seconds(started)})`);
  console.log(`FAIL ${name}\n${indent(result.output)}`);
}

async function attempt(body) {
  try {
    return await body();
  } catch (error) {
    return { code: 1, output: String(error?.stack ?? error) };
  }
}

function indent(text) {
  return text.trimEnd().replaceAll(/^/gm, "    ");
}
