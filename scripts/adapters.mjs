// Writes what each adapter lacks into docs/adapters.md: node scripts/adapters.mjs
// The contract suite (`packages/adapters/test/contract`) skips exactly these cases, and throws for a subject that is not listed.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { root } from "./lib/workspace.mjs";

const page = join(root, "docs", "adapters.md");
const contract = join(root, "packages", "adapters", "test", "contract");
const block = /(<!-- adapters -->\n)[\s\S]*?(<!-- \/adapters -->)/;

if (process.argv[1] === fileURLToPath(import.meta.url)) writeFileSync(page, renderPage());

/** The page with the current table. */
export function renderPage() {
  const text = readFileSync(page, "utf8");
  if (!block.test(text)) throw new Error("docs/adapters.md has no place for the table.");
  return text.replace(block, (_, start, end) => `${start}\n${renderTable()}\n\n${end}`);
}

function renderTable() {
  const subjects = JSON.parse(readFileSync(join(contract, "subjects.json"), "utf8"));
  const rows = Object.entries(subjects).map(([name, lacks]) => {
    const reasons = Object.values(lacks).join(" ") || "–";
    return `| ${name.replace(/^\w+/, "`$&`")} | ${reasons} |`;
  });
  return ["| adapter | lacks |", "|---|---|", ...rows].join("\n");
}
