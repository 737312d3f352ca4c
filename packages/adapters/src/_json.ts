import type { Json } from "@holodeck/agui-core";

/** Whether a value is an object with members to look at. */
export function isRecord(value: unknown): value is Json {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The value as a record, empty when it is none. */
export function toRecord(value: unknown): Json {
  return isRecord(value) ? value : {};
}

/** The value if it is a string. */
export function toText(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
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
