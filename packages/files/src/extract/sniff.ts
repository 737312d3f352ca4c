import { SUPPORTED_MIME_TYPES } from "@holodeck/agui-core";
import { essenceOf, quoteText, typeOfUpload } from "@holodeck/agui-core/internal";
import { FileError } from "../shared/file-error.ts";
import { listZip } from "./zip.ts";

const [, , , , , docx, xlsx, pptx] = SUPPORTED_MIME_TYPES as readonly [
  string,
  string,
  string,
  string,
  string,
  string,
  string,
  string,
];

const ole = "application/x-ole-storage";
const zip = "application/zip";

const signatures: readonly (readonly [type: string, at: number, bytes: string])[] = [
  ["image/png", 0, "\x89PNG\r\n\x1a\n"],
  ["image/jpeg", 0, "\xff\xd8\xff"],
  ["image/gif", 0, "GIF87a"],
  ["image/gif", 0, "GIF89a"],
  ["image/webp", 8, "WEBP"],
  [zip, 0, "PK\x03\x04"],
  [zip, 0, "PK\x05\x06"],
  [ole, 0, "\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"],
];

// Which part makes a package what it is.
const mainParts: readonly (readonly [part: string, type: string])[] = [
  ["word/document.xml", docx],
  ["xl/workbook.xml", xlsx],
  ["ppt/presentation.xml", pptx],
];

const aliases: ReadonlyMap<string, string> = new Map([
  ["image/jpg", "image/jpeg"],
  ["text/x-markdown", "text/markdown"],
  ["application/csv", "text/csv"],
]);

/** The media type of these bytes, as far as they reveal it; text is `text/plain`. */
function sniffType(bytes: Uint8Array): string | undefined {
  for (const [type, at, signature] of signatures) {
    if (startsWith(bytes, at, signature)) return type === zip ? packageType(bytes) : type;
  }
  // Readers look for it in the first kilobyte.
  const head = latin1(bytes.subarray(0, 1024));
  if (head.includes("%PDF-")) return "application/pdf";
  return isText(bytes) ? "text/plain" : undefined;
}

/** Whether bytes begin what holds other files: a zip, or an old Office file. */
export function isContainer(head: Uint8Array): boolean {
  return signatures.some(
    ([type, at, signature]) => (type === zip || type === ole) && startsWith(head, at, signature),
  );
}

/** A file whose type the client has named, or not. */
export interface Claim {
  readonly name: string;
  readonly mimeType: string;
}

/** The type of a file: the declared one, unless the bytes contradict it. */
export function typeOf({ name, mimeType }: Claim, bytes: Uint8Array): string {
  if (bytes.byteLength === 0)
    throw new FileError(name, "empty", `${quoteText(name, 100)} is empty.`);
  const found = sniffType(bytes);
  if (found === ole) throw oldOffice(name, bytes);
  const essence = essenceOf(mimeType);
  const claimed = typeOfUpload(name, aliases.get(essence) ?? essence);
  if (claimed === "application/octet-stream") return found ?? claimed;
  // What we know no signature of cannot be checked.
  const isKnown = SUPPORTED_MIME_TYPES.includes(claimed);
  const isTrue =
    isText(bytes) && claimed.startsWith("text/") ? !isBinary(found) : found === claimed;
  if (!isKnown || isTrue) return claimed;
  const message = `${quoteText(name, 100)} is declared as ${claimed}, but its content is ${describe(found)}.`;
  throw new FileError(name, "mismatch", message);
}

function isBinary(found: string | undefined): boolean {
  return found !== undefined && !found.startsWith("text/");
}

function describe(type: string | undefined): string {
  if (type === undefined) return "of an unknown type";
  return type === "text/plain" ? "text" : type;
}

function packageType(bytes: Uint8Array): string {
  const names = new Set(listZip(bytes));
  return mainParts.find(([part]) => names.has(part))?.[1] ?? zip;
}

function oldOffice(name: string, bytes: Uint8Array): FileError {
  // The name of the stream that holds the package, as the container spells it.
  const isLocked = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).includes(
    Buffer.from("EncryptedPackage", "utf16le"),
  );
  return isLocked
    ? new FileError(name, "encrypted", `${quoteText(name, 100)} is protected by a password.`)
    : new FileError(
        name,
        "unsupported",
        `${quoteText(name, 100)} has an old Office format; save it as .docx, .xlsx or .pptx.`,
      );
}

/** Whether bytes are text in an encoding that we read: no control characters but white space. */
function isText(bytes: Uint8Array): boolean {
  const hasUtf16Mark =
    (bytes[0] === 0xff && bytes[1] === 0xfe) || (bytes[0] === 0xfe && bytes[1] === 0xff);
  if (hasUtf16Mark) return true;
  for (const byte of bytes.subarray(0, 8192)) {
    if (byte < 32 && (byte < 8 || byte > 13) && byte !== 27) return false;
  }
  return true;
}

function startsWith(bytes: Uint8Array, at: number, signature: string): boolean {
  for (let i = 0; i < signature.length; i++) {
    if (bytes[at + i] !== signature.charCodeAt(i)) return false;
  }
  return true;
}

function latin1(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("latin1");
}
