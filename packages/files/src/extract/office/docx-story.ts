import { createDocxBlocks } from "./docx-blocks.ts";
import type { DocxBlock } from "./docx-blocks.ts";
import { toInline } from "./docx-inline.ts";
import type { Span } from "./docx-inline.ts";
import { toHeading, toLevel } from "./docx-styles.ts";
import type { DocxNumbering, DocxStyle } from "./docx-styles.ts";
import type { Relation } from "./package.ts";
import { readXml } from "./xml.ts";
import type { XmlTag } from "./xml.ts";

/** What the text of a document refers to. */
export interface DocxParts {
  readonly styles: ReadonlyMap<string, DocxStyle>;
  readonly numbering: DocxNumbering;
  readonly links: ReadonlyMap<string, Relation>;
}

/** The text of a part: the document itself, or its notes. */
export interface DocxStory {
  readonly text: string;
  /** The notes that it refers to, in order: `footnote` or `endnote`, and the number in the file. */
  readonly references: readonly string[];
  /** Of a part with notes. */
  readonly notes: ReadonlyMap<string, string>;
}

interface Paragraph {
  readonly block: DocxBlock;
  readonly spans: Span[];
  /** What it is inside of, as a text box is. */
  readonly outerRun: Run | undefined;
  style: string;
  list: string | undefined;
  level: string | undefined;
}

interface Run {
  isBold: boolean;
  isItalic: boolean;
}

interface Field {
  code: string;
  isCode: boolean;
  href: string | undefined;
}

// Text that was removed or moved away, the properties before a change, and the second form of a drawing.
const skipped: ReadonlySet<string> = new Set([
  "w:del",
  "w:moveFrom",
  "w:rPrChange",
  "w:pPrChange",
  "w:rt",
  "mc:Fallback",
]);

/** Reads the paragraphs and tables of a part as Markdown, no further than can be kept. */
export function readStory(xml: string, parts: DocxParts, maxChars: number): DocxStory {
  const blocks = createDocxBlocks(maxChars);
  const references: string[] = [];
  const counts = new Map<string, number>();
  const paragraphs: Paragraph[] = [];
  const runs: (Run | undefined)[] = [];
  const fields: Field[] = [];
  const links: (string | undefined)[] = [];
  let run: Run | undefined;
  let skips = 0;
  let isText = false;
  let isCode = false;
  let length = 0;

  const openers = toMap<(tag: XmlTag) => void>({
    "w:p": () => {
      const [block, outerRun] = [blocks.add(), run];
      paragraphs.push({ block, spans: [], outerRun, style: "", list: undefined, level: undefined });
      run = undefined;
    },
    "w:pStyle": ({ get }) => set({ style: get("w:val") ?? "" }),
    "w:numId": ({ get }) => set({ list: get("w:val") }),
    "w:ilvl": ({ get }) => set({ level: get("w:val") }),
    "w:r": () => {
      runs.push(run);
      run = { isBold: false, isItalic: false };
    },
    "w:b": ({ get }) => void (run && (run.isBold = isOn(get("w:val")))),
    "w:i": ({ get }) => void (run && (run.isItalic = isOn(get("w:val")))),
    "w:t": () => void (isText = true),
    "m:t": () => void (isText = true),
    "w:instrText": () => void (isCode = true),
    "w:tab": () => run && add("\t"),
    "w:cr": () => add("\n"),
    "w:br": ({ get }) => {
      if ((get("w:type") ?? "textWrapping") === "textWrapping") add("\n");
    },
    "w:noBreakHyphen": () => add("\u2011"),
    "w:hyperlink": ({ get }) => void links.push(toHref(get)),
    "w:fldChar": ({ get }) => changeField(get("w:fldCharType")),
    "w:footnoteReference": ({ get }) => refer(`footnote${get("w:id")}`),
    "w:endnoteReference": ({ get }) => refer(`endnote${get("w:id")}`),
    "w:footnote": ({ get }) => blocks.openNote(`footnote${get("w:id")}`),
    "w:endnote": ({ get }) => blocks.openNote(`endnote${get("w:id")}`),
    "w:tbl": () => blocks.openTable(),
    "w:tr": () => blocks.openRow(),
    "w:tc": () => blocks.openCell(),
  });

  const closers = toMap<() => void>({
    "w:p": () => endParagraph(paragraphs.pop()!),
    "w:r": () => void (run = runs.pop()),
    "w:t": () => void (isText = false),
    "m:t": () => void (isText = false),
    "w:instrText": () => void (isCode = false),
    "w:hyperlink": () => void links.pop(),
    "w:footnote": () => blocks.closeNote(),
    "w:endnote": () => blocks.closeNote(),
    "w:tbl": () => blocks.closeTable(),
    "w:tc": () => blocks.closeCell(),
  });

  function set(properties: Partial<Pick<Paragraph, "style" | "list" | "level">>): void {
    const paragraph = paragraphs.at(-1);
    // In a run they would be those of something inside of it.
    if (paragraph && !run) Object.assign(paragraph, properties);
  }

  function add(text: string): void {
    const { isBold, isItalic } = run ?? { isBold: false, isItalic: false };
    paragraphs.at(-1)?.spans.push({ text, isBold, isItalic, href: hrefHere() });
  }

  function hrefHere(): string | undefined {
    return fields.at(-1)?.href ?? links.at(-1);
  }

  function toHref(get: XmlTag["get"]): string | undefined {
    const target = parts.links.get(get("r:id") ?? "")?.target;
    const anchor = get("w:anchor");
    if (target === undefined && anchor === undefined) return hrefHere();
    return `${target ?? ""}${anchor === undefined ? "" : `#${anchor}`}`;
  }

  function changeField(type: string | undefined): void {
    const field = fields.at(-1);
    if (type === "begin") fields.push({ code: "", isCode: true, href: hrefHere() });
    else if (type === "end") fields.pop();
    else if (field?.isCode) {
      field.isCode = false;
      field.href = linkOf(field.code) ?? field.href;
    }
  }

  function refer(id: string): void {
    references.push(id);
    add(`[^${references.length}]`);
  }

  function endParagraph({ block, spans, outerRun, ...properties }: Paragraph): void {
    run = outerRun;
    const text = toInline(spans);
    if (text === "") return;
    const mark = markOf(properties);
    block.isItem = mark !== "" && !mark.startsWith("#");
    block.text = mark + (mark === "" ? text : text.replaceAll("\n", " "));
    length += block.text.length;
  }

  /** What comes before the text of a heading, or of an item of a list. */
  function markOf({ style, list, level }: Pick<Paragraph, "style" | "list" | "level">): string {
    const known = parts.styles.get(style);
    const heading = known ? known.heading : toHeading(style);
    if (heading !== undefined) return `${"#".repeat(heading)} `;
    const id = list ?? known?.list ?? "0";
    const depth = toLevel(level ?? parts.numbering.levelOf(id, style)?.toString());
    const isOrdered = parts.numbering.isOrdered(id, depth);
    if (isOrdered === undefined) return "";
    const count = (counts.get(`${id} ${depth}`) ?? 0) + 1;
    counts.set(`${id} ${depth}`, count);
    for (let deeper = depth + 1; deeper < 9; deeper++) counts.delete(`${id} ${deeper}`);
    return `${"   ".repeat(depth)}${isOrdered ? `${count}.` : "-"} `;
  }

  readXml(xml, {
    open(tag) {
      if (skipped.has(tag.name)) skips++;
      if (skips === 0) openers.get(tag.name)?.(tag);
    },
    text(text) {
      if (skips > 0) return;
      if (isText) add(text);
      const field = isCode ? fields.at(-1) : undefined;
      if (field?.isCode && field.code.length < maxCode) field.code += text;
    },
    close(name) {
      if (skips === 0) closers.get(name)?.();
      if (skipped.has(name)) skips--;
    },
    isDone: () => length > maxChars,
  });
  return { references, ...blocks.end() };
}

const maxCode = 4096;

// A file may name its elements like members of every object.
function toMap<T>(entries: Record<string, T>): ReadonlyMap<string, T> {
  return new Map(Object.entries(entries));
}

function linkOf(code: string): string | undefined {
  const [, address, anchor] =
    /^\s*HYPERLINK\s+(?:"([^"]*)")?\s*(?:\\l\s+"([^"]*)")?/.exec(code) ?? [];
  const href = `${address ?? ""}${anchor === undefined ? "" : `#${anchor}`}`;
  return href === "" ? undefined : href;
}

function isOn(value: string | undefined): boolean {
  return value === undefined || !["0", "false", "off", "none"].includes(value);
}
