import { extractImage } from "./extract-image.ts";
import { extractPdf } from "./extract-pdf.ts";
import type { ExtractJob, ExtractKind } from "./job.ts";
import { extractDocx } from "./office/docx.ts";
import { extractPptx } from "./office/pptx.ts";
import { extractXlsx } from "./office/xlsx.ts";

const extractors: Record<
  ExtractKind,
  (bytes: Uint8Array, job: ExtractJob) => string | Promise<string>
> = {
  pdf: extractPdf,
  docx: extractDocx,
  xlsx: extractXlsx,
  pptx: extractPptx,
  ocr: extractImage,
};

/** The text of a file. Throws `Faulty` or `ZipError` for one that cannot be read. */
export async function extractText(bytes: Uint8Array, job: ExtractJob): Promise<string> {
  return extractors[job.kind](bytes, job);
}
