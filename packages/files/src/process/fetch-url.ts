import { lookup as systemLookup } from "node:dns";
import type { LookupAddress } from "node:dns";
import { request as requestHttp } from "node:http";
import type { IncomingMessage } from "node:http";
import { request as requestHttps } from "node:https";
import { BlockList, isIP } from "node:net";
import type { LookupFunction } from "node:net";

/** Which addresses may be fetched, and how much. */
export interface UrlAllowList {
  /** Origins, such as `https://files.example.com`. Redirects must stay among them. */
  readonly allow: readonly string[];
  /** Also allow private and loopback addresses. By default only public ones. */
  readonly allowPrivate?: boolean;
  /** @default 10_000 */
  readonly timeoutMs?: number;
}

/** A file as its server sent it. */
export interface FetchedFile {
  readonly bytes: Uint8Array;
  readonly mimeType?: string | undefined;
  readonly name?: string | undefined;
}

/** Thrown for a file that has more bytes than were asked for. */
export class FileTooLarge extends Error {}

const maxHops = 3;

/** Fetches a file from an allowed origin; the address it resolves to is checked as well. */
export async function fetchUrl(
  address: string,
  list: UrlAllowList,
  { maxBytes, signal }: { maxBytes: number; signal?: AbortSignal | undefined },
): Promise<FetchedFile> {
  const time = AbortSignal.timeout(list.timeoutMs ?? 10_000);
  const until = signal ? AbortSignal.any([signal, time]) : time;
  let url = new URL(address);
  for (let hop = 0; hop <= maxHops; hop++) {
    assertAllowed(url, list);
    const response = await get(url, list, until);
    const { statusCode = 0, headers } = response;
    if (statusCode >= 300 && statusCode < 400 && headers.location !== undefined) {
      response.destroy();
      url = new URL(headers.location, url);
      continue;
    }
    if (statusCode !== 200) {
      response.destroy();
      throw new Error(`it responded with ${statusCode}`);
    }
    const bytes = await readAll(response, maxBytes);
    const mimeType = headers["content-type"];
    return { bytes, mimeType, name: decodeURIComponent(url.pathname.split("/").at(-1) ?? "") };
  }
  throw new Error(`it redirects more than ${maxHops} times`);
}

function assertAllowed(url: URL, { allow }: UrlAllowList): void {
  const hasUser = url.username !== "" || url.password !== "";
  const isWeb = url.protocol === "https:" || url.protocol === "http:";
  if (isWeb && !hasUser && allow.includes(url.origin)) return;
  throw new Error("its origin is not allowed");
}

function get(
  url: URL,
  { allowPrivate }: UrlAllowList,
  signal: AbortSignal,
): Promise<IncomingMessage> {
  const host = url.hostname.replace(/^\[|\]$/g, "");
  // A literal address is never looked up.
  if (isIP(host) !== 0 && !allowPrivate && !isPublic(host)) throw notPublic();
  const request = url.protocol === "https:" ? requestHttps : requestHttp;
  const lookup = allowPrivate ? undefined : publicLookup;
  return new Promise((resolve, reject) => {
    request(url, { signal, agent: false, ...(lookup ? { lookup } : {}) }, resolve)
      .on("error", reject)
      .end();
  });
}

// Checked where the connection is made, so that a name cannot resolve to something else afterwards.
const publicLookup: LookupFunction = (hostname, options, callback) => {
  systemLookup(hostname, { ...options, all: true }, (error, addresses: LookupAddress[]) => {
    if (error) return callback(error, "", 4);
    if (addresses.length === 0 || !addresses.every(({ address }) => isPublic(address))) {
      return callback(notPublic(), "", 4);
    }
    if (options.all) return callback(null, addresses);
    callback(null, addresses[0]!.address, addresses[0]!.family);
  });
};

// Of other networks, of documentation, of tests, of many at once.
const reserved4 = [
  ["0.0.0.0", 8],
  ["10.0.0.0", 8],
  ["100.64.0.0", 10],
  ["127.0.0.0", 8],
  ["169.254.0.0", 16],
  ["172.16.0.0", 12],
  ["192.0.0.0", 24],
  ["192.0.2.0", 24],
  ["192.88.99.0", 24],
  ["192.168.0.0", 16],
  ["198.18.0.0", 15],
  ["198.51.100.0", 24],
  ["203.0.113.0", 24],
  ["224.0.0.0", 3],
] as const;
const global6 = [["2000::", 3]] as const;
const reserved6 = [
  ["2001::", 23],
  ["2001:db8::", 32],
  ["2002::", 16],
  ["3fff::", 20],
] as const;

/** Whether an address is public, and not private, loopback or reserved. */
export function isPublic(address: string): boolean {
  switch (isIP(address)) {
    case 4:
      return !isIn(address, "ipv4", reserved4);
    case 6:
      // Addresses of IPv4 in another dress are outside of it.
      return isIn(address, "ipv6", global6) && !isIn(address, "ipv6", reserved6);
    default:
      return false;
  }
}

function isIn(
  address: string,
  family: "ipv4" | "ipv6",
  subnets: readonly (readonly [net: string, bits: number])[],
): boolean {
  const list = new BlockList();
  for (const [net, bits] of subnets) list.addSubnet(net, bits, family);
  return list.check(address, family);
}

function notPublic(): Error {
  return new Error("it resolves to a private or reserved address");
}

async function readAll(response: IncomingMessage, maxBytes: number): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of response as AsyncIterable<Uint8Array>) {
    size += chunk.byteLength;
    // Leaving the loop ends the connection.
    if (size > maxBytes) throw new FileTooLarge(`it is larger than ${maxBytes} bytes`);
    chunks.push(chunk);
  }
  return new Uint8Array(Buffer.concat(chunks));
}
