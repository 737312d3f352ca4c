/**
 * `response.write` makes four writes of each chunk (size, break, text, break) and joins them with
 * `cork`, so that every token costs eight objects and a `writev`. Here all text up to the end of the
 * turn is one string and one `write`, together with the head if that was not sent yet.
 *
 * Writes are also batched across streams: a write in the kernel evicts our data from the processor's
 * caches, and vice versa, so streams with output in the same turn are written one after the other.
 * Batches of 4 keep the p99 of the bench scenario `paced-300` equal to the hand-written server; larger
 * ones increase it.
 */
import { OutgoingMessage } from "node:http";
import type { ServerResponse } from "node:http";
import type { Socket } from "node:net";

const together = 4;
const patienceMs = 1;

/**
 * More than this waits for the socket. Node's own mark is a quarter of it before Node 22, and it counts
 * what the kernel takes at once: an answer of 24 KB had to wait for a `drain` and left in two writes.
 */
const enough = 64 * 1024;

let due: ChunkWriter[] = [];
let since = 0;

function flushSoon(writer: ChunkWriter): void {
  due.push(writer);
  if (due.length === 1) {
    since = performance.now();
    setImmediate(flushAll);
    // Timers that are always due keep an immediate waiting.
  } else if (due.length >= together || performance.now() - since > patienceMs) {
    process.nextTick(flushAll);
  }
}

function flush(writer: ChunkWriter): void {
  writer.flush();
}

function flushAll(): void {
  const writers = due;
  due = [];
  for (let at = 0; at < writers.length; at++) writers[at]!.flush();
}

/** Writes texts as chunks of HTTP/1.1, one for all that is written in a turn. */
export class ChunkWriter {
  readonly socket: Socket;
  readonly #owner: { drained(): void };
  #held = "";
  #isFull = false;
  #isCorked = true;

  /** The owner is notified when a full socket has room again. */
  constructor(socket: Socket, owner: { drained(): void }) {
    this.socket = socket;
    this.#owner = owner;
    // The socket holds the head, which is sent with the first text.
    socket.cork();
    flushSoon(this);
  }

  /** Characters that are not with the socket yet. */
  get held(): number {
    return this.#held.length;
  }

  /** Returns false when the socket is full; the owner is notified when it drains. */
  write(text: string): boolean {
    if (this.#held === "" && !this.#isCorked) flushSoon(this);
    this.#held += text;
    if (this.#held.length + this.socket.writableLength < enough) return !this.#isFull;
    // Large enough for a separate write: a client that is owed more should not wait for the next
    // turn.
    if (!this.#isFull) process.nextTick(flush, this);
    this.#isFull = true;
    return false;
  }

  /** Hands over what is held. */
  flush(): void {
    if (this.#held !== "") this.#send(this.#held);
    if (!this.#isCorked) return;
    this.#isCorked = false;
    this.socket.uncork();
  }

  #send(text: string): void {
    this.#held = "";
    const size = Buffer.byteLength(text);
    // Plain ASCII, which is most of the text, is copied and not encoded.
    const encoding = size === text.length ? "latin1" : "utf8";
    const { socket } = this;
    const isBelowMark = socket.write(`${size.toString(16)}\r\n${text}\r\n`, encoding);
    const hasRoom = isBelowMark || socket.writableLength < enough;
    if (hasRoom && !this.#isFull) return;
    this.#isFull = true;
    if (hasRoom) this.#drain();
    else socket.once("drain", () => this.#drain());
  }

  #drain(): void {
    this.#isFull = false;
    this.#owner.drained();
  }
}

/**
 * The socket of a response whose head is sent and that writes chunks in Node's default way. Returns
 * undefined for HTTP/1.0, for a pipelined response that waits for its turn, and for one whose `write`
 * was overridden.
 */
export function socketForChunks(response: ServerResponse): Socket | undefined {
  const { socket, write } = response;
  const isPlain = write === OutgoingMessage.prototype.write && !("flush" in response);
  const isReady = response.headersSent && response.chunkedEncoding;
  return isPlain && isReady && socket !== null ? socket : undefined;
}
