import { isRecord, own } from "@holodeck/agui-core/internal";
import type { Json } from "@holodeck/agui-core";
import { fault } from "./faults.ts";
import { pick } from "./shape.ts";
import type { Notes, Shape } from "./shape.ts";

// No snake_case from here on: this is what users put there, not the envelope.
const label = "messages[].content[]: ";
const text: Shape = { label, required: ["type", "text"], optional: ["id", "metadata"] };
const media: Shape = { label, required: ["type", "source"], optional: ["id", "metadata"] };
const binary: Shape = {
  label,
  required: ["type", "mimeType"],
  optional: ["id", "url", "data", "filename"],
};
const parts: ReadonlyMap<unknown, Shape> = new Map<unknown, Shape>([
  ["text", text],
  ["image", media],
  ["audio", media],
  ["video", media],
  ["document", media],
  ["binary", binary],
]);

const sourceLabel = "messages[].content[].source: ";
const sources: ReadonlyMap<unknown, Shape> = new Map<unknown, Shape>([
  ["data", { label: sourceLabel, required: ["type", "value", "mimeType"], optional: [] }],
  ["url", { label: sourceLabel, required: ["type", "value"], optional: ["mimeType"] }],
  ["file", { label: sourceLabel, required: ["type", "value"], optional: ["provider", "mimeType"] }],
]);

/** One content part as AG-UI 1.0 writes it; a `binary` part of older clients becomes a media part. */
export function normaliseContent(value: Json, path: string, notes: Notes): Json {
  const shape = parts.get(own(value, "type"));
  if (shape === undefined) return value;
  const part = pick(value, shape, notes);
  if (shape === binary) return toMediaPart(part, path, notes);
  const { source } = part;
  if (!isRecord(source)) return part;
  const sourceShape = sources.get(own(source, "type"));
  return sourceShape ? { ...part, source: pick(source, sourceShape, notes) } : part;
}

function toMediaPart(part: Json, path: string, notes: Notes): Json {
  const { mimeType, data, url, id, filename } = part;
  if (data === undefined && url === undefined && id === undefined) {
    const message = `${path} needs one of data, url and id; a binary part without them has no content.`;
    notes.faults.push({ path, message });
  }
  for (const key of ["mimeType", "data", "url", "id", "filename"]) {
    const value = part[key];
    if (typeof value !== "string" && (value !== undefined || key === "mimeType")) {
      notes.faults.push(fault([path, key], value, "a string"));
    }
  }
  const [type, value] =
    data !== undefined ? ["data", data] : url !== undefined ? ["url", url] : ["file", id];
  // Any fault refuses the input, so text in the place of a bad value only keeps it from counting twice.
  const source = { type, value: asText(value), mimeType: asText(mimeType) };
  const metadata = filename === undefined ? {} : { metadata: { filename } };
  return { type: mediaType(mimeType), source, ...metadata };
}

function asText(value: unknown): string {
  return typeof value === "string" ? value : "";
}

function mediaType(mimeType: unknown): string {
  const [kind = ""] = asText(mimeType).toLowerCase().split("/");
  return kind === "image" || kind === "audio" || kind === "video" ? kind : "document";
}
