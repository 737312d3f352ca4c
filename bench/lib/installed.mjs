// How many packages an installation has, and how many bytes.
import { existsSync, readdirSync, readFileSync, realpathSync, statSync } from "node:fs";
import { dirname, join } from "node:path";

/** The places in an npm lock that the named packages need, themselves included. */
export function closureOfLock(packages, roots) {
  const found = new Set();
  const visit = (name, from, isOptional) => {
    const place = placeOf(packages, name, from);
    if (place === undefined) {
      if (isOptional) return;
      throw new Error(`${name} is not in the lock, and ${from || "the bench"} needs it.`);
    }
    if (found.has(place)) return;
    found.add(place);
    const { dependencies, optionalDependencies, peerDependencies, peerDependenciesMeta } =
      packages[place];
    for (const next of Object.keys(dependencies ?? {})) visit(next, place, false);
    for (const next of Object.keys(optionalDependencies ?? {})) visit(next, place, true);
    for (const next of Object.keys(peerDependencies ?? {})) {
      if (!peerDependenciesMeta?.[next]?.optional) visit(next, place, true);
    }
  };
  for (const root of roots) visit(root, "", false);
  return [...found];
}

// As Node looks: beside the one that asks, then further up.
function placeOf(packages, name, from) {
  let base = from;
  for (;;) {
    const place = base === "" ? `node_modules/${name}` : `${base}/node_modules/${name}`;
    if (packages[place]) return place;
    if (base === "") return undefined;
    const up = base.lastIndexOf("/node_modules/");
    base = up < 0 ? "" : base.slice(0, up);
  }
}

/** Packages and bytes of what peers need, by the lock in their folder. */
export function sizeOfLocked(folder, roots) {
  const { packages } = JSON.parse(readFileSync(join(folder, "package-lock.json"), "utf8"));
  const places = closureOfLock(packages, roots).filter((place) => existsSync(join(folder, place)));
  const bytes = places.reduce((sum, place) => sum + sizeOfFolder(join(folder, place)), 0);
  return { packages: places.length, bytes };
}

/** The same for packages of a workspace, of which only what is published counts. */
export function sizeOfLinked(folder, roots) {
  const found = new Map();
  const visit = (name, from) => {
    const place = linkOf(name, from);
    if (place === undefined) return;
    const manifest = JSON.parse(readFileSync(join(place, "package.json"), "utf8"));
    // pnpm has a version twice where its peers differ; an installation has it once.
    const key = `${name}@${manifest.version}`;
    if (found.has(key)) return;
    const isOurs = !place.includes("node_modules");
    const parts = isOurs ? [...(manifest.files ?? []), "package.json", "README.md"] : ["."];
    const sizes = parts.map((part) => sizeOfFolder(join(place, part)));
    found.set(
      key,
      sizes.reduce((sum, size) => sum + size, 0),
    );
    for (const next of Object.keys(manifest.dependencies ?? {})) visit(next, place);
  };
  for (const root of roots) visit(root, folder);
  return { packages: found.size, bytes: [...found.values()].reduce((sum, one) => sum + one, 0) };
}

function linkOf(name, from) {
  for (let base = from; ; base = dirname(base)) {
    const place = join(base, "node_modules", name);
    if (existsSync(join(place, "package.json"))) return realpathSync(place);
    if (dirname(base) === base) return undefined;
  }
}

function sizeOfFolder(path) {
  if (!existsSync(path)) return 0;
  if (!statSync(path).isDirectory()) return statSync(path).size;
  return readdirSync(path, { withFileTypes: true })
    .filter((entry) => entry.name !== "node_modules" && !entry.isSymbolicLink())
    .reduce((sum, entry) => sum + sizeOfFolder(join(path, entry.name)), 0);
}
