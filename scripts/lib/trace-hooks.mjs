// Module hooks that load the TypeScript of our packages with a note at the entry of each function: its room.
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import ts from "typescript";

const packages = fileURLToPath(new URL("../../packages/", import.meta.url));
const compilerOptions = {
  module: ts.ModuleKind.ESNext,
  target: ts.ScriptTarget.ES2022,
  verbatimModuleSyntax: true,
};

export async function load(url, context, next) {
  if (!url.startsWith("file:") || !url.endsWith(".ts")) return next(url, context);
  const file = fileURLToPath(url);
  const text = readFileSync(file, "utf8");
  const room = roomOf(file);
  const source = ts.transpileModule(room ? withNotes(text, room) : text, {
    fileName: file,
    compilerOptions,
  }).outputText;
  return { format: "module", source, shortCircuit: true };
}

/** A package and its first folder; the package alone for a file that is in no folder. */
function roomOf(file) {
  if (!file.startsWith(packages)) return undefined;
  const [name, src, ...path] = file.slice(packages.length).split("/");
  if (src !== "src") return undefined;
  return path.length > 1 ? `${name}/${path[0]}` : name;
}

function withNotes(text, room) {
  const note = `globalThis.noteRoom?.(${JSON.stringify(room)})`;
  const inserts = [];
  const visit = (node) => {
    if (ts.isFunctionLike(node) && node.body) {
      if (ts.isBlock(node.body)) {
        inserts.push({ at: node.body.getStart() + 1, code: `${note};` });
      } else {
        inserts.push({ at: node.body.getStart(), code: `(${note},(` });
        inserts.push({ at: node.body.getEnd(), code: "))" });
      }
    }
    ts.forEachChild(node, visit);
  };
  visit(ts.createSourceFile("file.ts", text, ts.ScriptTarget.Latest, true));
  let noted = text;
  // From the end, so that the places before stay where they are.
  for (const { at, code } of inserts.sort((a, b) => b.at - a.at)) {
    noted = noted.slice(0, at) + code + noted.slice(at);
  }
  return noted;
}
