import { readXml } from "./xml.ts";
import type { XmlTag } from "./xml.ts";

/** What a paragraph's style makes of it. */
export interface DocxStyle {
  /** 1 to 6 for a heading. */
  readonly heading: number | undefined;
  /** The list that its paragraphs belong to. */
  readonly list: string | undefined;
}

/** The styles of a document, by id. */
export function readStyles(xml: string): ReadonlyMap<string, DocxStyle> {
  const styles = new Map<string, DocxStyle>();
  let id: string | undefined;
  let heading: number | undefined;
  let list: string | undefined;
  readXml(xml, {
    open({ name, get }) {
      if (name === "w:style") [id, heading, list] = [get("w:styleId"), undefined, undefined];
      else if (name === "w:name") heading = toHeading(get("w:val") ?? "");
      else if (name === "w:numId") list = get("w:val");
    },
    text() {},
    close(name) {
      if (name !== "w:style" || id === undefined) return;
      styles.set(id, { heading: heading ?? toHeading(id), list });
      id = undefined;
    },
  });
  return styles;
}

/** The level of the headings that have this name or id. */
export function toHeading(name: string): number | undefined {
  const level = /^heading ?([1-6])?$/i.exec(name);
  return level ? Number(level[1] ?? 1) : undefined;
}

/** The lists of a document. */
export interface DocxNumbering {
  /** Whether the items of a level have numbers; undefined for a list that does not exist. */
  isOrdered(list: string, level: number): boolean | undefined;
  /** The level that the paragraphs of a style have in a list. */
  levelOf(list: string, style: string): number | undefined;
}

interface Levels {
  readonly ordered: Map<number, boolean>;
  readonly styles: Map<string, number>;
}

export function readNumbering(xml: string): DocxNumbering {
  const kinds = new Map<string, Levels>();
  const lists = new Map<string, string>();
  let kind: Levels | undefined;
  let level = 0;
  let list: string | undefined;

  function open({ name, get }: XmlTag): void {
    const value = get("w:val") ?? "";
    switch (name) {
      case "w:abstractNum":
        kind = { ordered: new Map(), styles: new Map() };
        kinds.set(get("w:abstractNumId") ?? "", kind);
        return;
      case "w:num":
        [kind, list] = [undefined, get("w:numId")];
        return;
      case "w:abstractNumId":
        if (list !== undefined) lists.set(list, value);
        return;
      case "w:lvl":
        level = toLevel(get("w:ilvl"));
        return;
      case "w:numFmt":
        kind?.ordered.set(level, value !== "bullet");
        return;
      case "w:pStyle":
        kind?.styles.set(value, level);
    }
  }

  readXml(xml, {
    open,
    text() {},
    close(name) {
      if (name === "w:abstractNum") kind = undefined;
      if (name === "w:num") list = undefined;
    },
  });
  const levelsOf = (id: string): Levels | undefined => kinds.get(lists.get(id) ?? "");
  return {
    isOrdered: (id, at) => levelsOf(id)?.ordered.get(at),
    levelOf: (id, style) => levelsOf(id)?.styles.get(style),
  };
}

/** Word has nine levels. */
export function toLevel(text: string | undefined): number {
  const level = Number(text ?? 0);
  return Number.isInteger(level) ? Math.min(8, Math.max(0, level)) : 0;
}
