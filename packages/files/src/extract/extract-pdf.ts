import type { getDocumentProxy } from "unpdf";
import { Faulty } from "./job.ts";
import type { ExtractJob } from "./job.ts";

// A few kilobytes can claim a million of them.
const maxPages = 10_000;

/** The text of a PDF, page by page, no further than can be kept. */
export async function extractPdf(bytes: Uint8Array, { maxChars }: ExtractJob): Promise<string> {
  const unpdf = await import("unpdf");
  const pdf = await unpdf.getDocumentProxy(bytes, { verbosity: 0 }).catch((error: unknown) => {
    throw new Faulty(isNamed(error, "PasswordException") ? "encrypted" : "damaged");
  });
  try {
    return await readPages(pdf, maxChars);
  } finally {
    // Not awaited: it waits for what the reader may still do.
    void pdf.destroy().catch(ignore);
  }
}

type Pdf = Awaited<ReturnType<typeof getDocumentProxy>>;

async function readPages(pdf: Pdf, maxChars: number): Promise<string> {
  const pages: string[] = [];
  let length = 0;
  for (let number = 1; number <= Math.min(pdf.numPages, maxPages); number++) {
    const text = await textOf(pdf, number);
    if (text !== "") pages.push(text);
    length += text.length;
    if (length > maxChars) break;
  }
  const unread = pdf.numPages - maxPages;
  if (unread > 0 && length <= maxChars) pages.push(`[… ${unread} more pages, not read]`);
  return pages.join("\n\n");
}

async function textOf(pdf: Pdf, number: number): Promise<string> {
  try {
    const page = await pdf.getPage(number);
    const { items } = await page.getTextContent();
    page.cleanup();
    const pieces = items.map((item) => ("str" in item ? item.str + (item.hasEOL ? "\n" : "") : ""));
    return pieces.join("").trim();
  } catch {
    throw new Faulty("damaged");
  }
}

function ignore(): void {}

function isNamed(error: unknown, name: string): boolean {
  return error instanceof Error && error.name === name;
}
