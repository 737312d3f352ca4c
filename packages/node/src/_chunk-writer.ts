/**
 * Why not `response.write`: it makes four writes of each chunk (size, break, text, break) and gathers
 * them with `cork`, so that every token pays for eight objects and a `writev`. Here what was said until
 * the sockets have their turn is one text and one `write`, with its head if that was not sent yet.
 *
 * And why not at once: the kernel's work for a write drives ours out of the processor's caches, and the
 * other way round. A few streams that speak in the same turn are written one after the other. On 300
 * streams with a delta each 5 ms that saved up to a fifth of what a delta costs. By fours the 99th of 100
 * came no later than by hand; by eights it was up to three times as late, and all at once four times.
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
  for (const writer of writers) writer.flush();
}

/** Writes texts as chunks of HTTP/1.1, one for all that is written in a turn. */
export class ChunkWriter {
  readonly socket: Socket;
  readonly #owner: { drained(): void };
  #held = "";
  #isFull = false;
  #isCorked = true;

  /** The owner is told when a socket that was full has room again. */
  constructor(socket: Socket, owner: { drained(): void }) {
    this.socket = socket;
    this.#owner = owner;
    // What the socket holds is the head, which leaves with what is said first.
    socket.cork();
    flushSoon(this);
  }

  /** Characters that are not with the socket yet. */
  get held(): number {
    return this.#held.length;
  }

  /** False: the socket is full, and the owner will be told. */
  write(text: string): boolean {
    if (this.#held === "" && !this.#isCorked) flushSoon(this);
    this.#held += text;
    if (this.#held.length + this.socket.writableLength < enough) return !this.#isFull;
    // So much is worth a write of its own: whoever is owed more should not wait for the next turn.
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
    // Plain ASCII, which is most of what is said, is copied and not encoded.
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
 * The socket of a response whose head is sent, and that writes chunks in Node's own way. Nothing for
 * HTTP/1.0, for a response that waits for its turn, and for one whose `write` somebody made their own.
 */
export function socketForChunks(response: ServerResponse): Socket | undefined {
  const { socket, write } = response;
  const isPlain = write === OutgoingMessage.prototype.write && !("flush" in response);
  const isReady = response.headersSent && response.chunkedEncoding;
  return isPlain && isReady && socket !== null ? socket : undefined;
}
