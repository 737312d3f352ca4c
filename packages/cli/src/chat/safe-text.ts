// Of the C0 and C1 controls a terminal may have tab and newline. Whole sequences go first, so that
// "\x1b[31mred" leaves "red" and not "[31mred". The bidirectional controls reorder what is shown.
const sequences =
  // oxlint-disable-next-line no-control-regex
  /(?:\u001B\[|\u009B)[0-?]*[ -/]*[@-~]|(?:\u001B[P\]X^_]|[\u0090\u0098\u009D-\u009F])[^\u0007\u001B\u009C]*(?:\u0007|\u001B\\|\u009C)?|\u001B[ -/]*[0-~]?/g;
const controls =
  // oxlint-disable-next-line no-control-regex
  /[\u0000-\u0008\u000B-\u001F\u007F-\u009F\u061C\u200E\u200F\u2028-\u202E\u2066-\u2069]/g;

/**
 * Text from a server, without anything a terminal would obey. Newlines stay.
 *
 * @example
 * ```ts
 * toSafeText("\u001B]0;title\u0007hello\u001B[2J"); // "hello"
 * ```
 */
export function toSafeText(text: string): string {
  return text.replaceAll(sequences, "").replaceAll(controls, "");
}

/** The same on one line of at most so many characters. */
export function toSafeLine(text: string, maxChars = 200): string {
  const line = toSafeText(text).replaceAll(/\s*\n\s*/g, " ");
  // Never between the halves of a character.
  return line.length <= maxChars
    ? line
    : `${line.slice(0, maxChars - 1).replace(/[\uD800-\uDBFF]$/, "")}…`;
}
