import { connect } from "node:http2";
import type { ClientHttp2Session, IncomingHttpHeaders } from "node:http2";
import { request as httpsRequest } from "node:https";
import type { Readable } from "node:stream";

/** `fetch` over HTTP/2 without TLS: one session for all requests. */
export function createHttp2Fetch(origin: string): typeof fetch {
  let session: ClientHttp2Session | undefined;
  return async (input, init) => {
    const { url, method, headers, body, signal } = await read(input, init);
    if (!session || session.closed || session.destroyed) {
      session = connect(origin).on("error", () => undefined);
    }
    const { pathname, search } = new URL(url);
    const head = { ":method": method, ":path": pathname + search, ...headers };
    const stream = session.request(head, { endStream: body.length === 0 });
    return new Promise((resolve, reject) => {
      stream.on("response", (answer) => {
        if (!stream.destroyed) resolve(toResponse(Number(answer[":status"]), answer, stream));
      });
      stream.on("error", reject);
      signal.addEventListener("abort", () => {
        reject(signal.reason as Error);
        stream.destroy();
      });
      if (body.length > 0) stream.end(body);
    });
  };
}

/** `fetch` over HTTPS, for a certificate that no authority has signed. */
export function createHttpsFetch(ca: string): typeof fetch {
  return async (input, init) => {
    const { url, method, headers, body, signal } = await read(input, init);
    return new Promise((resolve, reject) => {
      const sent = httpsRequest(url, { method, headers, ca }, (message) => {
        resolve(toResponse(message.statusCode ?? 0, message.headers, message));
      });
      sent.on("error", reject);
      signal.addEventListener("abort", () => sent.destroy(signal.reason as Error));
      sent.end(body);
    });
  };
}

interface PlainRequest {
  readonly url: string;
  readonly method: string;
  readonly headers: Record<string, string>;
  readonly body: Buffer;
  readonly signal: AbortSignal;
}

async function read(
  input: Parameters<typeof fetch>[0],
  init: RequestInit | undefined,
): Promise<PlainRequest> {
  const request = new Request(input, init);
  const { url, method, signal } = request;
  const body = Buffer.from(await request.arrayBuffer());
  return { url, method, signal, headers: Object.fromEntries(request.headers), body };
}

function toResponse(status: number, head: IncomingHttpHeaders, body: Readable): Response {
  const headers = new Headers();
  for (const [name, value] of Object.entries(head)) {
    if (!name.startsWith(":") && value !== undefined) headers.set(name, String(value));
  }
  const isEmpty = status === 204 || status === 304;
  if (isEmpty) body.resume();
  return new Response(isEmpty ? null : toStream(body), { status, headers });
}

// Not `Readable.toWeb`: it takes a stream that was read to its end at once for one in use.
function toStream(body: Readable): ReadableStream<Uint8Array> {
  const pieces = body[Symbol.asyncIterator]() as AsyncIterator<Uint8Array>;
  return new ReadableStream({
    async pull(controller) {
      const { done, value } = await pieces.next();
      if (done) controller.close();
      else controller.enqueue(value);
    },
    async cancel() {
      body.destroy();
      await pieces.return?.();
    },
  });
}
