import { toBase64 } from "@holodeck/agui-core/internal";
import type { Json } from "@holodeck/agui-core";

/** A file as a client sends it, whatever its SDK calls the members. */
export interface SentFile {
  readonly url: string;
  readonly mediaType?: string | undefined;
  readonly filename?: string | undefined;
}

/** A file as a content part of a user message, and how many bytes came with it. */
export interface DecodedFile {
  readonly part: Json;
  readonly bytes: number;
}

/** Reads a file part; nothing when its address is neither inline nor on the web. */
export function decodeFile({ url, mediaType, filename }: SentFile): DecodedFile | undefined {
  const metadata = filename === undefined ? {} : { metadata: { filename } };
  const data = /^data:([^,]*),(.*)$/is.exec(url);
  if (data) {
    const [, head = "", body = ""] = data;
    const mimeType = mediaType || head.split(";")[0] || "text/plain";
    const value = /;\s*base64$/i.test(head) ? body.trim() : encodeText(body);
    if (value === undefined) return undefined;
    const source = { type: "data", value, mimeType };
    const padding = value.endsWith("==") ? 2 : value.endsWith("=") ? 1 : 0;
    const bytes = Math.max(0, Math.floor((value.length * 3) / 4) - padding);
    return { part: { type: kindOf(mimeType), source, ...metadata }, bytes };
  }
  // This server does not fetch it, but an agent may: only http(s) URLs.
  if (!/^https?:\/\//i.test(url)) return undefined;
  const mime = mediaType ? { mimeType: mediaType } : {};
  const source = { type: "url", value: url, ...mime };
  return { part: { type: kindOf(mediaType ?? ""), source, ...metadata }, bytes: 0 };
}

function kindOf(mediaType: string): string {
  const [kind = ""] = mediaType.toLowerCase().split("/");
  return kind === "image" || kind === "audio" || kind === "video" ? kind : "document";
}

// A data URL may hold percent-encoded text; AG-UI knows base64 only.
function encodeText(text: string): string | undefined {
  const bytes = percentDecode(new TextEncoder().encode(text));
  try {
    if (bytes) strictUtf8.decode(bytes);
    return bytes && toBase64(bytes);
  } catch {
    // Not valid text, so not a data URL.
    return undefined;
  }
}

const strictUtf8 = /* @__PURE__ */ new TextDecoder("utf-8", { fatal: true });
const percent = 37;

// In place: what is decoded is never longer. By `decodeURIComponent` megabytes of it would stop the event loop.
function percentDecode(bytes: Uint8Array): Uint8Array | undefined {
  const first = bytes.indexOf(percent);
  if (first === -1) return bytes;
  let to = first;
  for (let at = first; at < bytes.length; at++) {
    const code = bytes[at]!;
    if (code !== percent) bytes[to++] = code;
    else {
      const value = hexOf(bytes[at + 1]) * 16 + hexOf(bytes[at + 2]);
      if (Number.isNaN(value)) return undefined;
      bytes[to++] = value;
      at += 2;
    }
  }
  return bytes.subarray(0, to);
}

function hexOf(code: number | undefined): number {
  if (code === undefined) return Number.NaN;
  if (code >= 48 && code <= 57) return code - 48;
  // Lower case.
  const letter = code | 32;
  return letter >= 97 && letter <= 102 ? letter - 87 : Number.NaN;
}
