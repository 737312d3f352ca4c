// What JSON writes otherwise than it is: control characters, quotes, backslashes and half surrogate pairs.
// Whole pairs are rare enough to be looked at with them.
const needsEscape = /[^ !#-[\]-\ud7ff\ue000-\uffff]/;

/**
 * Whether JSON writes a text as it is. Nearly every delta is such, and whoever writes one puts the quotes
 * around it for less than `JSON.stringify` takes.
 */
export function isVerbatimJson(text: string): boolean {
  return !needsEscape.test(text);
}
