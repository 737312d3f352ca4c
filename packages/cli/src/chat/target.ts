/** Wrong use of a command: its message is all that is shown, and the exit code is 2. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}

/** The endpoint's URL; a word without a scheme is taken for a host. */
export function readUrl(word: string | undefined, usage: string): URL {
  if (word === undefined) throw new UsageError(`Which endpoint? ${usage}`);
  const text = /^[a-z][a-z0-9+.-]*:\/\//i.test(word) ? word : `http://${word}`;
  if (!URL.canParse(text)) throw new UsageError(`"${word}" is not a URL. ${usage}`);
  const url = new URL(text);
  if (url.protocol === "http:" || url.protocol === "https:") return url;
  throw new UsageError(`"${word}" is not a URL of http or https. ${usage}`);
}

/** `--header 'name: value'`, as often as given. */
export function readHeaders(given: readonly string[] = []): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const text of given) {
    const [, name, value] = /^\s*([!#$%&'*+.^_`|~\w-]+)\s*:\s*(.*?)\s*$/.exec(text) ?? [];
    if (name === undefined || value === undefined) {
      throw new UsageError(`"${text}" is not a header. Write --header 'name: value'.`);
    }
    headers[name.toLowerCase()] = value;
  }
  return headers;
}
