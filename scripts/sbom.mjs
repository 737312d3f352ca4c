// The bill of materials of a release (CycloneDX 1.6): each of our tarballs with its hash, and what is installed with it.
// `node scripts/sbom.mjs [file]`, after the packages were packed; `--pack` packs them first.
import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { gunzipSync } from "node:zlib";
import { keyOf, readDependencyTree } from "./lib/dependency-tree.mjs";
import { packAll, tarballOf } from "./lib/pack.mjs";
import { publicPackages, root } from "./lib/workspace.mjs";

if (process.argv[1] === fileURLToPath(import.meta.url)) await main();

async function main() {
  const args = process.argv.slice(2);
  if (args.includes("--pack")) await packAll();
  const file = args.find((arg) => !arg.startsWith("--")) ?? defaultFile();
  const packed = publicPackages().map(({ manifest }) => readTarball(tarballOf(manifest)));
  const bom = toBom(packed, readDependencyTree());
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, `${JSON.stringify(bom, undefined, 2)}\n`);
  console.log(`${file}: ${bom.components.length} components.`);
}

function defaultFile() {
  return join(root, "node_modules", ".holodeck", "sbom.cdx.json");
}

/** The manifest of a packed package and the hash of the tarball: `{ manifest, sha512 }`. */
export function readTarball(path) {
  const bytes = readFileSync(path);
  const tar = gunzipSync(bytes);
  const sha512 = createHash("sha512").update(bytes).digest("hex");
  for (let at = 0; at + 512 <= tar.length;) {
    const name = tar.toString("latin1", at, at + 100).split("\0", 1)[0];
    const size = Number.parseInt(tar.toString("latin1", at + 124, at + 136), 8) || 0;
    if (name === "package/package.json") {
      return { manifest: JSON.parse(tar.toString("utf8", at + 512, at + 512 + size)), sha512 };
    }
    at += 512 + Math.ceil(size / 512) * 512;
  }
  throw new Error(`${path} has no package.json.`);
}

/** Of packed packages and of what is installed with them. The same input gives the same bill. */
export function toBom(packed, { others }) {
  const versions = new Map(packed.map(({ manifest }) => [manifest.name, manifest.version]));
  const own = packed.map(({ manifest, sha512 }) => ({
    ...component(manifest, manifest.license),
    hashes: [{ alg: "SHA-512", content: sha512 }],
  }));
  const refs = new Map(others.map((other) => [keyOf(other), purl(other)]));
  const ownGraph = packed.map(({ manifest }) => ({
    ref: purl(manifest),
    dependsOn: Object.keys(manifest.dependencies ?? {}).map((name) => {
      const version = versions.get(name);
      return version ? purl({ name, version }) : purl(installed(name, manifest.name));
    }),
  }));
  const otherGraph = others.map((other) => ({
    ref: purl(other),
    dependsOn: [...other.dependencies].map((key) => refs.get(key)),
  }));
  return {
    bomFormat: "CycloneDX",
    specVersion: "1.6",
    version: 1,
    metadata: {
      component: {
        type: "library",
        name: "@holodeck/agui",
        version: versions.get("@holodeck/agui"),
      },
    },
    components: [...own, ...others.map((other) => component(other, other.licence))],
    dependencies: [...ownGraph, ...otherGraph],
  };

  function installed(name, by) {
    const found = others.find((other) => other.name === name && other.by.has(by));
    if (!found) throw new Error(`${name}, a dependency of ${by}, is not in the tree.`);
    return found;
  }
}

function component({ name, version }, licence) {
  const [group, base] = name.startsWith("@") ? name.split("/") : [undefined, name];
  return {
    type: "library",
    "bom-ref": purl({ name, version }),
    ...(group ? { group } : {}),
    name: base,
    version,
    licenses: [/ (OR|AND) /.test(licence) ? { expression: licence } : { license: { id: licence } }],
    purl: purl({ name, version }),
  };
}

function purl({ name, version }) {
  return `pkg:npm/${name.replace("@", "%40")}@${version}`;
}
