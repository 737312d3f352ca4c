/** A list as PostgreSQL writes it: clients differ in what they make of a JavaScript array. */
export function toArrayText(items: readonly (string | number | null)[]): string {
  const parts = items.map((item) => {
    if (item === null) return "NULL";
    return typeof item === "number" ? String(item) : `"${item.replaceAll(/[\\"]/g, "\\$&")}"`;
  });
  return `{${parts.join()}}`;
}
