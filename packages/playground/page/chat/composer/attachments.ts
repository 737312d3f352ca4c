import type { Message } from "@ag-ui/core";
import type { FileLimits } from "../../client/server.ts";

type Part = Exclude<Extract<Message, { role: "user" }>["content"], string>[number];

/** A file that waits to be sent. */
export interface Attachment {
  readonly key: number;
  readonly file: File;
}

/** Why these files cannot be sent together, in a sentence; nothing when they can. */
export function refusalOf(files: readonly File[], limits: FileLimits): string | undefined {
  if (files.length > limits.files) {
    return `${files.length} files are too many; the server takes ${limits.files} with one message.`;
  }
  const bytes = files.reduce((sum, { size }) => sum + size, 0);
  if (bytes <= limits.inlineFileBytes) return undefined;
  const [one] = files;
  const what = files.length === 1 ? `"${one!.name}" has` : "The files have";
  return `${what} ${formatFileSize(bytes)}; the server takes ${formatFileSize(limits.inlineFileBytes)} with one message.`;
}

/** A file as a part of a message: its bytes in base64, with its name. */
export async function toPart(file: File): Promise<Part> {
  const mimeType = file.type || typeByName(file.name);
  const [kind = ""] = mimeType.split("/");
  const type = kind === "image" || kind === "audio" || kind === "video" ? kind : "document";
  const value = toBase64(new Uint8Array(await file.arrayBuffer()));
  return { type, source: { type: "data", value, mimeType }, metadata: { filename: file.name } };
}

/** A part of a message as the file that it was; nothing where its bytes are elsewhere. */
export function toFile(part: Part): File | undefined {
  if (part.type === "text" || part.source.type !== "data") return undefined;
  const { value, mimeType } = part.source;
  const bytes = Uint8Array.from(atob(value), (char) => char.charCodeAt(0));
  const name = part.metadata?.filename;
  return new File([bytes], typeof name === "string" ? name : "file", { type: mimeType });
}

// Browsers do not know these, and the server goes by the type.
const types: Readonly<Record<string, string>> = {
  md: "text/markdown",
  csv: "text/csv",
  json: "application/json",
  txt: "text/plain",
};

function typeByName(name: string): string {
  return types[name.split(".").at(-1)?.toLowerCase() ?? ""] ?? "application/octet-stream";
}

function toBase64(bytes: Uint8Array): string {
  let binary = "";
  // A call has only so many arguments.
  for (let at = 0; at < bytes.length; at += 0x8000) {
    binary += String.fromCharCode(...bytes.subarray(at, at + 0x8000));
  }
  return btoa(binary);
}

export function formatFileSize(bytes: number): string {
  if (bytes < 1024) return `${bytes} B`;
  if (bytes < 1024 * 1024) return `${(bytes / 1024).toFixed(bytes < 10 * 1024 ? 1 : 0)} KiB`;
  return `${(bytes / 1024 / 1024).toFixed(1)} MiB`;
}
