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
  return (
    joinLines(typeof value === "string" ? value : JSON.stringify(value))
      // A backslash before it would be taken for the one that escapes it. All of them are matched at once, also
      // where no bar follows: looking again from each of them would take the square of their number.
      .replaceAll(/\\+\|?|\|/g, (found) => {
        if (!found.endsWith("|")) return found;
        const marks = found.slice(0, -1);
        return `${marks}${marks}\\|`;
      })
  );
}

// Line breaks with the space around them as one blank, without looking at any space twice.
function joinLines(text: string): string {
  const lines = text.split(/[\n\r\u2028\u2029]/);
  if (lines.length === 1) return text;
  const [first = "", ...more] = lines;
  const last = more.pop() ?? "";
  const inner = more.map((line) => line.trim()).filter((line) => line !== "");
  return [first.trimEnd(), ...inner, last.trimStart()].join(" ");
}
