import { toLevel } from "./docx-styles.ts";
import { readXml } from "./xml.ts";
import type { XmlTag } from "./xml.ts";

export interface PptxLine {
  readonly text: string;
  /** How deep it is in a list; 0 for the outermost. */
  readonly level: number;
}

/** A shape of a slide, or a table on it. */
export interface PptxShape {
  /** What it is on its slide, such as `title` or `body`. */
  kind: string | undefined;
  readonly lines: PptxLine[];
  rows: string[][] | undefined;
}

/** The shapes of a slide in their order, no further than can be kept. */
export function readShapes(xml: string, maxChars: number): readonly PptxShape[] {
  const shapes: PptxShape[] = [];
  let shape: PptxShape | undefined;
  let cell: string[] | undefined;
  let line: string | undefined;
  let level = 0;
  let isText = false;
  let skips = 0;
  let length = 0;

  function endLine(): void {
    const text = line?.trim() ?? "";
    line = undefined;
    if (text === "") return;
    if (cell) cell.push(text);
    else shape?.lines.push({ text, level });
    length += text.length;
  }

  function open({ name, get }: XmlTag): void {
    switch (name) {
      case "p:sp":
      case "p:graphicFrame":
        shape = { kind: undefined, lines: [], rows: undefined };
        shapes.push(shape);
        return;
      case "p:ph":
        if (shape) shape.kind ??= get("type");
        return;
      case "a:tbl":
        if (shape) shape.rows ??= [];
        return;
      case "a:tr":
        shape?.rows?.push([]);
        return;
      case "a:tc":
        if (shape?.rows) cell = [];
        return;
      case "a:p":
        [line, level] = ["", 0];
        return;
      case "a:pPr":
        level = toLevel(get("lvl"));
        return;
      case "a:t":
        isText = true;
        return;
      case "a:br":
        if (line !== undefined) line += " ";
    }
  }

  function close(name: string): void {
    switch (name) {
      case "p:sp":
      case "p:graphicFrame":
        shape = undefined;
        return;
      case "a:tc":
        if (cell) shape?.rows?.at(-1)?.push(cell.join(" "));
        cell = undefined;
        return;
      case "a:p":
        return endLine();
      case "a:t":
        isText = false;
    }
  }

  readXml(xml, {
    open(tag) {
      // The second form of what was there already.
      if (tag.name === "mc:Fallback") skips++;
      if (skips === 0) open(tag);
    },
    text(text) {
      if (skips === 0 && isText && line !== undefined) line += text;
    },
    close(name) {
      if (skips === 0) close(name);
      if (name === "mc:Fallback") skips--;
    },
    isDone: () => length > maxChars,
  });
  return shapes;
}
