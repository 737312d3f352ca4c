/**
 * Characters that JSON escapes: control characters, quotes, backslashes and lone surrogates. Surrogate
 * pairs are rare enough to be checked with them. Nearly every delta has none of these, and adding the
 * quotes directly is faster than `JSON.stringify`.
 */
export const needsEscape: RegExp = /[^ !#-[\]-\ud7ff\ue000-\uffff]/;

/** A text as JSON writes it, without the quotes. */
export function escapeText(text: string): string {
  return needsEscape.test(text) ? JSON.stringify(text).slice(1, -1) : text;
}
