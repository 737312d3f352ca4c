import { isRecord } from "@holodeck/agui-core/internal";
import type { Json } from "@holodeck/agui-core";

/** A JSON object out of text; nothing when it is something else. */
export function parseRecord(text: string | undefined): Json | undefined {
  const value = parseJsonText(text);
  return isRecord(value) ? value : undefined;
}

/** JSON out of text; nothing when it is none. */
export function parseJsonText(text: string | undefined): unknown {
  if (text === undefined) return undefined;
  try {
    return JSON.parse(text) as unknown;
  } catch {
    // Text that is not JSON is shown as text.
    return undefined;
  }
}
