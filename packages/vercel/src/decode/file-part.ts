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
    const value = /;\s*base64$/i.test(head) ? body.trim() : toBase64(body);
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
function toBase64(text: string): string | undefined {
  try {
    let binary = "";
    for (const byte of new TextEncoder().encode(decodeURIComponent(text))) {
      binary += String.fromCharCode(byte);
    }
    return btoa(binary);
  } catch {
    // Not valid encoding, so not a data URL.
    return undefined;
  }
}
