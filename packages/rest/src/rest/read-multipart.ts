import { createInputFile } from "@holodeck/agui-core";
import {
  MultipartParser,
  boundaryOf,
  concatBytes,
  decodeField,
  malformedForm,
  quoteText,
  sanitiseName,
  typeOfUpload,
} from "@holodeck/agui-core/internal";
import type {
  AgentError,
  Call,
  FileSpool,
  FileWriter,
  InputFile,
  Limits,
} from "@holodeck/agui-core";
import type { PartHead } from "@holodeck/agui-core/internal";
import { refusal, payloadTooLarge, tooManyFiles, unsupportedType } from "./refusal.ts";

/** A form with files, read to its end. */
export interface Multipart {
  readonly fields: ReadonlyMap<string, string>;
  readonly files: readonly InputFile[];
}

export interface ReadMultipartOptions {
  /** Whether files of a type may be uploaded. */
  accepts(mimeType: string): boolean;
  /** Takes the files as they arrive. By default they stay in memory. */
  spool?: FileSpool | undefined;
}

/** What a form may hold. */
export type MultipartLimits = Pick<Limits, "files" | "fileBytes" | "uploadBytes">;

const KiB = 1024;
// Fields, and boundaries and headers of the parts, far above what real forms need.
const fieldBytes = 512 * KiB;
const overheadBytes = fieldBytes + 256 * KiB;
const maxFields = 16;

/** Reads a form as it arrives, and no further than its limits. */
export async function readMultipart(
  call: Pick<Call, "header" | "bytes">,
  limits: MultipartLimits,
  options: ReadMultipartOptions,
): Promise<Multipart> {
  const { files: maxFiles, fileBytes, uploadBytes } = limits;
  const maxRaw = uploadBytes + overheadBytes;
  const boundary = boundaryOf(call.header("content-type") ?? "");
  if (Number(call.header("content-length") ?? Number.NaN) > maxRaw) throw uploadTooLarge(limits);

  const fields = new Map<string, string>();
  const files: InputFile[] = [];

  async function take(part: Part): Promise<void> {
    const { name, filename } = part;
    // What a browser sends for an input without a choice: a file without a name or content.
    if (!filename && name === "files" && part.size === 0) return;
    if (filename === undefined) {
      if (name === "files") throw malformedForm('"files" must be files, with a filename each.');
      if (fields.has(name)) throw malformedForm(`the field ${quoteText(name)} appears twice.`);
      fields.set(name, decodeField(concatBytes(part.chunks)));
      return;
    }
    if (name !== "files")
      throw malformedForm(`files must be sent as "files", not ${quoteText(name)}.`);
    const index = files.length;
    if (index === maxFiles) throw refusal([tooManyFiles(maxFiles)]);
    const file = {
      name: sanitiseName(filename, `file-${index + 1}`),
      mimeType: typeOfUpload(filename, part.mediaType),
    };
    if (!options.accepts(file.mimeType)) {
      const message = unsupportedType(file.mimeType);
      throw refusal([{ path: `files.${index}`, message, isMimeType: true }]);
    }
    await flush(part);
    files.push(await (part.writer?.end(file) ?? createInputFile(file, concatBytes(part.chunks))));
  }

  async function flush(part: Part): Promise<void> {
    if (!options.spool || part.filename === undefined) return;
    part.writer ??= options.spool.open();
    for (const chunk of part.chunks.splice(0)) await part.writer.write(chunk);
  }

  const complete: Part[] = [];
  let parts = 0;
  let fileTotal = 0;
  let fieldTotal = 0;
  let current: Part | undefined;
  const parser = new MultipartParser(boundary, {
    begin(head) {
      if (++parts > maxFiles + maxFields) {
        throw malformedForm(`it has more than ${maxFields} fields and ${maxFiles} files.`);
      }
      current = { ...head, size: 0, chunks: [] };
    },
    data(bytes) {
      current!.size += bytes.byteLength;
      current!.chunks.push(bytes);
      if (current!.filename === undefined) {
        fieldTotal += bytes.byteLength;
        if (fieldTotal <= fieldBytes) return;
        throw payloadTooLarge(`The fields of the form are larger than ${fieldBytes} bytes.`);
      }
      fileTotal += bytes.byteLength;
      if (current!.size > fileBytes)
        throw payloadTooLarge(`A file is larger than ${fileBytes} bytes.`);
      if (fileTotal > uploadBytes) throw uploadTooLarge(limits);
    },
    end() {
      complete.push(current!);
      current = undefined;
    },
  });
  let raw = 0;
  for await (const chunk of call.bytes()) {
    raw += chunk.byteLength;
    // Leaving the loop stops the reading; the rest of the body is never in memory.
    if (raw > maxRaw) throw uploadTooLarge(limits);
    parser.write(chunk);
    for (const part of complete.splice(0)) await take(part);
    if (current) await flush(current);
  }
  parser.assertDone();
  return { fields, files };
}

interface Part extends PartHead {
  size: number;
  /** What is not written anywhere else. */
  readonly chunks: Uint8Array[];
  writer?: FileWriter;
}

function uploadTooLarge({ uploadBytes }: MultipartLimits): AgentError {
  return payloadTooLarge(`The upload is larger than ${uploadBytes} bytes.`);
}
