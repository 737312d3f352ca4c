// Every package that a user of ours installs must accept the oldest Node we promise.
import { realpathSync } from "node:fs";
import { join } from "node:path";
import semver from "semver";
import { findPackage } from "./lib/dependency-tree.mjs";
import { publicPackages, readJson, root } from "./lib/workspace.mjs";

const oldest = "20.19.0";
const promise = ">=20.19";
const faults = [];
const seen = new Set();

for (const { dir, manifest } of publicPackages()) {
  if (manifest.engines?.node !== promise) {
    faults.push(`${manifest.name} must have "engines": { "node": "${promise}" }.`);
  }
  visit(realpathSync(join(root, dir)), [manifest.name]);
}

for (const fault of faults) console.error(fault);
if (faults.length === 0) console.log(`${seen.size} packages accept Node ${oldest}.`);
process.exit(faults.length === 0 ? 0 : 1);

function visit(dir, trail) {
  if (seen.has(dir)) return;
  seen.add(dir);
  const { name, version, engines, dependencies = {} } = readJson(join(dir, "package.json"));
  const range = engines?.node;
  if (range !== undefined && !semver.satisfies(oldest, range)) {
    faults.push(`${name}@${version} needs Node ${range} (through ${trail.join(" > ")}).`);
  }
  for (const dependency of Object.keys(dependencies)) {
    const found = findPackage(dir, dependency);
    if (found) visit(found, [...trail, dependency]);
    else faults.push(`${dependency}, a dependency of ${name}, is not installed.`);
  }
}
