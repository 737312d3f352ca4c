import mammoth from "mammoth";
import Turndown from "turndown";

/** A Word document as Markdown by other means: what our reader is compared with. */
export async function readWithMammoth(bytes: Uint8Array): Promise<string> {
  const convertImage = mammoth.images.imgElement(async () => ({ src: "" }));
  const { value } = await mammoth.convertToHtml({ buffer: Buffer.from(bytes) }, { convertImage });
  const service = new Turndown({ headingStyle: "atx", bulletListMarker: "-" });
  service.escape = (text) => text;
  service.addRule("cell", {
    filter: ["td", "th"],
    replacement: (content) => ` ${content.trim().replaceAll(/\s*\n\s*/g, " ")} |`,
  });
  service.addRule("row", { filter: "tr", replacement: (content) => `\n|${content}` });
  service.addRule("table", {
    filter: "table",
    replacement: (content) => `\n\n${content.trim()}\n\n`,
  });
  return service.turndown(value);
}

/** Markdown without what two writers may do differently: rules of tables, marks of notes, numbers and blanks. */
export function squeeze(markdown: string): string {
  return markdown
    .replaceAll(/^\|( --- \|)+\n?/gm, "")
    .replaceAll(/( {1,2}\|)+$/gm, " |")
    .replaceAll(/\[\[(\d+)\]\]\(#[^)]*\)/g, "[^$1]")
    .replaceAll(/\[↑\]\([^)]*\)|↑/g, "")
    .replaceAll(/^\[\^\d+\]: /gm, "1. ")
    .replaceAll(/^( *)(?:\d+\.|-) +/gm, (_, indent: string) => (indent === "" ? "* " : "  * "))
    .replaceAll(/[ \t\u00a0]+/g, " ")
    .replaceAll(/ *\n\s*/g, "\n")
    .trim();
}
