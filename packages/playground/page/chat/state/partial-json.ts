/** The value of incomplete JSON so far; undefined when it cannot be determined yet. */
export function parsePartialJson(text: string): unknown {
  // What cannot be read is left out, piece by piece from the end.
  for (let end = text.length; end > 0; end = lastBreak(text, end)) {
    const closed = close(text.slice(0, end));
    const value = closed === undefined ? undefined : parse(closed);
    if (value !== undefined) return value;
  }
  return undefined;
}

/** Adds what is missing to a text that broke off: a quote, brackets. */
function close(text: string): string | undefined {
  const open: string[] = [];
  let isString = false;
  for (let at = 0; at < text.length; at++) {
    const char = text[at]!;
    if (isString) {
      if (char === "\\") at++;
      else if (char === '"') isString = false;
    } else if (char === '"') isString = true;
    else if (char === "{") open.push("}");
    else if (char === "[") open.push("]");
    else if ((char === "}" || char === "]") && open.pop() !== char) return undefined;
  }
  return text + (isString ? '"' : "") + open.toReversed().join("");
}

/** The place before the last comma, or behind the last opening bracket. */
function lastBreak(text: string, end: number): number {
  if (end < 2) return 0;
  return Math.max(
    text.lastIndexOf(",", end - 1),
    text.lastIndexOf("{", end - 2) + 1,
    text.lastIndexOf("[", end - 2) + 1,
  );
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    // Broke off inside a word or a key: less of it may be whole.
    return undefined;
  }
}
