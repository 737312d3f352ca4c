/** The one value of a row, whatever the host's client makes of the names of columns. */
export function firstColumn(row: unknown): string | null {
  for (const name in row as object) return (row as Record<string, string | null>)[name]!;
  return null;
}
