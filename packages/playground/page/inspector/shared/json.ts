/** JSON to read. What cannot be written as JSON is named instead. */
export function toPrettyJson(value: unknown): string {
  return JSON.stringify(value, undefined, 2) ?? "undefined";
}

/** JSON in a string, made readable; other text stays as it is. */
export function prettify(text: string): string {
  try {
    return toPrettyJson(JSON.parse(text));
  } catch {
    // Not JSON, so it is shown as it came.
    return text;
  }
}
