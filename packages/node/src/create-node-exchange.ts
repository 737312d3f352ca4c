import type { AgentRequest, Chunk, Exchange, Sink, UnsentResponse } from "@holodeck/agui-core";
import { validateHeaderName, validateHeaderValue } from "node:http";
import type { ServerResponse } from "node:http";
import { NodeSink, onceLeft } from "./_node-sink.ts";
import { isUnparsed, parsedBodyOf, readBody } from "./_read-body.ts";
import { readAll } from "./_read-all.ts";
import { authorityOf, peerOf, requestPath, requestQuery, requestUrl } from "./_request-url.ts";
import { respondWhole, withLength } from "./_respond-whole.ts";
import { isHttp2, isUnread } from "./_unread.ts";
import type { NodeRequest, NodeResponse } from "./types.ts";

export interface NodeExchangeOptions {
  /** The path after the mount. By default the path of `req.url`, which Express has stripped. */
  path?: string | undefined;
  /** What a framework parsed. By default `req.body`, if a parser left something there. */
  parsedBody?: unknown;
  /** The client's address, when a framework knows better than the socket. */
  ip?: string | undefined;
  /** `http` or `https`, when a framework knows better than the socket. */
  protocol?: string | undefined;
  /** What `request.native` shows. By default `req`. */
  native?: unknown;
  /** Whether no other handler follows. */
  isLast?: boolean | undefined;
  /** Called just before the head is written. */
  onReply?: (() => void) | undefined;
}

/** Makes the exchange of one request of `node:http`, `https` or `http2`. */
export function createNodeExchange(
  req: NodeRequest,
  res: NodeResponse,
  options: NodeExchangeOptions = {},
): Exchange {
  return new NodeExchange(req, res, options);
}

class NodeExchange implements Exchange {
  readonly #req: NodeRequest;
  readonly #res: NodeResponse;
  readonly #options: NodeExchangeOptions;
  #request: AgentRequest | undefined;
  #isAnswered = false;

  constructor(req: NodeRequest, res: NodeResponse, options: NodeExchangeOptions) {
    this.#req = req;
    this.#res = res;
    this.#options = options;
  }

  get method(): string {
    return this.#req.method ?? "GET";
  }

  get path(): string {
    return this.#options.path ?? requestPath(this.#req);
  }

  get query(): string {
    return requestQuery(this.#req);
  }

  get isLast(): boolean {
    return this.#options.isLast ?? false;
  }

  get request(): AgentRequest {
    return (this.#request ??= {
      method: this.method,
      url: requestUrl(this.#req, this.#options.protocol),
      headers: toHeaders(this.#req),
      ip: this.#options.ip ?? peerOf(this.#req).ip,
      native: this.#options.native ?? this.#req,
    });
  }

  get parsedBody(): unknown {
    return this.#options.parsedBody ?? parsedBodyOf(this.#req);
  }

  header(name: string): string | undefined {
    const { headers } = this.#req;
    const value = headers[name] ?? (name === "host" ? authorityOf(this.#req) : undefined);
    return Array.isArray(value) ? value.join(", ") : value;
  }

  body(): AsyncIterable<Uint8Array> {
    return readBody(this.#req);
  }

  readAll(maxBytes: number): Promise<Uint8Array | undefined> {
    const { body } = this.#req;
    if (!isUnparsed(body)) return readAll(this.#req, maxBytes);
    const bytes = typeof body === "string" ? Buffer.from(body) : body;
    return Promise.resolve(bytes.length > maxBytes ? undefined : bytes);
  }

  onLeave(listener: () => void): void {
    onceLeft(this.#res, listener);
  }

  respond(
    status: number,
    headers: Readonly<Record<string, string>>,
    body: Chunk,
  ): UnsentResponse | undefined {
    const res = this.#res;
    const req = this.#req;
    // The rare ones have a sink that knows them.
    if (isHttp2(res) || isUnread(req, res) || res.destroyed) {
      const sink = this.reply(status, withLength(status, headers, Buffer.byteLength(body)));
      sink.write(body);
      sink.end();
      return sink;
    }
    this.#assertUnanswered();
    validate(headers);
    this.#options.onReply?.();
    // An invalid status throws here, as in `reply`: nothing is written, and a refusal can still be sent.
    const isBodyless = this.#isBodyless(status);
    const unsent = respondWhole(res, req, { status, headers, body, isBodyless });
    this.#isAnswered = true;
    return unsent;
  }

  #assertUnanswered(): void {
    if (!this.#isAnswered) return;
    throw new Error("`reply` was called twice; an exchange has one response.");
  }

  #isBodyless(status: number): boolean {
    return this.method === "HEAD" || status === 204 || status === 304;
  }

  reply(status: number, headers: Readonly<Record<string, string>>): Sink {
    this.#assertUnanswered();
    const req = this.#req;
    const res = this.#res;
    const isCut = isUnread(req, res);
    // Invalid headers throw here: nothing is written, and the exchange is still open.
    validate(headers);
    this.#options.onReply?.();
    if (isHttp2(res)) writeHead(res, status, withoutHopByHop(headers));
    else writeHead(res, status, isCut ? { ...headers, connection: "close" } : headers);
    this.#isAnswered = true;
    return new NodeSink(res, { request: req, isBodyless: this.#isBodyless(status), isCut });
  }
}

function writeHead(
  response: NodeResponse,
  status: number,
  headers: Readonly<Record<string, string>>,
): void {
  const res = response as ServerResponse;
  // Through the proxy of HTTP/2 the socket cannot be touched; there frames are gathered anyway.
  const socket = isHttp2(response) ? null : res.socket;
  socket?.setNoDelay?.(true);
  // Held until the end of this tick: a head and a first write that follows at once are one packet.
  socket?.cork?.();
  try {
    res.writeHead(status, headers);
    res.flushHeaders();
  } finally {
    if (socket?.uncork) process.nextTick(() => socket.uncork());
  }
}

// HTTP/2 transmits a line break unchanged, and a proxy that translates to HTTP/1.1 makes two
// headers of it.
function validate(headers: Readonly<Record<string, string>>): void {
  for (const name in headers) {
    validateHeaderName(name);
    validateHeaderValue(name, headers[name]!);
  }
}

const hopByHop = new Set([
  "connection",
  "keep-alive",
  "proxy-connection",
  "transfer-encoding",
  "upgrade",
]);

function withoutHopByHop(headers: Readonly<Record<string, string>>): Record<string, string> {
  const kept: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers)) {
    if (!hopByHop.has(name.toLowerCase())) kept[name] = value;
  }
  return kept;
}

function toHeaders(req: NodeRequest): Headers {
  const headers = new Headers();
  for (const [name, value] of Object.entries(req.headers)) {
    if (value === undefined || name.startsWith(":")) continue;
    for (const each of Array.isArray(value) ? value : [value]) {
      try {
        headers.append(name, each);
      } catch {
        // Node's parser accepts what the standard refuses; such a URL has no valid meaning.
      }
    }
  }
  const authority = authorityOf(req);
  if (authority !== undefined && !headers.has("host")) headers.set("host", authority);
  return headers;
}
