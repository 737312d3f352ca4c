// HTTP/1.1 as a client reads it that forgives nothing: every byte belongs to an answer that RFC 9112 allows.
import { connect } from "node:net";
import type { Socket } from "node:net";

interface RawAnswer {
  readonly status: number;
  readonly headers: ReadonlyMap<string, string>;
  readonly body: string;
}

export interface Parsed {
  readonly answers: readonly RawAnswer[];
  /** Bytes of an answer that is not complete. */
  readonly rest: number;
}

const statusLine = /^HTTP\/1\.1 ([1-5]\d\d) [\t\x20-\x7e]*$/;
const fieldLine = /^([!#$%&'*+.^_`|~\w-]+):[ \t]*([\t\x20-\x7e\x80-\xff]*?)[ \t]*$/;
const single = new Set([
  "content-length",
  "transfer-encoding",
  "content-type",
  "date",
  "connection",
]);

/**
 * The answers in these bytes. `methods` are those of the requests, in order. Throws at the first byte that no answer
 * may have there. At the end of a connection an answer without a length is complete.
 */
export function parseAnswers(bytes: Buffer, methods: readonly string[], isEnded = false): Parsed {
  const answers: RawAnswer[] = [];
  let at = 0;
  while (at < bytes.length) {
    const end = bytes.indexOf("\r\n\r\n", at, "latin1");
    if (end < 0) {
      assertBeginning(bytes.toString("latin1", at, at + 9));
      break;
    }
    const [first = "", ...lines] = bytes.toString("latin1", at, end).split("\r\n");
    const status = Number(statusLine.exec(first)?.[1] ?? fail(`the status line ${quote(first)}`));
    const headers = toHeaders(lines);
    // An interim answer; the real one follows.
    if (status < 200) {
      at = end + 4;
      continue;
    }
    const method = methods[answers.length] ?? fail("an answer that no request asked for");
    const body = readBody(bytes, end + 4, { status, headers, method, isEnded });
    if (!body) break;
    answers.push({ status, headers, body: body.bytes.toString("utf8") });
    at = body.end;
  }
  return { answers, rest: bytes.length - at };
}

function assertBeginning(text: string): void {
  if (!"HTTP/1.1 ".startsWith(text)) fail(`${quote(text)} where an answer begins`);
}

function toHeaders(lines: readonly string[]): Map<string, string> {
  const headers = new Map<string, string>();
  for (const line of lines) {
    const [, name = "", value = ""] = fieldLine.exec(line) ?? fail(`the header ${quote(line)}`);
    const key = name.toLowerCase();
    if (headers.has(key) && single.has(key)) fail(`${key} twice`);
    headers.set(key, headers.has(key) ? `${headers.get(key)}, ${value}` : value);
  }
  if (headers.has("content-length") && headers.has("transfer-encoding")) fail("two lengths");
  return headers;
}

interface Head {
  readonly status: number;
  readonly headers: ReadonlyMap<string, string>;
  readonly method: string;
  readonly isEnded: boolean;
}

interface Body {
  readonly bytes: Buffer;
  readonly end: number;
}

// Returns undefined when it is not complete.
function readBody(bytes: Buffer, from: number, head: Head): Body | undefined {
  const { status, headers, method, isEnded } = head;
  const hasBody = method !== "HEAD" && status !== 204 && status !== 304;
  if (!hasBody) return { bytes: Buffer.alloc(0), end: from };
  if (headers.get("transfer-encoding") === "chunked") return readChunks(bytes, from);
  if (headers.has("transfer-encoding")) fail(`the coding ${headers.get("transfer-encoding")}`);
  const given = headers.get("content-length");
  if (given === undefined) {
    if (!isEnded) return undefined;
    if (headers.get("connection") !== "close") fail("a body without an end");
    return { bytes: bytes.subarray(from), end: bytes.length };
  }
  if (!/^\d+$/.test(given)) fail(`the length ${quote(given)}`);
  const end = from + Number(given);
  return end > bytes.length ? undefined : { bytes: bytes.subarray(from, end), end };
}

function readChunks(bytes: Buffer, from: number): Body | undefined {
  const pieces: Buffer[] = [];
  let at = from;
  for (;;) {
    const line = bytes.indexOf("\r\n", at, "latin1");
    if (line < 0) {
      if (!/^[\da-f]*\r?$/i.test(bytes.toString("latin1", at))) fail("the size of a chunk");
      return undefined;
    }
    const size = bytes.toString("latin1", at, line);
    if (!/^[\da-f]+$/i.test(size)) fail(`the chunk size ${quote(size)}`);
    const length = Number.parseInt(size, 16);
    const end = line + 2 + length;
    if (end + 2 > bytes.length) return undefined;
    if (bytes.toString("latin1", end, end + 2) !== "\r\n") fail("a chunk without its end");
    if (length === 0) return { bytes: Buffer.concat(pieces), end: end + 2 };
    pieces.push(bytes.subarray(line + 2, end));
    at = end + 2;
  }
}

function quote(text: string): string {
  return JSON.stringify(text.slice(0, 80));
}

function fail(what: string): never {
  throw new Error(`Not HTTP: ${what}.`);
}

/** How a connection is used. */
export interface Manners {
  /** The bytes to send, in pieces. */
  readonly pieces: readonly string[];
  /** Leaves after so many bytes were received. */
  readonly leaveAfter?: number;
  /** Reads a piece, then nothing for so many turns of the event loop. */
  readonly pauseTurns?: number;
}

/** Sends the pieces and returns what was received until the server, or this client, ended the connection. */
export async function exchangeRaw(port: number, manners: Manners): Promise<Buffer> {
  const { pieces, leaveAfter = Infinity, pauseTurns = 0 } = manners;
  const socket = connect({ port, host: "127.0.0.1", noDelay: true });
  const received: Buffer[] = [];
  let length = 0;
  const closed = new Promise<void>((resolve) => {
    // The server may close what it refuses before all of it was sent.
    socket.on("error", () => undefined).once("close", () => resolve());
  });
  socket.on("data", (chunk: Buffer) => {
    received.push(chunk);
    length += chunk.length;
    if (length >= leaveAfter) socket.destroy();
    else if (pauseTurns > 0) pauseFor(socket, pauseTurns);
  });
  for (const piece of pieces) {
    if (socket.destroyed) break;
    await new Promise<void>((resolve) => socket.write(piece, "latin1", () => resolve()));
  }
  if (leaveAfter === 0) socket.destroy();
  await closed;
  return Buffer.concat(received);
}

function pauseFor(socket: Socket, turns: number): void {
  socket.pause();
  const next = (left: number): void => {
    if (left === 0) socket.resume();
    else setImmediate(next, left - 1);
  };
  next(turns);
}
