import { Agent, request as httpRequest } from "node:http";
import type { IncomingMessage } from "node:http";
import { connect, constants } from "node:http2";
import type { ClientHttp2Session, ClientHttp2Stream, IncomingHttpHeaders } from "node:http2";
import { pipeline, Readable } from "node:stream";
import { createGunzip } from "node:zlib";

export interface ClientRequest {
  path: string;
  method?: string;
  headers?: Record<string, string>;
  body?: Uint8Array | AsyncIterable<Uint8Array>;
}

export interface ClientAnswer {
  readonly status: number;
  header(name: string): string | undefined;
  /** The next bytes; nothing at a clean end. Rejects when the answer was broken off. */
  read(): Promise<Uint8Array | undefined>;
}

export interface ClientCall {
  readonly answer: Promise<ClientAnswer>;
  leave(): void;
}

/** A client that reads only on request. */
export interface BindingClient {
  send(request: ClientRequest): ClientCall;
  close(): void;
}

/** Reads what is left. */
export async function readToEnd(answer: ClientAnswer): Promise<Buffer> {
  const parts: Uint8Array[] = [];
  for (let part = await answer.read(); part; part = await answer.read()) parts.push(part);
  return Buffer.concat(parts);
}

/** How an answer ends: whole, or broken off. */
export async function endingOf(answer: ClientAnswer): Promise<"whole" | "broken"> {
  return readToEnd(answer).then(
    () => "whole",
    () => "broken",
  );
}

/** Speaks HTTP/1.1, with connections kept open. */
export function createHttp1Client(base: string): BindingClient {
  const agent = new Agent({ keepAlive: true });
  return {
    send({ path, method = "GET", headers = {}, body }) {
      const req = httpRequest(base + path, { method, headers, agent });
      const answer = new Promise<ClientAnswer>((resolve, reject) => {
        req.on("response", (res: IncomingMessage) => resolve(toAnswer(res, res.headers)));
        // Stays: a client may be cut off in the middle of its upload and still have its answer.
        req.on("error", reject);
      });
      upload(req, body);
      return { answer: handled(answer), leave: () => req.destroy() };
    },
    close: () => agent.destroy(),
  };
}

/** Speaks HTTP/2 in clear text, all requests on one connection. */
export function createHttp2Client(base: string): BindingClient {
  const { origin, pathname } = new URL(base);
  const prefix = pathname === "/" ? "" : pathname;
  let session: ClientHttp2Session | undefined;
  return {
    send({ path, method = "GET", headers = {}, body }) {
      session ??= connect(origin).on("error", () => undefined);
      const pseudo = { ":method": method, ":path": prefix + path };
      const stream = session.request({ ...pseudo, ...headers }, { endStream: !body });
      const answer = new Promise<ClientAnswer>((resolve, reject) => {
        stream.on("response", (received) => resolve(toAnswer(stream, received)));
        stream.on("error", reject);
        stream.on("close", () => reject(new Error("The stream was closed without an answer.")));
      });
      if (body) upload(stream, body);
      return { answer: handled(answer), leave: () => stream.close(constants.NGHTTP2_CANCEL) };
    },
    close: () => session?.destroy(),
  };
}

/** Calls a web-standard `fetch`, without a socket. */
export function createFetchClient(
  base: string,
  fetch: (request: Request) => Promise<Response>,
): BindingClient {
  return {
    send({ path, method = "GET", headers = {}, body }) {
      const leaving = new AbortController();
      const init = {
        method,
        headers,
        signal: leaving.signal,
        // Without it Node refuses a body that is a stream.
        duplex: "half",
        body: body && (body instanceof Uint8Array ? Buffer.from(body) : toWeb(body)),
      };
      const answer = fetch(new Request(base + path, init as RequestInit)).then(fromResponse);
      return { answer: handled(answer), leave: () => leaving.abort() };
    },
    close: () => undefined,
  };
}

function fromResponse(response: Response): ClientAnswer {
  const reader = response.body?.getReader();
  return {
    status: response.status,
    header: (name) => response.headers.get(name) ?? undefined,
    read: async () => (await reader?.read())?.value,
  };
}

function toAnswer(
  stream: IncomingMessage | ClientHttp2Stream,
  headers: IncomingHttpHeaders,
): ClientAnswer {
  const status = "statusCode" in stream ? stream.statusCode : headers[":status"];
  const isPacked = headers["content-encoding"] === "gzip";
  const plain = isPacked ? pipeline(stream, createGunzip(), () => undefined) : stream;
  // Unread, a reset has no listener.
  plain.on("error", () => undefined);
  const chunks = (plain as Readable)[Symbol.asyncIterator]();
  return {
    status: Number(status),
    header: (name) => headers[name]?.toString(),
    read: async () => {
      const { done, value } = await chunks.next();
      if (!done) return value as Uint8Array;
      // Node ends a stream that was reset as if it were complete.
      if ("rstCode" in stream && stream.rstCode) throw new Error(`Reset: ${stream.rstCode}.`);
      return undefined;
    },
  };
}

function upload(target: NodeJS.WritableStream, body: ClientRequest["body"]): void {
  if (body === undefined) target.end();
  else if (body instanceof Uint8Array) target.end(body);
  else Readable.from(body).pipe(target);
}

function toWeb(body: AsyncIterable<Uint8Array>): ReadableStream<Uint8Array> {
  return Readable.toWeb(Readable.from(body)) as ReadableStream<Uint8Array>;
}

// Callers that leave never look at the answer; their rejection is not unhandled.
function handled<T>(promise: Promise<T>): Promise<T> {
  promise.catch(() => undefined);
  return promise;
}
