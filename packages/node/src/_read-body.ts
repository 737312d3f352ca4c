import type { Readable } from "node:stream";
import { leftEarly } from "./_read-all.ts";
import type { NodeRequest } from "./types.ts";

/**
 * What a body parser made of the body, if one was here. Bytes and text are no result but a body to
 * be read; so is the `{}` that body-parser puts on requests it did not touch.
 */
export function parsedBodyOf(req: NodeRequest): unknown {
  const { body } = req;
  if (body === undefined || isUnparsed(body)) return undefined;
  return isEmptyObject(body) && !req.readableDidRead ? undefined : body;
}

/** The body as bytes. A consumer that stops early leaves the rest unread and the socket open. */
export function readBody(req: NodeRequest): AsyncIterable<Uint8Array> {
  const { body } = req;
  // Not `for await (… of req)`: leaving that loop destroys the request, and a client that
  // disconnects mid-body cannot be distinguished from one that has sent everything.
  return isUnparsed(body) ? alone(body) : new BodyReader(req);
}

async function* alone(body: string | Uint8Array): AsyncGenerator<Uint8Array, void, undefined> {
  yield typeof body === "string" ? new TextEncoder().encode(body) : body;
}

type Piece = IteratorResult<Uint8Array, void>;

/** A class and not a generator: every request has one. */
class BodyReader implements AsyncIterableIterator<Uint8Array, void, undefined> {
  readonly #stream: Readable;
  #listener: (() => void) | undefined = undefined;
  #resolve: ((piece: Piece | Promise<Piece>) => void) | undefined = undefined;
  #isOver = false;

  constructor(stream: Readable) {
    this.#stream = stream;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  next(): Promise<Piece> {
    const stream = this.#stream;
    if (this.#isOver) return Promise.resolve(ended);
    if (!this.#listener) this.#listen();
    const chunk = stream.read() as Uint8Array | null;
    if (chunk !== null) return Promise.resolve({ value: chunk, done: false });
    if (stream.readableEnded) return this.return();
    if (stream.destroyed) {
      this.#forget();
      return Promise.reject(leftEarly(stream));
    }
    return new Promise((resolve) => {
      this.#resolve = resolve;
    });
  }

  return(): Promise<Piece> {
    this.#forget();
    return Promise.resolve(ended);
  }

  #listen(): void {
    const listener = (): void => {
      const resolve = this.#resolve;
      this.#resolve = undefined;
      resolve?.(this.next());
    };
    this.#listener = listener;
    const stream = this.#stream;
    // "close" reports the error. The listener stays: a client that disconnects after an early response
    // must not crash the process.
    stream.on("readable", listener).on("end", listener).on("close", listener).on("error", ignore);
  }

  #forget(): void {
    this.#isOver = true;
    const listener = this.#listener;
    this.#listener = undefined;
    if (!listener) return;
    this.#stream.off("readable", listener).off("end", listener).off("close", listener);
  }
}

const ended: Piece = { value: undefined, done: true };

function ignore(): void {}

/** Bytes or text that a parser has left instead of the stream. */
export function isUnparsed(body: unknown): body is string | Uint8Array {
  return typeof body === "string" || body instanceof Uint8Array;
}

function isEmptyObject(body: unknown): boolean {
  return typeof body === "object" && body !== null && Object.keys(body).length === 0;
}
