import { inflateZip } from "./zip.ts";
import { Faulty } from "./job.ts";
import type { ExtractJob } from "./job.ts";

/** A Word document as Markdown. */
export async function extractDocx(
  bytes: Uint8Array,
  { inflatedBytes }: ExtractJob,
): Promise<string> {
  // Counted first: the reader itself would unpack whatever there is.
  inflateZip(bytes, { maxBytes: inflatedBytes, isWanted: () => false });
  const { default: mammoth } = await import("mammoth");
  const { default: Turndown } = await import("turndown");
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const convertImage = mammoth.images.imgElement(async () => ({ src: "" }));
  const { value } = await mammoth.convertToHtml({ buffer }, { convertImage }).catch(() => {
    throw new Faulty("damaged");
  });
  const service = new Turndown({ headingStyle: "atx", bulletListMarker: "-" });
  // It is read by a model, not rendered: snake_case stays as it is.
  service.escape = (text) => text;
  service.addRule("cell", {
    filter: ["td", "th"],
    replacement: (content) => ` ${content.trim().replaceAll(/\s*\n\s*/g, " ")} |`,
  });
  service.addRule("row", {
    filter: "tr",
    replacement: (content, node) => {
      const rule = isFirstRow(node) ? `\n|${" --- |".repeat(node.childNodes.length)}` : "";
      return `\n|${content}${rule}`;
    },
  });
  service.addRule("table", {
    filter: "table",
    replacement: (content) => `\n\n${content.trim()}\n\n`,
  });
  return service.turndown(value);
}

function isFirstRow(node: Node): boolean {
  if (node.previousSibling) return false;
  const group = node.parentNode;
  return group?.nodeName === "TABLE" || !group?.previousSibling;
}
