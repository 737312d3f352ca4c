import { toTable } from "./table.ts";
import { Faulty } from "./job.ts";
import type { ExtractJob } from "./job.ts";
import { inflateZip } from "./zip.ts";

const decoder = new TextDecoder();

/** The slides of a presentation as Markdown: title, text, tables, notes. */
export function extractPptx(bytes: Uint8Array, { inflatedBytes, maxChars }: ExtractJob): string {
  const files = inflateZip(bytes, {
    maxBytes: inflatedBytes,
    isWanted: (name) =>
      /^ppt\/(presentation|slides\/|notesSlides\/|_rels\/).*(xml|rels)$/.test(name),
  });
  const read = (name: string): string => decoder.decode(files.get(name));
  if (!files.has("ppt/presentation.xml")) throw new Faulty("damaged");
  const targets = relations(read("ppt/_rels/presentation.xml.rels"));
  const slides: string[] = [];
  let length = 0;
  for (const [, id = ""] of read("ppt/presentation.xml").matchAll(
    /<p:sldId\s[^>]*r:id="([^"]*)"/g,
  )) {
    const path = resolve("ppt/", targets.get(id)?.target ?? "");
    if (!files.has(path)) continue;
    const rels = path.replace(/([^/]+)$/, "_rels/$1.rels");
    const notes = [...relations(read(rels)).values()].find(({ type }) =>
      type.endsWith("/notesSlide"),
    );
    const notesPath = notes && resolve("ppt/slides/", notes.target);
    const text = toSlide(slides.length + 1, read(path), notesPath ? read(notesPath) : "");
    slides.push(text);
    length += text.length;
    if (length > maxChars) break;
  }
  return slides.join("\n\n");

  function toSlide(number: number, xml: string, notes: string): string {
    const blocks: string[] = [];
    let title = "";
    for (const [shape] of xml.matchAll(/<p:(sp|graphicFrame)[\s>][\s\S]*?<\/p:\1>/g)) {
      const table = /<a:tbl[\s>][\s\S]*?<\/a:tbl>/.exec(shape)?.[0];
      const lines = table ? [] : paragraphs(shape);
      if (table) blocks.push(toTable(toRows(table), maxChars));
      else if (title === "" && isTitle(shape)) title = lines.join(" ");
      else if (lines.length > 0) blocks.push(lines.map((line) => `- ${line}`).join("\n"));
    }
    const said = [...notes.matchAll(/<p:sp[\s>][\s\S]*?<\/p:sp>/g)]
      .filter(([shape]) => /<p:ph[^>]*type="body"/.test(shape))
      .flatMap(([shape]) => paragraphs(shape));
    if (said.length > 0) blocks.push(`Notes: ${said.join("\n")}`);
    const head = `### Slide ${number}${title === "" ? "" : `: ${title}`}`;
    return [head, ...blocks].join("\n\n");
  }
}

function isTitle(shape: string): boolean {
  return /<p:ph[^>]*type="(title|ctrTitle)"/.test(shape);
}

function toRows(table: string): string[][] {
  return [...table.matchAll(/<a:tr[\s>][\s\S]*?<\/a:tr>/g)].map(([row]) =>
    [...row.matchAll(/<a:tc[\s>][\s\S]*?<\/a:tc>/g)].map(([cell]) => paragraphs(cell).join(" ")),
  );
}

function paragraphs(xml: string): string[] {
  return [...xml.matchAll(/<a:p[\s>][\s\S]*?<\/a:p>/g)]
    .map(([paragraph]) =>
      [...paragraph.matchAll(/<a:t(?:\s[^>]*)?>([^<]*)<\/a:t>|<a:br\s*\/>/g)]
        .map(([, text]) => (text === undefined ? " " : unescape(text)))
        .join("")
        .trim(),
    )
    .filter((text) => text !== "");
}

interface Relation {
  readonly type: string;
  readonly target: string;
}

function relations(xml: string): ReadonlyMap<string, Relation> {
  const found = new Map<string, Relation>();
  for (const [tag] of xml.matchAll(/<Relationship\s[^>]*>/g)) {
    const attribute = (name: string): string =>
      unescape(new RegExp(`\\s${name}="([^"]*)"`).exec(tag)?.[1] ?? "");
    found.set(attribute("Id"), { type: attribute("Type"), target: attribute("Target") });
  }
  return found;
}

function resolve(base: string, target: string): string {
  return new URL(target, `zip:///${base}`).pathname.slice(1);
}

const entities: ReadonlyMap<string, string> = new Map([
  ["amp", "&"],
  ["lt", "<"],
  ["gt", ">"],
  ["quot", '"'],
  ["apos", "'"],
]);

function unescape(text: string): string {
  return text.replaceAll(/&(#x?[\da-f]+|\w+);/gi, (whole, name: string) => {
    if (!name.startsWith("#")) return entities.get(name) ?? whole;
    const code = Number(name.slice(1).replace(/^x/i, "0x"));
    return code <= 0x10ffff ? String.fromCodePoint(code) : whole;
  });
}
