import { toTable } from "./table.ts";
import { inflateZip } from "./zip.ts";
import { Faulty } from "./job.ts";
import type { ExtractJob } from "./job.ts";

/** Every sheet of a workbook as a Markdown table. */
export async function extractXlsx(
  bytes: Uint8Array,
  { inflatedBytes, maxChars }: ExtractJob,
): Promise<string> {
  inflateZip(bytes, { maxBytes: inflatedBytes, isWanted: () => false });
  const { default: readXlsx } = await import("read-excel-file/node");
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const sheets = await readXlsx(buffer).catch(() => {
    throw new Faulty("damaged");
  });
  return sheets.map(({ sheet, data }) => `### ${sheet}\n\n${toTable(data, maxChars)}`).join("\n\n");
}
