import { AgentError } from "@holodeck/agui-core";
import type { Limits } from "@holodeck/agui-core";

/** A file as clients of either generation send it. */
export interface SentFile {
  /** `data:`, `http:` or `https:`. */
  readonly url: string;
  readonly mediaType?: string | undefined;
  readonly filename?: string | undefined;
  /** Where it stands in the body, for the refusal. */
  readonly path: string;
}

/** A content part of AG-UI that holds a file. */
export interface FilePart {
  type: "image" | "audio" | "video" | "document";
  source:
    | { type: "data"; value: string; mimeType: string }
    | { type: "url"; value: string; mimeType?: string };
  metadata?: { filename: string };
}

/** A sent file as AG-UI's content part; refuses what is no file and what is too large. */
export function toFilePart(file: SentFile, limits: Pick<Limits, "inlineFileBytes">): FilePart {
  const source = toSource(file);
  if (source.type === "data") {
    const bytes = Math.floor((source.value.length * 3) / 4);
    if (bytes > limits.inlineFileBytes) {
      throw new AgentError(
        "payload-too-large",
        `${file.path} has ${bytes} bytes; this server accepts ${limits.inlineFileBytes} in a message.`,
      );
    }
  }
  const metadata = file.filename === undefined ? {} : { metadata: { filename: file.filename } };
  return { type: kindOf(source.mimeType), source, ...metadata };
}

function toSource({ url, mediaType, path }: SentFile): FilePart["source"] {
  if (/^https?:/i.test(url)) {
    return { type: "url", value: url, ...(mediaType === undefined ? {} : { mimeType: mediaType }) };
  }
  const [, head, body] = /^data:([^,]*),(.*)$/is.exec(url) ?? [];
  if (head === undefined || body === undefined) {
    const scheme = JSON.stringify(url.slice(0, 40));
    const message = `${path} must be a data: or an http(s): URL, not ${scheme}.`;
    throw new AgentError("invalid-request", message, { errors: [{ path, message }] });
  }
  const [type = ""] = head.split(";");
  const mimeType = mediaType ?? (type || "text/plain");
  const value = /;base64$/i.test(head) ? body : toBase64(body, path);
  return { type: "data", value, mimeType };
}

function toBase64(text: string, path: string): string {
  let bytes: Uint8Array;
  try {
    bytes = new TextEncoder().encode(decodeURIComponent(text));
  } catch {
    const message = `${path} is not a valid data: URL.`;
    throw new AgentError("invalid-request", message, { errors: [{ path, message }] });
  }
  let binary = "";
  for (const byte of bytes) binary += String.fromCharCode(byte);
  return btoa(binary);
}

function kindOf(mimeType = ""): FilePart["type"] {
  const [kind] = mimeType.toLowerCase().split("/");
  return kind === "image" || kind === "audio" || kind === "video" ? kind : "document";
}
