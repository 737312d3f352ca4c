import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { afterAll, expect, test } from "vitest";
// @ts-expect-error -- a script without types
import { findFaults as untypedFaults, toPage as untypedPage } from "../dependencies.mjs";
// @ts-expect-error -- a script without types
import { readDependencyTree } from "../lib/dependency-tree.mjs";
// @ts-expect-error -- a script without types
import { readTarball as untypedTarball, toBom as untypedBom } from "../sbom.mjs";

interface Other {
  readonly name: string;
  readonly version: string;
  readonly licence: string;
  readonly scripts: readonly string[];
  readonly dependencies: ReadonlySet<string>;
  readonly by: ReadonlySet<string>;
}

interface Tree {
  readonly ours: readonly { name: string; version: string; dependencies: readonly string[] }[];
  readonly others: readonly Other[];
}

interface Bom {
  readonly components: readonly {
    name: string;
    "bom-ref": string;
    hashes?: { content: string }[];
  }[];
  readonly dependencies: readonly { ref: string; dependsOn: readonly string[] }[];
}

const findFaults = untypedFaults as (tree: Tree, text: string) => string[];
const toPage = untypedPage as (tree: Tree) => string;
const readTarball = untypedTarball as (path: string) => object;
const toBom = untypedBom as (packed: readonly object[], tree: Tree) => Bom;

const folder = mkdtempSync(join(tmpdir(), "dependencies-test-"));
afterAll(() => rmSync(folder, { recursive: true }));

const tree = readDependencyTree() as Tree;

function withOther(change: object): Tree {
  const [scripts, dependencies, by] = [[], new Set<string>(), new Set(["a"])];
  const other = { name: "left", version: "1.0.0", licence: "MIT", scripts, dependencies, by };
  return { ...tree, others: [{ ...other, ...change }] };
}

test("finds what is installed by what", () => {
  const zod = tree.others.find(({ name }) => name === "zod");
  expect(zod?.licence).toBe("MIT");
  expect(zod?.by).toContain("@holodeck/agui-cli");
  expect(tree.others.some(({ name }) => name.startsWith("@holodeck/"))).toBe(false);
});

test("nothing old is brought by readers of files", () => {
  const names = tree.others.map(({ name }) => name);
  for (const old of ["@xmldom/xmldom", "argparse", "jszip", "mammoth"]) {
    expect(names).not.toContain(old);
  }
});

test.each(["GPL-3.0", "", "MIT AND GPL-3.0", "UNLICENSED"])(
  "a licence is refused: %j",
  (licence) => {
    const changed = withOther({ licence });
    expect(findFaults(changed, toPage(changed))).toEqual([
      `left@1.0.0 has the licence "${licence}", which is not in the list.`,
    ]);
  },
);

test.each(["MIT", "(MIT OR GPL-3.0)", "Apache-2.0 AND ISC"])(
  "a licence is allowed: %s",
  (licence) => {
    const changed = withOther({ licence });
    expect(findFaults(changed, toPage(changed))).toEqual([]);
  },
);

test("a script at installation is refused, but that of SQLite", () => {
  const scripts = ["postinstall"];
  const changed = withOther({ scripts });
  expect(findFaults(changed, toPage(changed))).toEqual([
    "left@1.0.0 runs a script when it is installed (postinstall).",
  ]);
  const known = withOther({ name: "@photostructure/sqlite", scripts });
  expect(findFaults(known, toPage(known))).toEqual([]);
});

test("a page that lists something else is not up to date", () => {
  expect(findFaults(tree, `${toPage(tree)}x`)).toEqual([
    "docs/contributing/dependencies.md is not up to date: node scripts/dependencies.mjs --write",
  ]);
});

// As tar writes it: a head of 512 bytes for each file, with the size in octal digits.
function pack(manifest: object): string {
  const content = Buffer.from(JSON.stringify(manifest));
  const head = (name: string, size: number): Buffer => {
    const bytes = Buffer.alloc(512);
    bytes.write(name, 0);
    bytes.write(`${size.toString(8).padStart(11, "0")}\0`, 124);
    return bytes;
  };
  const padding = Buffer.alloc((512 - (content.length % 512)) % 512);
  const tar = [head("package/dist/a.js", 0), head("package/package.json", content.length), content];
  const path = join(folder, "a.tgz");
  writeFileSync(path, gzipSync(Buffer.concat([...tar, padding, Buffer.alloc(1024)])));
  return path;
}

test("the bill of a release has our tarballs with their hashes, and all that is installed with them", () => {
  const packed = tree.ours.map(({ name, version, dependencies }) =>
    readTarball(
      pack({
        name,
        version,
        license: "MIT",
        dependencies: Object.fromEntries(dependencies.map((one) => [one, "1"])),
      }),
    ),
  );
  const bom = toBom(packed, tree);
  expect(bom).toMatchObject({ bomFormat: "CycloneDX", specVersion: "1.6" });
  expect(bom.components).toHaveLength(tree.ours.length + tree.others.length);
  const refs = new Set(bom.components.map((one) => one["bom-ref"]));
  expect(refs.size).toBe(bom.components.length);
  for (const { ref, dependsOn } of bom.dependencies) {
    expect(refs).toContain(ref);
    for (const other of dependsOn) expect(refs).toContain(other);
  }
  const files = bom.components.find(({ name }) => name === "agui-files");
  expect(files?.hashes?.[0]!.content).toMatch(/^[0-9a-f]{128}$/);
  expect(JSON.stringify(toBom(packed, tree))).toBe(JSON.stringify(bom));
});
