// What users of our packages install beside them: the runtime dependencies, and theirs, as they are installed here.
import { existsSync, realpathSync } from "node:fs";
import { dirname, join } from "node:path";
import { publicPackages, readJson, root } from "./workspace.mjs";

/**
 * `{ ours, others }`: `ours` are `{ name, dependencies }`, `others` are
 * `{ name, version, licence, scripts, dependencies, by }`, by name; `by` names our packages that lead to it.
 */
export function readDependencyTree(packages = publicPackages()) {
  const own = new Map(packages.map((one) => [one.manifest.name, one]));
  const others = new Map();
  const ours = packages.map(({ manifest }) => {
    const { name, version, dependencies = {} } = manifest;
    visitOwn(name, { of: name, visited: new Set() });
    return { name, version, dependencies: Object.keys(dependencies) };
  });
  return { ours, others: [...others.values()].sort((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1)) };

  function visitOwn(name, trail) {
    if (trail.visited.has(name)) return;
    trail.visited.add(name);
    const { dir, manifest } = own.get(name);
    for (const dependency of Object.keys(manifest.dependencies ?? {})) {
      if (own.has(dependency)) visitOwn(dependency, trail);
      else visit(realpathSync(join(root, dir)), dependency, trail);
    }
  }

  function visit(from, name, { of, visited }) {
    const dir = findPackage(from, name);
    if (!dir) throw new Error(`${name}, a dependency of ${from}, is not installed.`);
    const manifest = readJson(join(dir, "package.json"));
    const key = keyOf(manifest);
    if (visited.has(key)) return;
    visited.add(key);
    const known = others.get(key) ?? toOther(manifest);
    others.set(key, known);
    known.by.add(of);
    for (const dependency of Object.keys(manifest.dependencies ?? {})) {
      const next = readJson(join(findPackage(dir, dependency) ?? dir, "package.json"));
      known.dependencies.add(keyOf(next));
      visit(dir, dependency, { of, visited });
    }
  }
}

/** The name of a package with its version. */
export function keyOf({ name, version }) {
  return `${name}@${version}`;
}

/** Where a package is that another one imports, as Node finds it. */
export function findPackage(from, name) {
  for (let dir = from; ; dir = dirname(dir)) {
    const candidate = join(dir, "node_modules", name);
    if (existsSync(join(candidate, "package.json"))) return realpathSync(candidate);
    if (dir === dirname(dir)) return undefined;
  }
}

function toOther({ name, version, license, licenses, scripts = {} }) {
  const licence = license?.type ?? license ?? licenses?.map(({ type }) => type).join(" OR ") ?? "";
  const installs = ["preinstall", "install", "postinstall"].filter((step) => scripts[step]);
  return { name, version, licence, scripts: installs, dependencies: new Set(), by: new Set() };
}
