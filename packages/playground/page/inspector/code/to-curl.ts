import type { SentRequest } from "../../model.ts";

/** A request as a line for a POSIX shell. */
export function toCurl({ method, url, headers, body }: SentRequest): string {
  // -N shows each event when it comes; -g leaves brackets in the address alone.
  const parts = [`curl -N${/[[\]{}]/.test(url) ? "g" : ""} ${quote(url)}`];
  if (method !== (body === undefined ? "GET" : "POST")) parts.push(`-X ${quote(method)}`);
  for (const [name, value] of Object.entries(headers)) {
    if (/^(?:host|content-length)$/i.test(name)) continue;
    // Without a value curl would leave the header out; a semicolon sends it empty.
    parts.push(`-H ${quote(value === "" ? `${name};` : `${name}: ${value}`)}`);
  }
  // Not -d: there a leading @ names a file.
  if (body !== undefined) parts.push(`--data-raw ${quote(body)}`);
  if (isBinary(headers)) parts.push("--output -");
  return parts.join(" \\\n  ");
}

function quote(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`;
}

function isBinary(headers: SentRequest["headers"]): boolean {
  return Object.entries(headers).some(
    ([name, value]) => name.toLowerCase() === "accept" && value.includes("proto"),
  );
}
