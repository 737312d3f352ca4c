import { malformedForm, MultipartParser } from "@holodeck/agui-core/internal";
import type { PartHead } from "@holodeck/agui-core/internal";
import { uploadTooLarge } from "./upload-store.ts";

/** The one file of a form. */
export interface FormFile extends PartHead {
  readonly filename: string;
  /** As it arrives. Throws when the form has more than one file, or ends before it is complete. */
  readonly content: AsyncIterable<Uint8Array>;
}

export interface FileFormOptions {
  readonly boundary: string;
  readonly fileBytes: number;
}

// Boundaries, headers and fields that mean nothing here.
const overheadBytes = 64 * 1024;

/** Reads a form up to its file; the reader of the content reads the rest of it. */
export async function openFileForm(
  source: AsyncIterable<Uint8Array>,
  { boundary, fileBytes }: FileFormOptions,
): Promise<FormFile> {
  const chunks = source[Symbol.asyncIterator]();
  const waiting: Uint8Array[] = [];
  let head: PartHead | undefined;
  let isFile = false;
  let raw = 0;
  const parser = new MultipartParser(boundary, {
    begin(next) {
      isFile = next.filename !== undefined;
      if (!isFile) return;
      if (head) throw malformedForm("it has more than one file.");
      head = next;
    },
    data(bytes) {
      if (isFile) waiting.push(bytes);
    },
    end() {
      isFile = false;
    },
  });

  /** False: that was all. */
  async function pull(): Promise<boolean> {
    const { done, value } = await chunks.next();
    if (done === true) {
      parser.assertDone();
      return false;
    }
    raw += value.byteLength;
    if (raw > fileBytes + overheadBytes) throw uploadTooLarge(fileBytes);
    parser.write(value);
    return true;
  }

  async function* readContent(): AsyncGenerator<Uint8Array, void, undefined> {
    try {
      do yield* waiting.splice(0);
      while (await pull());
    } finally {
      await chunks.return?.();
    }
  }

  try {
    while (!head && (await pull()));
    if (head?.filename === undefined) {
      throw malformedForm("it has no file; send one as -F file=@report.pdf.");
    }
  } catch (error) {
    await chunks.return?.();
    throw error;
  }
  return { ...head, filename: head.filename, content: readContent() };
}
