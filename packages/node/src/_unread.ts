import type { Http2ServerResponse } from "node:http2";
import type { NodeRequest, NodeResponse } from "./types.ts";

/** How long a client may continue to send an unread body after its response. */
const lingerMs = 5_000;
const shortBody = 64 * 1024;

/**
 * Determined by the request: some middleware sets a `stream` on responses of HTTP/1.1. Its version alone is only a
 * claim: Node's parser of HTTP/1.1 accepts a request line that ends with `HTTP/2.0`.
 */
export function isHttp2(res: NodeResponse): res is Http2ServerResponse {
  const { req } = res;
  return (req?.httpVersionMajor ?? 1) >= 2 && "authority" in req;
}

/**
 * True while the client is still sending its body. On HTTP/1.1 a short one does not count: it comes
 * anyway, and to close for it would cost the client its connection.
 */
export function isUnread(req: NodeRequest, res: NodeResponse): boolean {
  if (req.complete) return false;
  if (isHttp2(res)) return !res.stream.endAfterHeaders;
  const { "content-length": length, "transfer-encoding": encoding } = req.headers;
  return encoding !== undefined || Number(length ?? 0) > shortBody;
}

/**
 * Parts from a client that has its answer and is still sending. What it sends is thrown away for a
 * while: a connection that is closed under its hands takes the answer with it.
 */
export function leaveUnread(req: NodeRequest, res: NodeResponse): void {
  if (isHttp2(res)) lingerOnStream(req, res);
  else lingerOnSocket(req);
}

// RST_STREAM(NO_ERROR) at once, as RFC 9113 8.1 allows, makes Node's own client drop the answer.
function lingerOnStream(req: NodeRequest, { stream }: Http2ServerResponse): void {
  // On the stream: the response itself emits "finish" only when everything is over.
  stream.once("finish", () => {
    const timer = setTimeout(() => stream.close(), lingerMs);
    stream.once("close", () => clearTimeout(timer));
    // Unread, what is buffered would keep the stream and its session for ever.
    req.resume();
  });
}

// Node closes the socket as soon as the answer is out. With bytes still coming in, the kernel then
// sends a reset, which can overtake the answer. So: half-close, throw away, and close after that.
function lingerOnSocket(req: NodeRequest): void {
  const { socket } = req;
  if (typeof socket?.destroySoon !== "function") return;
  socket.destroySoon = () => {
    const timer = setTimeout(() => socket.destroy(), lingerMs);
    socket.once("close", () => clearTimeout(timer));
    req.once("end", () => socket.destroy());
    req.resume();
    socket.end();
  };
}
