import { asText, isRecord, own, toBase64, typeOfUpload } from "@holodeck/agui-core/internal";
import type { Json, Message } from "@holodeck/agui-core";
import { invalidParam } from "./errors.ts";

export type UserContent = Extract<Message, { role: "user" }>["content"];
type ContentPart = Exclude<UserContent, string>[number];
type FileSource = Extract<ContentPart, { source: unknown }>["source"];

/** The content of a user message of either API: a text, or parts with images, audio and files. */
export function readUserContent(value: unknown, path: string): UserContent {
  if (typeof value === "string") return value;
  if (!Array.isArray(value)) throw invalidParam(path, "must be a string or a list of parts.");
  const parts = (value as unknown[]).map((part, index) => readPart(part, `${path}.${index}`));
  // Many clients send a text as the only part of a list, and agents look for a string first.
  const [first] = parts;
  return parts.length === 1 && first?.type === "text" ? first.text : parts;
}

/** The text of a message that has nothing else: of an assistant, a tool, or instructions. */
export function readPlainText(value: unknown, path: string): string {
  if (typeof value === "string") return value;
  if (value === undefined || value === null) return "";
  if (!Array.isArray(value)) throw invalidParam(path, "must be a string or a list of parts.");
  return (value as unknown[])
    .map((part) => (isRecord(part) ? (asText(part.text) ?? asText(part.refusal) ?? "") : ""))
    .join("");
}

function readPart(part: unknown, path: string): ContentPart {
  const type = isRecord(part) ? own(part, "type") : undefined;
  const fields = part as Json;
  switch (type) {
    case "text":
    case "input_text":
    case "output_text":
      if (typeof fields.text !== "string") throw invalidParam(`${path}.text`, "must be a string.");
      return { type: "text", text: fields.text };
    case "image_url":
    case "input_image":
      return readImage(fields, path);
    case "input_audio":
      return readAudio(fields.input_audio, `${path}.input_audio`);
    case "file":
      return readFile(isRecord(fields.file) ? fields.file : {}, `${path}.file`);
    case "input_file":
      return readFile(fields, path);
    default:
      throw invalidParam(
        `${path}.type`,
        "must be one of text, image_url, input_audio, file, input_text, input_image, input_file.",
      );
  }
}

function readImage({ image_url: image, file_id: fileId }: Json, path: string): ContentPart {
  if (typeof fileId === "string") return { type: "image", source: stored(fileId) };
  const url = isRecord(image) ? image.url : image;
  const source = typeof url === "string" ? toSource(url) : undefined;
  if (!source) throw invalidParam(`${path}.image_url`, "must be an http, https or data URL.");
  return { type: "image", source };
}

function readAudio(audio: unknown, path: string): ContentPart {
  const { data, format } = isRecord(audio) ? audio : {};
  if (typeof data !== "string") throw invalidParam(`${path}.data`, "must be base64.");
  const mimeType = format === "mp3" ? "audio/mpeg" : `audio/${asText(format) ?? "wav"}`;
  return { type: "audio", source: { type: "data", value: data, mimeType } };
}

function readFile(file: Json, path: string): ContentPart {
  const { file_data: data, file_url: url, file_id: fileId, filename: name } = file;
  const filename = asText(name);
  const source =
    typeof fileId === "string"
      ? stored(fileId)
      : typeof data === "string"
        ? toFileSource(data, filename)
        : typeof url === "string"
          ? toSource(url)
          : undefined;
  if (!source) {
    throw invalidParam(path, "needs file_data (base64 or a data URL), file_url (http) or file_id.");
  }
  const kind = source.mimeType?.startsWith("image/") ? "image" : "document";
  return { type: kind, source, ...(filename !== undefined && { metadata: { filename } }) };
}

function stored(id: string): FileSource {
  return { type: "file", value: id };
}

// OpenAI takes plain base64 as well, and then the type follows from the name.
function toFileSource(data: string, filename = ""): FileSource | undefined {
  if (data.startsWith("data:")) return toSource(data);
  return {
    type: "data",
    value: data,
    mimeType: typeOfUpload(filename, "application/octet-stream"),
  };
}

function toSource(url: string): FileSource | undefined {
  if (/^https?:\/\//i.test(url)) return { type: "url", value: url };
  const comma = url.indexOf(",");
  if (!/^data:/i.test(url) || comma === -1) return undefined;
  const head = url.slice("data:".length, comma);
  const body = url.slice(comma + 1);
  const mimeType = head.split(";")[0] || "text/plain";
  if (/;\s*base64$/i.test(head)) return { type: "data", value: body.trim(), mimeType };
  try {
    const bytes = new TextEncoder().encode(decodeURIComponent(body));
    return { type: "data", value: toBase64(bytes), mimeType };
  } catch {
    // Not valid encoding, so not a data URL.
    return undefined;
  }
}
