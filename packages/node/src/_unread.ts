import type { IncomingMessage } from "node:http";
import type { Http2ServerResponse } from "node:http2";
import type { NodeRequest, NodeResponse } from "./types.ts";

/** How long a client may go on sending what nobody reads, once it has its answer. */
const lingerMs = 5_000;

export function isHttp2(req: NodeRequest): boolean {
  return req.httpVersionMajor >= 2;
}

/** True while the client is still sending its body. */
export function isUnread(req: NodeRequest, res: NodeResponse): boolean {
  if (isHttp2(req)) {
    return !req.complete && !(res as Http2ServerResponse).stream?.endAfterHeaders;
  }
  const { "content-length": length, "transfer-encoding": encoding } = req.headers;
  return !req.complete && (encoding !== undefined || (length !== undefined && length !== "0"));
}

/** Parts from a client that has its answer and is still sending, so that the answer arrives. */
export function leaveUnread(req: NodeRequest, res: NodeResponse): void {
  if (isHttp2(req)) {
    // RFC 9113 8.1: a complete answer, then RST_STREAM(NO_ERROR). Node does so only if nothing was read.
    const { stream } = res as Http2ServerResponse;
    res.once("finish", () => stream?.close());
    return;
  }
  linger(req as IncomingMessage);
}

// Node closes the socket as soon as the answer is out. With bytes still coming in, the kernel then sends a
// reset, which can overtake the answer. So: half-close, throw away what comes, and close after that.
function linger(req: IncomingMessage): void {
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
