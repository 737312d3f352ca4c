// What must not be in a tracked file: hosts of package registries and paths of one machine.
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import { root } from "./lib/workspace.mjs";

// Put together from parts: this file is tracked as well.
const hosts = [
  ["registry", "npmjs", "org"],
  ["registry", "yarnpkg", "com"],
  ["deb", "debian", "org"],
].map((parts) => parts.join("."));
const forbidden = [
  ...[...hosts, configuredHost()].filter(Boolean).map((host) => [host, "a registry host"]),
  ...[root, homedir(), ["", "work", ""].join("/"), ["", "Users", ""].join("/")]
    .filter((path) => path.length > 1)
    .map((path) => [path.endsWith("/") ? path : `${path}/`, "a path of one machine"]),
];

const tracked = execFileSync("git", ["ls-files", "-z"], { cwd: root, encoding: "utf8" });
const faults = [];
let files = 0;
for (const file of tracked.split("\0").filter(Boolean)) {
  const text = read(file);
  if (text === undefined) continue;
  files += 1;
  for (const [index, line] of text.split("\n").entries()) {
    const hit = forbidden.find(([needle]) => contains(line, needle));
    if (hit) faults.push(`${file}:${index + 1} names ${hit[1]}.`);
  }
}

for (const fault of faults) console.error(fault);
if (faults.length === 0) console.log(`${files} files name no registry host and no machine's path.`);
process.exit(faults.length === 0 ? 0 : 1);

function contains(line, needle) {
  const at = line.indexOf(needle);
  // `./work/` and `a/work/` are relative: only a path that begins here counts.
  return at >= 0 && (!needle.startsWith("/") || !/[\w.*@)}\]]/.test(line[at - 1] ?? " "));
}

function read(file) {
  try {
    return readFileSync(join(root, file), "utf8");
  } catch {
    // Removed from the work tree and not yet from the index.
    return undefined;
  }
}

function configuredHost() {
  try {
    const options = { cwd: dirname(root), encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] };
    return new URL(execFileSync("npm", ["config", "get", "registry"], options).trim()).host;
  } catch {
    // No npm or no registry: nothing more to look for.
    return undefined;
  }
}
