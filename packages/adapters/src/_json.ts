import { isRecord } from "@holodeck/agui-core/internal";
import type { Json } from "@holodeck/agui-core";

/** The value as a record, empty when it is none. */
export function toRecord(value: unknown): Json {
  return isRecord(value) ? value : {};
}

/** Arguments of a call as a value; the text itself when it is not JSON. */
export function parseArgs(text: string): unknown {
  if (text.trim() === "") return {};
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
}
