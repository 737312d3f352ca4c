/**
 * What JSON writes otherwise than it is: control characters, quotes, backslashes and half surrogate pairs.
 * Whole pairs are rare enough to be looked at with them. Nearly every delta has none of these, and whoever
 * writes one puts the quotes around it for half of what `JSON.stringify` takes.
 */
export const needsEscape: RegExp = /[^ !#-[\]-\ud7ff\ue000-\uffff]/;

/** A text as JSON writes it, without the quotes. */
export function escapeText(text: string): string {
  return needsEscape.test(text) ? JSON.stringify(text).slice(1, -1) : text;
}
