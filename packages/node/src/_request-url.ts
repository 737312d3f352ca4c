import { queryOf } from "@holodeck/agui-core/internal";
import type { NodeRequest } from "./types.ts";

/** The URL as the client sent it. Never throws: what cannot be a URL becomes one on `localhost`. */
export function requestUrl(req: NodeRequest, protocol: string | undefined): URL {
  const target = targetOf(req);
  const path = target.startsWith("/") ? target : target.replace(absoluteForm, "");
  const rooted = path.startsWith("/") ? path : `/${path}`;
  const origin = `${protocol ?? schemeOf(req)}://${hostOf(req)}`;
  return (
    parse(origin + rooted) ?? parse(`http://localhost${rooted}`) ?? new URL("http://localhost/")
  );
}

/** The path a host routes by: without its mount prefix, without the query, still encoded. */
export function requestPath(req: NodeRequest): string {
  const target = req.url ?? "/";
  const end = target.search(/[?#]/);
  const path = end === -1 ? target : target.slice(0, end);
  if (path.startsWith("/")) return path;
  return path.replace(absoluteForm, "") || "/";
}

/** The query of the URL as the client sent it, with its `?`; empty when there is none. */
export function requestQuery(req: NodeRequest): string {
  return queryOf(targetOf(req));
}

// A framework that mounts strips `url` and leaves what the client sent in `originalUrl`.
function targetOf({ originalUrl, url }: NodeRequest): string {
  return originalUrl ?? url ?? "/";
}

// A proxy's request line, RFC 9112 3.2.2: `GET http://host/path HTTP/1.1`.
const absoluteForm = /^[a-z][a-z0-9+.-]*:\/\/[^/?#]*/i;

function schemeOf(req: NodeRequest): string {
  return peerOf(req).isEncrypted ? "https" : "http";
}

function hostOf(req: NodeRequest): string {
  const host = authorityOf(req) ?? req.headers.host ?? "";
  // Whatever could end the authority part would let a client choose the path, too.
  return /^[^\s/?#@\\]+$/.test(host) ? host : "localhost";
}

/** The host as HTTP/2 names it. */
export function authorityOf(req: NodeRequest): string | undefined {
  const value = req.headers[":authority"];
  return typeof value === "string" ? value : undefined;
}

/** The peer of the socket. */
export function peerOf(req: NodeRequest): { ip?: string | undefined; isEncrypted?: boolean } {
  try {
    const { socket } = req;
    return { ip: socket.remoteAddress, isEncrypted: "encrypted" in socket && socket.encrypted };
  } catch {
    // On HTTP/2 the socket is a proxy that throws once the client is gone.
    return {};
  }
}

function parse(url: string): URL | undefined {
  return URL.canParse(url) ? new URL(url) : undefined;
}
