import { AgentError, createInputFile, sanitiseName, typeOfUpload } from "@holodeck/agui-core";
import type { Awaitable, Call, InputFile, Limits } from "@holodeck/agui-core";
import type { MultipartPart } from "@remix-run/multipart-parser";
import { refusal, tooLarge, tooManyFiles, unsupportedType } from "./refusal.ts";

/** A form with files, read to its end. */
export interface Multipart {
  readonly fields: ReadonlyMap<string, string>;
  readonly files: readonly InputFile[];
}

/** One uploaded file, its name and type checked. */
interface UploadedFile {
  readonly name: string;
  readonly mimeType: string;
  readonly size: number;
  /** Its bytes, which are not kept: whoever wants them later puts them somewhere. */
  readonly chunks: readonly Uint8Array[];
}

export interface ReadMultipartOptions {
  /** Whether files of a type may be uploaded. */
  accepts(mimeType: string): boolean;
  /** Takes each file as it is complete. By default it stays in memory. */
  spool?: ((file: UploadedFile) => Awaitable<InputFile>) | undefined;
}

/** What a form may hold. */
export type MultipartLimits = Pick<Limits, "files" | "fileBytes" | "uploadBytes">;

const KiB = 1024;
// Boundaries and headers of the parts, far above what real forms need.
const overheadBytes = 256 * KiB;
const maxHeaderSize = 8 * KiB;
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

  const { MultipartParser } = await import("@remix-run/multipart-parser");
  const parser = new MultipartParser(boundary, {
    maxHeaderSize,
    maxFileSize: fileBytes,
    maxTotalSize: uploadBytes,
    maxParts: maxFiles + maxFields,
  });
  const fields = new Map<string, string>();
  const files: InputFile[] = [];

  async function take(part: MultipartPart): Promise<void> {
    const { name = "", filename } = part;
    // What a browser sends for an input without a choice: a file without a name or content.
    if (!filename && name === "files" && part.size === 0) return;
    if (filename === undefined) {
      if (name === "files") throw malformed('"files" must be files, with a filename each.');
      if (fields.has(name)) throw malformed(`the field ${quote(name)} is there twice.`);
      fields.set(name, part.text);
      return;
    }
    if (name !== "files") throw malformed(`files belong into "files", not ${quote(name)}.`);
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
    files.push(
      options.spool
        ? await options.spool({ ...file, size: part.size, chunks: part.content })
        : createInputFile(file, part.bytes as Uint8Array<ArrayBuffer>),
    );
  }

  let raw = 0;
  for await (const chunk of call.bytes()) {
    raw += chunk.byteLength;
    // Leaving the loop stops the reading; the rest of the body is never in memory.
    if (raw > maxRaw) throw uploadTooLarge(limits);
    try {
      for (const part of parser.write(chunk)) await take(part);
    } catch (error) {
      if (isParseError(error) && isWhole(parser)) break;
      throw explain(error, limits);
    }
  }
  if (!isWhole(parser)) throw malformed("it ends before its last boundary.");
  return { fields, files };
}

// Bytes after the last boundary mean nothing; a parser that is given them in a write of their own throws.
function isWhole(parser: { finish(): void }): boolean {
  try {
    parser.finish();
    return true;
  } catch {
    return false;
  }
}

function isParseError(error: unknown): boolean {
  return error instanceof Error && error.name === "MultipartParseError";
}

function boundaryOf(contentType: string): string {
  const match = /;\s*boundary=(?:"([^"]+)"|([^;\s"]+))/i.exec(contentType);
  const boundary = match?.[1] ?? match?.[2] ?? "";
  if (/^[\x20-\x7e]{1,70}$/.test(boundary)) return boundary;
  throw malformed("its content-type has no boundary of 1 to 70 characters.");
}

function explain(error: unknown, limits: MultipartLimits): unknown {
  if (!(error instanceof Error)) return error;
  switch (error.name) {
    case "MaxFileSizeExceededError":
      return tooLarge(`A file is larger than ${limits.fileBytes} bytes.`);
    case "MaxTotalSizeExceededError":
      return uploadTooLarge(limits);
    case "MaxPartsExceededError":
      return malformed(`it has more than ${maxFields} fields and ${limits.files} files.`);
    case "MaxHeaderSizeExceededError":
      return malformed(`a part has more than ${maxHeaderSize} bytes of headers.`);
    case "MultipartParseError":
      return malformed("it does not begin with its boundary.");
    // Of the decoder: text that is not UTF-8.
    case "TypeError":
      return malformed("a field or a header is not valid UTF-8.");
    default:
      return error;
  }
}

function uploadTooLarge({ uploadBytes }: MultipartLimits): AgentError {
  return tooLarge(`The upload is larger than ${uploadBytes} bytes.`);
}

function malformed(reason: string): AgentError {
  return new AgentError("invalid-request", `The multipart body is not valid: ${reason}`);
}

function quote(text: string): string {
  return JSON.stringify(text.length > 40 ? `${text.slice(0, 40)}…` : text);
}
