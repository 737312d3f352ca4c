/** What is looked at of a socket of `node:net`. */
interface QueueSocket {
  readonly destroyed?: boolean;
  pause(): unknown;
  resume(): unknown;
  once(event: "close", listener: () => void): unknown;
}

/** What is looked at of a response of `node:http`. */
export interface QueuedResponse {
  readonly socket?: unknown;
  readonly req?: { readonly socket?: unknown; readonly httpVersionMajor?: number } | undefined;
  once(event: "socket", listener: () => void): unknown;
}

// More requests of one connection are not read until some of these are answered.
const most = 64;

/** The responses that wait for a socket. */
interface Line {
  waiting: number;
  readonly leaving: Set<() => void>;
}

const lines = new WeakMap<object, Line>();

// The version alone is only a claim: Node's parser of HTTP/1.1 accepts a request line that ends with `HTTP/2.0`.
function isHttp2({ req }: QueuedResponse): boolean {
  return req !== undefined && (req.httpVersionMajor ?? 1) >= 2 && "authority" in req;
}

/**
 * The socket of a response that is not the next of its connection: its client has sent the request behind others whose
 * responses it has not received. Node calls listeners for all of them, and keeps the responses that were made too early.
 */
export function socketBefore(response: QueuedResponse): QueueSocket | undefined {
  if (response.socket || isHttp2(response)) return undefined;
  const socket = response.req?.socket as (QueueSocket & { _httpMessage?: unknown }) | undefined;
  // Set by Node while a response has the socket; requests that tests make up do not have it.
  return socket?._httpMessage && !socket.destroyed ? socket : undefined;
}

/** Calls `answer` when it is the turn of such a response, or `leave` when its client leaves first. */
export function whenNext(
  response: QueuedResponse,
  socket: QueueSocket,
  { answer, leave }: { readonly answer: () => void; readonly leave?: () => void },
): void {
  const line = lines.get(socket) ?? openLine(socket);
  if (leave) line.leaving.add(leave);
  if (++line.waiting === most) socket.pause();
  response.once("socket", () => {
    if (leave) line.leaving.delete(leave);
    if (--line.waiting === most - 1) socket.resume();
    answer();
  });
}

// One listener for a socket, however many responses wait for it.
function openLine(socket: QueueSocket): Line {
  const line: Line = { waiting: 0, leaving: new Set() };
  lines.set(socket, line);
  socket.once("close", () => {
    for (const leave of line.leaving) leave();
  });
  return line;
}
