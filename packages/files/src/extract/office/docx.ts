import { Faulty } from "../job.ts";
import type { ExtractJob } from "../job.ts";
import { readNumbering, readStyles } from "./docx-styles.ts";
import { readStory } from "./docx-story.ts";
import type { DocxParts } from "./docx-story.ts";
import { openPackage } from "./package.ts";
import type { OfficePackage } from "./package.ts";

const main = "word/document.xml";

/** A Word document as Markdown: headings, lists, tables, links, and its notes at the end. */
export function extractDocx(bytes: Uint8Array, job: ExtractJob): string {
  const office = openPackage(bytes, "word/", job);
  if (!office.has(main)) throw new Faulty("damaged");
  const { maxChars } = job;
  const parts = readParts(office);
  const { text, references } = readStory(office.read(main), parts, maxChars);
  const blocks = [text];
  let length = text.length;
  for (const kind of ["footnote", "endnote"] as const) {
    const part = partOf(office, `${kind}s`);
    if (part === undefined || length > maxChars) continue;
    const own = { ...parts, links: office.relationsOf(part) };
    const { notes } = readStory(office.read(part), own, maxChars);
    for (const [index, id] of references.entries()) {
      const note = notes.get(id);
      if (note === undefined || length > maxChars) continue;
      blocks.push(`[^${index + 1}]: ${note}`);
      length += note.length;
    }
  }
  return blocks.filter((block) => block !== "").join("\n\n");
}

function readParts(office: OfficePackage): DocxParts {
  const styles = partOf(office, "styles");
  const numbering = partOf(office, "numbering");
  return {
    links: office.relationsOf(main),
    styles: readStyles(styles === undefined ? "" : office.read(styles)),
    numbering: readNumbering(numbering === undefined ? "" : office.read(numbering)),
  };
}

function partOf(office: OfficePackage, kind: string): string | undefined {
  for (const { type, target } of office.relationsOf(main).values()) {
    if (type.endsWith(`/${kind}`) && office.has(target)) return target;
  }
  return office.has(`word/${kind}.xml`) ? `word/${kind}.xml` : undefined;
}
