// What users install with our packages: licences that are allowed, scripts that run at installation, and the list in
// docs/contributing/dependencies.md, which `--write` makes again.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { readDependencyTree } from "./lib/dependency-tree.mjs";
import { root } from "./lib/workspace.mjs";

const allowed = new Set(["MIT", "Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "ISC", "0BSD"]);
// It looks for the binary that is in the package.
const scripted = new Set(["@photostructure/sqlite"]);
const page = "docs/contributing/dependencies.md";

if (process.argv[1] === fileURLToPath(import.meta.url)) main();

function main() {
  const tree = readDependencyTree();
  const file = join(root, page);
  if (process.argv.includes("--write")) writeFileSync(file, toPage(tree));
  const faults = findFaults(tree, readFileSync(file, "utf8"));
  for (const fault of faults) console.error(fault);
  if (faults.length === 0) console.log(`${tree.others.length} dependencies, as listed.`);
  process.exitCode = faults.length === 0 ? 0 : 1;
}

/** What is wrong with the dependencies, or with the page that lists them, a sentence each. */
export function findFaults(tree, text) {
  const faults = [];
  for (const { name, version, licence, scripts } of tree.others) {
    if (!isAllowed(licence)) {
      faults.push(`${name}@${version} has the licence "${licence}", which is not in the list.`);
    }
    if (scripts.length > 0 && !scripted.has(name)) {
      faults.push(`${name}@${version} runs a script when it is installed (${scripts.join(", ")}).`);
    }
  }
  if (text !== toPage(tree)) {
    faults.push(`${page} is not up to date: node scripts/dependencies.mjs --write`);
  }
  return faults;
}

// Of several licences that one can choose from, one is enough; of several that all hold, each must be allowed.
function isAllowed(licence) {
  return licence
    .replaceAll(/[()]/g, "")
    .split(" OR ")
    .some((choice) => choice.split(" AND ").every((one) => allowed.has(one.trim())));
}

/** The page that lists them. */
export function toPage({ ours, others }) {
  const own = new Set(ours.map(({ name }) => name));
  const direct = ours.map(({ name, dependencies }) => {
    const brought = others.filter(({ by }) => by.has(name)).length;
    const named = dependencies.filter((one) => !own.has(one)).map(code);
    return `| ${code(name)} | ${named.join(", ") || "–"} | ${brought} |`;
  });
  const all = others.map(
    ({ name, version, licence, by, scripts }) =>
      `| ${code(name)} | ${version} | ${licence} | ${[...by].map(code).join(", ")} | ${scripts.join(", ") || "–"} |`,
  );
  return `# Dependencies

What is installed with our packages, beside those of ours: \`dependencies\` and theirs, in the versions of the lockfile.
Peers that a host installs are not in it. \`node scripts/dependencies.mjs --write\` makes this page, and the check \`dependencies\` of
\`npm run check\` compares it. It also checks the licences (${[...allowed].join(", ")}), and
that no script runs at installation but that of ${[...scripted].map(code).join(", ")}, which is used below Node 22.13.
\`node scripts/sbom.mjs\` writes the same as a bill of materials (CycloneDX), which is made with every release.

| package | its own dependencies | installed in all |
|---|---|---|
${direct.join("\n")}

| dependency | version | licence | installed by | script at installation |
|---|---|---|---|---|
${all.join("\n")}
`;
}

function code(text) {
  return `\`${text}\``;
}
