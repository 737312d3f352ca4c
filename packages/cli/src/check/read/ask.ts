import { request as requestHttp } from "node:http";
import type { IncomingHttpHeaders, IncomingMessage } from "node:http";
import { request as requestHttps } from "node:https";
import type { Readable } from "node:stream";
import { createBrotliDecompress, createGunzip, createInflate } from "node:zlib";

/** A request, written out. */
export interface ProbeRequest {
  readonly url: URL;
  readonly method?: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | Buffer;
  readonly timeoutMs: number;
  /** Decides, from what has arrived so far, whether the rest may be left unread. */
  readonly isEnough?: (tail: string) => boolean;
  /** Decides whether the response should have ended; it then has 3 s to end. */
  readonly isOver?: (tail: string) => boolean;
}

/** A piece of a body and when it came, in milliseconds after the request. */
interface Piece {
  readonly at: number;
  readonly bytes: Buffer;
}

/** Everything that came back. */
export interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  /** Decompressed, as they came. */
  readonly pieces: readonly Piece[];
  readonly bytes: Buffer;
  /** `closed` in good order; `cut` in the middle; `open` until we lost patience; `left` by us. */
  readonly end: "closed" | "cut" | "open" | "left";
  readonly endedAt: number;
}

/** There was no answer at all. */
export class NoAnswer extends Error {
  override readonly name = "NoAnswer";
  readonly code: string;

  constructor(error: NodeJS.ErrnoException) {
    super(error.message || error.code || "The connection failed.");
    this.code = error.code ?? "";
  }

  /** Whether the server is not reachable. */
  get isGone(): boolean {
    return ["ECONNREFUSED", "ENOTFOUND", "EAI_AGAIN", "EHOSTUNREACH"].includes(this.code);
  }
}

const maxGraceMs = 3_000;
const tailChars = 4_096;

/** Sends a request on a separate connection and keeps every byte. Throws {@link NoAnswer}. */
export function ask(question: ProbeRequest): Promise<Answer> {
  const { url, method = "POST", headers, body, timeoutMs } = question;
  const request = url.protocol === "https:" ? requestHttps : requestHttp;
  const started = performance.now();
  return new Promise((resolve, reject) => {
    let answered = false;
    const sent = request(url, { method, agent: false, headers: withLength(headers, body) });
    const timer = setTimeout(() => {
      const seconds = timeoutMs / 1_000;
      sent.destroy(Object.assign(new Error(`No answer within ${seconds} s.`), { code: "TIMEOUT" }));
    }, timeoutMs);
    sent.on("response", (message) => {
      answered = true;
      clearTimeout(timer);
      void collect(message, question, started).then((answer) => {
        sent.destroy();
        resolve(answer);
      });
    });
    sent.on("error", (error) => {
      clearTimeout(timer);
      // After the head, the body reports this: a refusal may arrive while the request is still
      // being sent.
      if (!answered) reject(new NoAnswer(error));
    });
    sent.end(body);
  });
}

function collect(
  message: IncomingMessage,
  question: ProbeRequest,
  started: number,
): Promise<Answer> {
  const pieces: Piece[] = [];
  const stream = decoded(message);
  return new Promise((resolve) => {
    let tail = "";
    const settle = (end: Answer["end"]): void => {
      clearTimeout(timer);
      const bytes = Buffer.concat(pieces.map((piece) => piece.bytes));
      const { statusCode: status = 0, headers } = message;
      resolve({ status, headers, pieces, bytes, end, endedAt: performance.now() - started });
    };
    let timer = setTimeout(settle, question.timeoutMs, "open");
    let isWaiting = false;
    stream.on("data", (bytes: Buffer) => {
      pieces.push({ at: performance.now() - started, bytes });
      tail = (tail + bytes.toString("latin1")).slice(-tailChars - bytes.length);
      if (question.isEnough?.(tail)) return settle("left");
      if (isWaiting || !question.isOver?.(tail)) return;
      isWaiting = true;
      clearTimeout(timer);
      timer = setTimeout(settle, Math.min(maxGraceMs, question.timeoutMs), "open");
    });
    stream.on("end", () => settle(message.complete ? "closed" : "cut"));
    stream.on("error", () => settle("cut"));
    message.on("error", () => settle("cut"));
    message.on("aborted", () => settle("cut"));
  });
}

function decoded(message: IncomingMessage): Readable {
  switch (message.headers["content-encoding"]) {
    case "gzip":
      return message.pipe(createGunzip());
    case "br":
      return message.pipe(createBrotliDecompress());
    case "deflate":
      return message.pipe(createInflate());
    default:
      return message;
  }
}

function withLength(
  headers: Readonly<Record<string, string>>,
  body: string | Buffer | undefined,
): Record<string, string> {
  if (body === undefined) return { ...headers };
  return { ...headers, "content-length": String(Buffer.byteLength(body)) };
}
