/**
 * The path of an absolute URL as it was sent, without building a `URL`.
 *
 * @example
 * ```ts
 * pathOf("http://localhost/a%20b?c=1"); // "/a%20b"
 * ```
 */
export function pathOf(url: string): string {
  const start = url.indexOf("/", url.indexOf("://") + 3);
  if (start === -1) return "/";
  const end = url.slice(start).search(/[?#]/);
  return end === -1 ? url.slice(start) : url.slice(start, start + end) || "/";
}

/**
 * The query of a URL or of a request target as it was sent, with its `?`, without building a `URL`. Returns
 * an empty string when there is none.
 *
 * @example
 * ```ts
 * queryOf("/agui/info?a=1"); // "?a=1"
 * ```
 */
export function queryOf(url: string): string {
  const start = url.indexOf("?");
  if (start === -1) return "";
  const end = url.indexOf("#");
  if (end === -1) return url.slice(start);
  return url.slice(start, Math.max(start, end));
}
