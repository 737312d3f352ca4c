import { usageError } from "../shared/cli-error.ts";

/** The endpoint's URL; a word without a scheme is taken for a host. */
export function readUrl(word: string | undefined, usage: string): URL {
  if (word === undefined) throw usageError(`Which endpoint? ${usage}`);
  const text = /^[a-z][a-z0-9+.-]*:\/\//i.test(word) ? word : `http://${word}`;
  if (!URL.canParse(text)) throw usageError(`"${word}" is not a URL. ${usage}`);
  const url = new URL(text);
  if (url.protocol === "http:" || url.protocol === "https:") return url;
  throw usageError(`"${word}" is not a URL of http or https. ${usage}`);
}

/** `--header 'name: value'`, as often as given. */
export function readHeaders(given: readonly string[] = []): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const text of given) {
    const [, name, value] = /^\s*([!#$%&'*+.^_`|~\w-]+)\s*:\s*(.*?)\s*$/.exec(text) ?? [];
    if (name === undefined || value === undefined) {
      throw usageError(`"${text}" is not a header. Write --header 'name: value'.`);
    }
    headers[name.toLowerCase()] = value;
  }
  return headers;
}
