// Words that plain technical English does not need: in names, comments and messages of the sources, in titles of tests
// wherever they are, and in Markdown. The TypeScript parser separates them from the rest, so that quoted data of a
// program is not read.
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import ts from "typescript";
import { root } from "./lib/workspace.mjs";

const words = [
  [/\b(?:told|tells?|telling)\b/gi, "send, report, return, pass"],
  [/\b(?:says?|said|saying)\b/gi, "send, contain, state, set"],
  [/\b(?:hears?|heard|hearing)\b/gi, "receive"],
  [/\b(?:whoever|whomever|whosoever)\b/gi, "the client, the caller, code that"],
  [/\b(?:somebody|nobody|everybody|anybody)\b/gi, "name the client, caller or user"],
  [/\banew\b/gi, "again"],
  [/\bof\s+(?:its|their|our)\s+own\b/gi, "its own, separate, another"],
  [/\bNothing: /g, "Returns undefined when"],
  [/\b(?:no\s+longer|any\s+more|anymore)\b/gi, "what is true today"],
  [/\b(?:founding\s+(?:documents?|API)|first\s+design|first\s+wave)\b/gi, "what is true today"],
  [/\b(?:rightly|amiss)\b/gi, "correctly, valid, wrong"],
  [/\bdear(?:er|est)?\b/gi, "expensive, slow"],
];

// Each with the reason why the word is right there: [file or its start, part of the line, reason].
const exceptions = [
  ["packages/cli/src/demo/", "Tell me a long story", "a user's request to the agent"],
  ["packages/cli/src/demo/", "say", "what the demo agent does in a conversation"],
  ["", "You said", "an agent's answer, which quotes the user"],
  ["examples/", "The user said no.", "a tool result, for a model"],
];

const sources = /^(?:packages\/[^/]+\/(?:src|page)\/|examples\/(?!.*\/test\/)|bench\/(?!test\/))/;
const isCode = (file) => /\.(?:ts|tsx|mjs)$/.test(file);
const isMarkdown = (file) => file.endsWith(".md") && !file.startsWith(".changeset/");

if (process.argv[1] === fileURLToPath(import.meta.url)) main(process.argv.slice(2));

function main(named) {
  const tracked = execFileSync("git", ["ls-files", "-z"], { cwd: root, encoding: "utf8" });
  const files = tracked.split("\0").filter((file) => isCode(file) || isMarkdown(file));
  const chosen = files.filter(
    (file) => named.length === 0 || named.some((one) => file.startsWith(one)),
  );
  const faults = chosen.flatMap((file) => findWords(file, read(file)));
  for (const fault of faults) console.error(fault);
  if (faults.length === 0) console.log(`${chosen.length} files are in plain words.`);
  process.exitCode = faults.length === 0 ? 0 : 1;
}

/** The listed words in the prose of a file, each with its line and what may take its place. */
export function findWords(file, text) {
  const lines = text.split("\n");
  const prose = isMarkdown(file) ? proseOfMarkdown(text) : proseOfCode(file, text);
  const found = [];
  for (const [pattern, better] of words) {
    for (const { 0: word, index } of prose.matchAll(pattern)) {
      const line = prose.slice(0, index).split("\n").length;
      if (isException(file, lines[line - 1])) continue;
      found.push(`${file}:${line} "${word.replace(/\s+/g, " ")}" (better: ${better})`);
    }
  }
  return found;
}

function isException(file, line) {
  return exceptions.some(([where, part]) => file.startsWith(where) && line.includes(part));
}

function read(file) {
  try {
    return readFileSync(join(root, file), "utf8");
  } catch {
    // Removed from the work tree and not yet from the index.
    return "";
  }
}

/** The text with code blanked, so that offsets stay what they are. */
function proseOfMarkdown(text) {
  return text.replace(/^(```+)[^\n]*\n[^]*?^\1|`[^`\n]+`|<!--[^]*?-->/gm, blank);
}

/**
 * The text with everything blanked but titles of tests and, in a source, names, comments and strings of more than one
 * word.
 */
function proseOfCode(file, text) {
  const isSource = sources.test(file);
  // Parsing takes the time; most files outside of the sources are tests.
  if (!isSource && !/\b(?:test|it|describe)\b/.test(text)) return "";
  const kind = file.endsWith("x") ? ts.ScriptKind.TSX : ts.ScriptKind.TS;
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true, kind);
  let prose = "";
  const visit = (node) => {
    const children = node.getChildren(source);
    if (children.length > 0 && !ts.isJSDoc(node)) return children.forEach(visit);
    if (ts.isJSDoc(node) || node.end <= prose.length) return;
    // What is between two tokens is white space and comments.
    const start = Math.max(node.getStart(source), prose.length);
    const between = text.slice(prose.length, start);
    prose += isSource
      ? between.replace(/^[ \t]*(?:\/\/|\/?\*+)|\/\*\*?|\*\/|\/\//gm, blank)
      : blank(between);
    const token = text.slice(start, node.end);
    const isRead = isText(node) && ((isSource && /\w \w/.test(token)) || isTitle(node));
    const isNamed = isSource && ts.isMemberName(node);
    prose += isRead ? token : isNamed ? wordsOfName(token) : blank(token);
  };
  visit(source);
  return prose;
}

/** The listed words of a name such as `isToldOnce`, each where it is. */
function wordsOfName(name) {
  const isListed = (word) => words.some(([pattern]) => word.search(pattern) >= 0);
  const parts = name.split(/(?=[A-Z])/);
  return parts.map((word) => (isListed(word) ? word : blank(word))).join("");
}

function isText(node) {
  return ts.isLiteralExpression(node) || ts.isTemplateLiteralToken(node) || ts.isJsxText(node);
}

/** Whether a text is the title of a test or of a group of them: `test("…")`, `describe.for(…)(`…`)`. */
function isTitle(node) {
  let title = node;
  while (ts.isTemplateSpan(title.parent) || ts.isTemplateExpression(title.parent)) {
    title = title.parent;
  }
  const call = title.parent;
  if (!ts.isCallExpression(call) || call.arguments[0] !== title) return false;
  let callee = call.expression;
  while (ts.isCallExpression(callee) || ts.isPropertyAccessExpression(callee)) {
    callee = callee.expression;
  }
  return ts.isIdentifier(callee) && /^(?:test|it|describe)$/.test(callee.text);
}

function blank(text) {
  return text.replace(/[^\n]/g, " ");
}
