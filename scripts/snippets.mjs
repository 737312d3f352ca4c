// Compiles the ```ts blocks of the documentation, each as a separate module.
// A block marked ```ts no-check is left out and counted.
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { run } from "./lib/process.mjs";
import { bin, root, workspaceDirs } from "./lib/workspace.mjs";

// Inside `docs`, whose package.json declares what snippets may import.
const folder = join(root, "docs", ".snippets");
rmSync(folder, { recursive: true, force: true });
mkdirSync(folder, { recursive: true });

let skipped = 0;
const sources = new Map();
for (const file of markdownFiles()) {
  for (const block of blocks(readFileSync(join(root, file), "utf8"))) {
    if (block.info.includes("no-check")) {
      skipped += 1;
      continue;
    }
    const name = `${file.replaceAll(/\W/g, "-")}-${block.line}.ts`;
    sources.set(name, file);
    // Blank lines in front, so that the compiler's line numbers are those of the document.
    writeFileSync(join(folder, name), `${"\n".repeat(block.line)}${block.code}\nexport {};\n`);
  }
}

const compilerOptions = { declaration: false, isolatedDeclarations: false };
writeFileSync(
  join(folder, "tsconfig.json"),
  JSON.stringify({ extends: "../../tsconfig.base.json", compilerOptions, include: ["*.ts"] }),
);
const result = sources.size > 0 ? await compile() : { code: 0, output: "" };
rmSync(folder, { recursive: true, force: true });

if (result.code !== 0) console.error(named(result.output));
else console.log(`${sources.size} snippets compile, ${skipped} are marked no-check.`);
process.exit(result.code);

function compile() {
  return run([...bin("typescript", "bin/tsc"), "-p", folder, "--pretty", "false"]);
}

function named(output) {
  let text = output;
  for (const [name, file] of sources) {
    text = text.replaceAll(relative(root, join(folder, name)), file).replaceAll(name, file);
  }
  return text;
}

function markdownFiles() {
  const readmes = workspaceDirs(["packages", "examples"]).map((dir) => `${dir}/README.md`);
  return ["README.md", "CONTRIBUTING.md", ...readmes, ...markdownUnder("docs")].filter(exists);
}

// Not `recursive: true`: that follows the links of node_modules in circles.
function markdownUnder(dir) {
  return readdirSync(join(root, dir), { withFileTypes: true }).flatMap((entry) => {
    const path = `${dir}/${entry.name}`;
    if (entry.isDirectory() && entry.name !== "node_modules") return markdownUnder(path);
    return entry.isFile() && entry.name.endsWith(".md") ? [path] : [];
  });
}

function exists(file) {
  try {
    return readFileSync(join(root, file)).length > 0;
  } catch {
    // A package without a README has no snippets.
    return false;
  }
}

function blocks(markdown) {
  const found = [];
  let open;
  for (const [index, line] of markdown.split(/\r?\n/).entries()) {
    const fence = /^\s*(`{3,})(.*)$/.exec(line);
    if (!open && fence) {
      open = { fence: fence[1], info: fence[2].trim().split(/\s+/), line: index + 1, lines: [] };
    } else if (open && fence && fence[1] === open.fence && fence[2].trim() === "") {
      if (["ts", "tsx", "typescript"].includes(open.info[0])) {
        found.push({ info: open.info, line: open.line, code: open.lines.join("\n") });
      }
      open = undefined;
    } else if (open) open.lines.push(line);
  }
  return found;
}
