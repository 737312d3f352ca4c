import type { Chunk, UnsentResponse } from "@holodeck/agui-core";
import type { ServerResponse } from "node:http";
import type { NodeRequest } from "./types.ts";

export interface WholeResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Chunk;
  /** HEAD, 204 and 304: it has a length, and goes nowhere. */
  readonly isBodyless: boolean;
}

/**
 * An answer in one piece, in Node's own way: head and text are one string and one write. Through a sink the
 * head would be flushed first, the text encoded and both held back until the tick is over, all for a stream
 * that has one chunk. Returns what the socket could not take at once, if there is any.
 */
export function respondWhole(
  res: ServerResponse,
  req: NodeRequest,
  answer: WholeResponse,
): UnsentResponse | undefined {
  const { status, headers, body, isBodyless } = answer;
  const length = Buffer.byteLength(body);
  // "close" reports a reset; without a listener, the error would end the process.
  res.on("error", ignore);
  res.writeHead(status, withLength(status, headers, length));
  // What was begun and not finished would block the connection; Node discards the rest only of a body
  // that was never read.
  if (!req.complete) req.resume();
  if (isBodyless) res.end();
  // Plain ASCII, which is most of the text, is copied and not encoded.
  else if (length === body.length) res.end(body, "latin1");
  else res.end(body);
  return unsentOf(res) === 0 ? undefined : new Unsent(res);
}

class Unsent implements UnsentResponse {
  readonly #res: ServerResponse;

  constructor(res: ServerResponse) {
    this.#res = res;
  }

  get pending(): number {
    return unsentOf(this.#res);
  }

  destroy(): void {
    this.#res.destroy();
  }
}

function unsentOf(res: ServerResponse): number {
  if (res.writableFinished || res.destroyed) return 0;
  // A response that waits behind another has no socket yet.
  return res.socket ? res.socket.writableLength : res.writableLength;
}

/**
 * The headers of a response whose length is known. A 204 has neither length nor type: clients of HTTP/2 refuse
 * it with a length, and a compressing middleware would announce an encoding for a body of that type.
 */
export function withLength(
  status: number,
  headers: Readonly<Record<string, string>>,
  length: number,
): Readonly<Record<string, string>> {
  if (status !== 204) return { "content-length": String(length), ...headers };
  const { "content-type": _type, ...rest } = headers;
  return rest;
}

function ignore(): void {}
