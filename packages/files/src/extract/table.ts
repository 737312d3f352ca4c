/** Rows as a Markdown table, the first one its head; rows beyond so many characters are left out. */
export function toTable(rows: readonly (readonly unknown[])[], maxChars: number): string {
  const columns = rows.reduce((most, row) => Math.max(most, row.length), 0);
  const lines: string[] = [];
  let length = 0;
  for (const row of rows) {
    const cells = Array.from({ length: columns }, (_, at) => toCell(row[at]));
    lines.push(`| ${cells.join(" | ")} |`);
    if (lines.length === 1) lines.push(`|${" --- |".repeat(columns)}`);
    length += lines.at(-1)!.length;
    if (length > maxChars) break;
  }
  return lines.join("\n");
}

function toCell(value: unknown): string {
  if (value === null || value === undefined) return "";
  if (value instanceof Date) return value.toISOString().replace("T00:00:00.000Z", "");
  return (
    (typeof value === "string" ? value : JSON.stringify(value))
      // A backslash before it would be taken for the one that escapes it.
      .replaceAll(/(\\*)\|/g, "$1$1\\|")
      .replaceAll(/\s*[\n\r\u2028\u2029]\s*/g, " ")
  );
}
