import type { Chunk, Sink } from "@holodeck/agui-core";
import type { ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { ChunkWriter, socketForChunks } from "./_chunk-writer.ts";
import { isHttp2, isUnread, leaveUnread } from "./_unread.ts";
import type { NodeRequest, NodeResponse } from "./types.ts";

/** `NGHTTP2_CANCEL`; a literal, so that hosts without HTTP/2 do not load it. */
const cancelled = 8;

// What both responses have in common, and what the `compression` middleware adds.
type AnyResponse = Pick<ServerResponse, "write" | "end"> & {
  on(event: "close" | "error" | "drain", listener: () => void): unknown;
  flush?: () => void;
};

/** Breaks a response off, so that the client knows it is not whole and its bytes are freed. */
export function cutOff(response: NodeResponse): void {
  if (!isHttp2(response)) {
    response.destroy();
    return;
  }
  const { stream } = response;
  // A plain destroy would send NO_ERROR, which looks like a regular end.
  if (!stream.closed || !stream.writableFinished) stream.close(cancelled);
  stream.destroy();
}

export interface NodeSinkOptions {
  readonly request: NodeRequest;
  /** HEAD, 204 and 304: what is written goes nowhere. */
  readonly isBodyless: boolean;
  /** The client is still sending a body that will not be read. */
  readonly isCut: boolean;
}

/** A sink that writes straight to the socket. */
export class NodeSink implements Sink {
  onDrain: (() => void) | undefined;
  readonly #response: AnyResponse;
  readonly #request: NodeRequest;
  /** Where the bytes wait: on HTTP/2 that is not the response. */
  readonly #queue: { readonly writableLength: number };
  /** The short way, where there is one. */
  readonly #chunks: ChunkWriter | undefined;
  readonly #isBodyless: boolean;
  readonly #isCut: boolean;
  #onClose: (() => void) | undefined;
  #isOpen = true;
  /** Left, cut, or ended and everything taken. */
  #isGone = false;
  #hasLeft = false;
  #isBlocked = false;
  #isListening = false;

  constructor(response: NodeResponse, { request, isBodyless, isCut }: NodeSinkOptions) {
    this.#response = response as unknown as AnyResponse;
    this.#request = request;
    this.#queue = isHttp2(response) ? response.stream : response;
    this.#isBodyless = isBodyless;
    this.#isCut = isCut;
    const socket = isHttp2(response) ? undefined : socketForChunks(response);
    this.#chunks = socket && new ChunkWriter(socket, this);
    this.#response.on("close", () => this.#close());
    // A reset is reported by "close"; unheard, it would end the process.
    this.#response.on("error", ignore);
    if ((isHttp2(response) ? response.stream : response).destroyed) this.#close();
    else if (!isHttp2(response) && !response.socket) this.#watchQueue(response);
  }

  // Pipelined behind another response it has no socket yet, and would not notice that the client
  // disconnects.
  #watchQueue(response: ServerResponse): void {
    const { socket } = response.req;
    if (socket?.destroyed) this.#close();
    else if (socket)
      response.once(
        "close",
        onceClosed(socket, () => this.#close()),
      );
  }

  get onClose(): (() => void) | undefined {
    return this.#onClose;
  }

  set onClose(listener: (() => void) | undefined) {
    this.#onClose = listener;
    // The client may have disconnected before a listener was set.
    if (this.#hasLeft) queueMicrotask(() => this.#notify());
  }

  get pending(): number {
    return this.#isGone ? 0 : this.#queue.writableLength + (this.#chunks?.held ?? 0);
  }

  write(chunk: Chunk): boolean {
    if (!this.#isOpen) return false;
    if (this.#isBodyless || chunk.length === 0) return !this.#isBlocked;
    if (this.#chunks && typeof chunk === "string") {
      if (this.#chunks.write(chunk)) return !this.#isBlocked;
      this.#isBlocked = true;
      return false;
    }
    this.#chunks?.flush();
    const hasRoom = this.#response.write(chunk);
    // A compressing response buffers until it is flushed.
    this.#response.flush?.();
    if (!hasRoom) {
      this.#isBlocked = true;
      this.#listen();
    }
    return hasRoom;
  }

  end(): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    this.#leaveRequest();
    // Corked: the last text and the end are one packet.
    const socket = this.#chunks?.held ? this.#chunks.socket : undefined;
    socket?.cork();
    this.#chunks?.flush();
    this.#response.end();
    socket?.uncork();
  }

  destroy(): void {
    this.#isOpen = false;
    this.#isGone = true;
    cutOff(this.#native);
  }

  /** The socket has room again. */
  drained(): void {
    if (!this.#isBlocked) return;
    this.#isBlocked = false;
    if (this.#isOpen) this.onDrain?.();
  }

  get #native(): NodeResponse {
    return this.#response as unknown as NodeResponse;
  }

  // A partly read body would block the connection; Node discards the rest only of an untouched one.
  #leaveRequest(): void {
    const request = this.#request;
    if (this.#isCut && isUnread(request, this.#native)) leaveUnread(request, this.#native);
    else if (!request.complete && !isHttp2(this.#native)) request.resume();
  }

  // Once for all: of a response that compresses, a listener cannot be taken off again.
  #listen(): void {
    if (this.#isListening) return;
    this.#isListening = true;
    this.#response.on("drain", () => this.drained());
  }

  #close(): void {
    this.#isGone = true;
    if (!this.#isOpen) return;
    this.#isOpen = false;
    this.#hasLeft = true;
    this.#notify();
  }

  #notify(): void {
    const listener = this.#onClose;
    this.#onClose = undefined;
    listener?.();
  }
}

function ignore(): void {}

/**
 * Calls the listener once when the client disconnects before the response is complete; also while a
 * pipelined response waits for its turn.
 */
export function onceLeft(response: NodeResponse, listener: () => void): void {
  if (isHttp2(response)) {
    const { stream } = response;
    const check = (): void => {
      // A reset ends the writing side as if it were complete.
      if (stream.aborted || !stream.writableFinished) listener();
    };
    if (stream.destroyed) check();
    else stream.once("close", check);
    return;
  }
  const { socket } = response.req;
  const check = (): void => {
    if (!response.writableFinished) listener();
  };
  if (response.destroyed || socket?.destroyed) return check();
  const forget = response.socket || !socket ? undefined : onceClosed(socket, check);
  response.once("close", () => {
    forget?.();
    check();
  });
}

const queues = new WeakMap<Socket, Set<() => void>>();

// One listener for a socket, however many answers wait for it.
function onceClosed(socket: Socket, listener: () => void): () => void {
  let queue = queues.get(socket);
  if (!queue) {
    const made = new Set<() => void>();
    queue = made;
    queues.set(socket, made);
    socket.once("close", () => {
      for (const each of made) each();
    });
  }
  queue.add(listener);
  return () => void queue.delete(listener);
}
