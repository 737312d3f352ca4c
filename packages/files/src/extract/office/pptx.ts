import { Faulty } from "../job.ts";
import type { ExtractJob } from "../job.ts";
import { toTable } from "../table.ts";
import { openPackage } from "./package.ts";
import { readShapes } from "./pptx-shapes.ts";
import type { PptxLine } from "./pptx-shapes.ts";
import { readXml } from "./xml.ts";

const main = "ppt/presentation.xml";

// What a page of notes has besides the notes.
const aroundNotes: ReadonlySet<string> = new Set(["sldImg", "sldNum", "hdr", "ftr", "dt"]);

/** The slides of a presentation as Markdown: title, text, tables, notes. Each part is read once. */
export function extractPptx(bytes: Uint8Array, job: ExtractJob): string {
  const office = openPackage(bytes, "ppt/", job);
  if (!office.has(main)) throw new Faulty("damaged");
  const { maxChars } = job;
  const targets = office.relationsOf(main);
  const parts = new Set(readOrder(office.read(main)).map((id) => targets.get(id)?.target ?? ""));
  const used = new Set<string>();
  const slides: string[] = [];
  let length = 0;
  for (const part of parts) {
    if (!office.has(part)) continue;
    const text = toSlide(part);
    slides.push(text);
    length += text.length;
    if (length > maxChars) break;
  }
  return slides.join("\n\n");

  function toSlide(part: string): string {
    const blocks: string[] = [];
    let title = "";
    for (const { kind, lines, rows } of readShapes(office.read(part), maxChars)) {
      if (rows) blocks.push(toTable(rows, maxChars));
      else if (title === "" && (kind === "title" || kind === "ctrTitle")) {
        title = lines.map(({ text }) => text).join(" ");
      } else if (lines.length > 0) blocks.push(lines.map(toItem).join("\n"));
    }
    const notes = readNotes(part);
    if (notes.length > 0) blocks.push(`Notes: ${notes.join("\n")}`);
    const head = `### Slide ${slides.length + 1}${title === "" ? "" : `: ${title}`}`;
    return [head, ...blocks].join("\n\n");
  }

  function readNotes(slide: string): readonly string[] {
    for (const { type, target } of office.relationsOf(slide).values()) {
      if (!type.endsWith("/notesSlide") || used.has(target)) continue;
      used.add(target);
      return readShapes(office.read(target), maxChars)
        .filter(({ kind }) => !aroundNotes.has(kind ?? ""))
        .flatMap(({ lines }) => lines.map(({ text }) => text));
    }
    return [];
  }
}

function toItem({ text, level }: PptxLine): string {
  return `${"   ".repeat(level)}- ${text}`;
}

function readOrder(xml: string): readonly string[] {
  const ids: string[] = [];
  readXml(xml, {
    open({ name, get }) {
      if (name === "p:sldId") ids.push(get("r:id") ?? "");
    },
    text() {},
    close() {},
  });
  return ids;
}
