import { LineCounter, isAlias, isMap, isNode, isScalar, isSeq, parseDocument, visit } from "yaml";
import type { Document, Node, Pair } from "yaml";
import { AgentFileError } from "./agent-file-error.ts";
import type { AgentFileFault } from "./agent-file-error.ts";

export type Path = readonly PropertyKey[];

/** Collects what is wrong with a file, each with its place in the text. */
export interface FileReport {
  /** Placed at the key or item of that path; where there is none, at the nearest that holds it. */
  add(path: Path, message: string): void;
  /** Throws everything that was added, if there is anything. */
  assertNoFaults(files?: readonly string[]): void;
}

export interface ParsedFile {
  readonly data: unknown;
  readonly report: FileReport;
}

/** Parses YAML and keeps the location of every node. Throws when the text is not YAML. */
export function parseFile(file: string, text: string): ParsedFile {
  const lines = new LineCounter();
  const document = parseDocument(text, {
    lineCounter: lines,
    prettyErrors: false,
    // Warnings would go to the console.
    logLevel: "error",
  });
  const faults: AgentFileFault[] = [];
  const seen = new Set<string>();

  function addAt(offset: number, message: string): void {
    const { line, col } = lines.linePos(offset);
    // An empty file has no lines to count.
    const fault = { line: Math.max(1, line), column: Math.max(1, col), message };
    const key = JSON.stringify(fault);
    if (!seen.has(key)) faults.push(fault);
    seen.add(key);
  }

  function assertNoFaults(files?: readonly string[]): void {
    if (faults.length > 0) throw new AgentFileError(file, faults, files);
  }

  for (const { code, pos, message } of document.errors) {
    addAt(pos[0], `${inWords(code, message)}${message.endsWith(".") ? "" : "."}`);
  }
  // What follows a broken line is guesswork; a key that is there twice breaks nothing else.
  if (document.errors.some(({ code }) => code !== "DUPLICATE_KEY")) assertNoFaults();
  const report: FileReport = {
    add: (path, message) => addAt(offsetOf(document, path), message),
    assertNoFaults,
  };
  return { data: toData(document, addAt, assertNoFaults), report };
}

function toData(
  document: Document.Parsed,
  addAt: (offset: number, message: string) => void,
  assertNoFaults: () => void,
): unknown {
  let hasLoose = false;
  visit(document, {
    Alias(_, alias) {
      if (alias.resolve(document)) return;
      hasLoose = true;
      const rule = `*${alias.source} has no anchor; write &${alias.source} before the value it refers to`;
      addAt(alias.range?.[0] ?? 0, `${rule}.`);
    },
  });
  if (hasLoose) assertNoFaults();
  try {
    return document.toJS({ maxAliasCount: 100 }) as unknown;
  } catch (error) {
    addAt(0, `The aliases of the file expand to too much: ${(error as Error).message}.`);
    assertNoFaults();
    return undefined;
  }
}

function inWords(code: string, message: string): string {
  if (code === "DUPLICATE_KEY") return "This key appears twice; remove one of them";
  return `This is not YAML: ${message}`;
}

function offsetOf(document: Document.Parsed, path: Path): number {
  let node: Node | null = document.contents;
  let offset = startOf(node) ?? 0;
  for (const key of path) {
    if (isAlias(node)) node = node.resolve(document) ?? null;
    if (isMap(node)) {
      const pair: Pair | undefined = node.items.find(
        (one) => isScalar(one.key) && String(one.key.value) === String(key),
      );
      if (!pair) break;
      offset = startOf(pair.key) ?? offset;
      node = isNode(pair.value) ? pair.value : null;
    } else if (isSeq(node) && typeof key === "number") {
      const item: unknown = node.items[key];
      if (!isNode(item)) break;
      offset = startOf(item) ?? offset;
      node = item;
    } else break;
  }
  return offset;
}

function startOf(node: unknown): number | undefined {
  return isNode(node) ? node.range?.[0] : undefined;
}
