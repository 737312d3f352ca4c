import { asText, isRecord } from "@holodeck/agui-core/internal";
import type { BaseEvent, Json } from "@holodeck/agui-core";

/**
 * The part that a CUSTOM event becomes: `source-url`, `source-document` and `file` the parts of that
 * name, everything else `data-<name>`. Its id comes from the log, so that a replay finds it again.
 */
export function customChunk(event: BaseEvent, id: string): Json {
  const name = asText(event.name) ?? "";
  return (
    specialChunk(name, event.value, id) ?? { type: `data-${name}`, id, data: event.value ?? null }
  );
}

function specialChunk(name: string, value: unknown, id: string): Json | undefined {
  if (!isRecord(value)) return undefined;
  const { url, mediaType, title, filename } = value;
  const sourceId = asText(value.sourceId) ?? id;
  if (name === "source-url" && typeof url === "string") {
    return { type: name, sourceId, url, ...(typeof title === "string" && { title }) };
  }
  if (name === "source-document" && typeof mediaType === "string" && typeof title === "string") {
    const file = typeof filename === "string" ? { filename } : {};
    return { type: name, sourceId, mediaType, title, ...file };
  }
  if (name === "file" && typeof url === "string" && typeof mediaType === "string") {
    return { type: name, url, mediaType };
  }
  return undefined;
}
