import type { IncomingMessage, ServerResponse } from "node:http";
import type { Http2ServerRequest, Http2ServerResponse } from "node:http2";

/** A request of `node:http`, `https` or `http2`, with what frameworks and parsers add to it. */
export type NodeRequest = (IncomingMessage | Http2ServerRequest) & {
  /** Before a framework took its mount prefix away. */
  originalUrl?: string;
  /** What a body parser left. */
  body?: unknown;
};

/** A response of `node:http`, `https` or `http2`. */
export type NodeResponse = ServerResponse | Http2ServerResponse;
