export type Json = Record<string, unknown>;

export function isRecord(value: unknown): value is Json {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

export function asText(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}

/** A JSON object out of text; nothing when it is something else. */
export function parseRecord(text: string | undefined): Json | undefined {
  const value = parseJson(text);
  return isRecord(value) ? value : undefined;
}

/** JSON out of text; nothing when it is none. */
export function parseJson(text: string | undefined): unknown {
  if (text === undefined) return undefined;
  try {
    return JSON.parse(text) as unknown;
  } catch {
    // Text that is not JSON is shown as text.
    return undefined;
  }
}
