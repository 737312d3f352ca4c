// Puts the pages for users and an `llms.txt` into the front door's package, where coding assistants find them. Called when
// it is packed. Links to files that are not among them become links to the repository.
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, posix } from "node:path";
import { root } from "./lib/workspace.mjs";

const source = join(root, "docs");
const target = join(root, "packages/agui");
const repository = "https://github.com/holodeck/agui/blob/main";
// Pages for maintainers, and what the snippets of the pages import.
const leftOut = ["contributing", "node_modules"];
const pages = pagesIn("");

rmSync(join(target, "docs"), { recursive: true, force: true });
for (const page of pages) {
  const file = join(target, "docs", page);
  mkdirSync(dirname(file), { recursive: true });
  cpSync(join(source, page), file);
  writeFileSync(file, withLinks(readFileSync(file, "utf8"), page));
}
writeFileSync(join(target, "llms.txt"), toIndex());
console.log(`${pages.length} pages and llms.txt are in packages/agui.`);

function pagesIn(folder) {
  return readdirSync(join(source, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = posix.join(folder, entry.name);
    if (entry.isDirectory()) return leftOut.includes(path) ? [] : pagesIn(path);
    return path.endsWith(".md") ? [path] : [];
  });
}

function withLinks(text, page) {
  return text.replace(/\]\((?!\w+:|#)([^)#\s]+)(#[^)\s]*)?\)/g, (whole, to, anchor = "") => {
    const path = posix.normalize(posix.join("docs", posix.dirname(page), to));
    const isHere = path.startsWith("docs/") && pages.includes(path.slice("docs/".length));
    return isHere ? whole : `](${repository}/${path}${anchor})`;
  });
}

// The table of docs/README.md has one row for each page: its link, and when to read it.
function toIndex() {
  const index = readFileSync(join(source, "README.md"), "utf8");
  const rows = [...index.matchAll(/^\| \[([^\]]+)\]\(([^)]+)\) \| (.+) \|$/gm)];
  const links = rows
    .filter(([, , path]) => pages.includes(path))
    .map(([, title, path, when]) => `- [${title}](docs/${path}): ${withoutLinks(when)}`);
  const listed = new Set(rows.map(([, , path]) => path));
  const others = pages
    .filter((page) => page !== "README.md" && !listed.has(page))
    .map((page) => `- [${titleOf(page)}](docs/${page})`);
  return `# @holodeck/agui

> Serves any agent over AG-UI, CopilotKit, the AI SDK's useChat, REST and OpenAI's API, from the server you already
> have: Node, Express, Fastify, Hono, Next.js, Bun, Deno, Workers.

\`createAgentHandler(agent, options)\` takes a function, an async generator, an Observable or a map of agents and returns a
handler with \`fetch\`. README.md has the first steps; the types in dist/index.d.ts describe every option.

## Pages

${[...links, ...others].join("\n")}
`;
}

function withoutLinks(text) {
  return text.replaceAll(/\[([^\]]+)\]\([^)]+\)/g, "$1");
}

function titleOf(page) {
  return /^# (.+)$/m.exec(readFileSync(join(source, page), "utf8"))?.[1] ?? page;
}
