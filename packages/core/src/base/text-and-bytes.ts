/** The first `chars` characters of a text, with an ellipsis if there are more. A surrogate pair is not split. */
export function clip(text: string, chars: number): string {
  if (text.length <= chars) return text;
  const last = text.charCodeAt(chars - 1);
  const isHalf = last >= 0xd800 && last <= 0xdbff;
  return `${text.slice(0, isHalf ? chars - 1 : chars)}…`;
}

/** A client's text, escaped and short enough for a message or a log. */
export function quoteText(text: string, chars = 40): string {
  return JSON.stringify(clip(text, chars));
}

/**
 * V8 keeps concatenated text as a tree of its pieces until a character is read. With pieces of 20 characters
 * that takes three times the memory, in objects that every garbage collection visits. The comparison uses the
 * character, so that a compiler cannot drop the read.
 */
export function flattenText(text: string): void {
  if (text.charCodeAt(0) === -1) throw new Error("Unreachable: a char code is never -1.");
}

/** All chunks in one array. */
export function concatBytes(chunks: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  let length = 0;
  for (const chunk of chunks) length += chunk.length;
  const whole = new Uint8Array(length);
  let at = 0;
  for (const chunk of chunks) {
    whole.set(chunk, at);
    at += chunk.length;
  }
  return whole;
}
