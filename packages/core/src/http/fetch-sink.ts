import { atTurnEnd } from "../base/time/turns.ts";
import type { TurnMember } from "../base/time/turns.ts";
import type { Chunk, Sink } from "../contract/exchange.ts";

const highWaterMark = 64 * 1024;
const encoder = /* @__PURE__ */ new TextEncoder();

type Bytes = Uint8Array<ArrayBuffer>;

/** A sink that knows when it has nothing left to send. */
export interface AnswerSink extends Sink {
  /** Whether it was ended and the client has taken everything. */
  readonly isTaken: boolean;
}

/** A sink that is the body of a `Response`. */
export interface FetchSink extends AnswerSink {
  readonly body: ReadableStream<Bytes>;
}

/** Makes a response body to write to. It ends with the signal, when the platform aborts one. */
export function createFetchSink(signal: AbortSignal | undefined): FetchSink {
  return new StreamSink(signal);
}

class StreamSink implements FetchSink, TurnMember, UnderlyingDefaultSource<Bytes> {
  readonly body: ReadableStream<Bytes>;
  onDrain: (() => void) | undefined;
  isTaken = false;
  readonly #signal: AbortSignal | undefined;
  readonly #abort: () => void;
  #controller!: ReadableStreamDefaultController<Bytes>;
  #state: "open" | "ending" | "done" | "left" = "open";
  #isBlocked = false;
  #onClose: (() => void) | undefined;
  /** Text written in this turn: each chunk of a web stream costs as much as many tokens. */
  #held = "";

  constructor(signal: AbortSignal | undefined) {
    this.#signal = signal;
    this.body = new ReadableStream<Bytes>(this, { highWaterMark, size: byteLength });
    this.#abort = () => this.#aborted();
    if (signal?.aborted) this.#leftBefore();
    else signal?.addEventListener("abort", this.#abort);
  }

  get pending(): number {
    if (this.#state === "done" || this.#state === "left") return 0;
    // Only as bytes it is known how many they are.
    this.#flush();
    return this.#waiting;
  }

  get onClose(): (() => void) | undefined {
    return this.#onClose;
  }

  set onClose(listener: (() => void) | undefined) {
    this.#onClose = listener;
    // The client may have disconnected before a listener was set.
    if (this.#state === "left") queueMicrotask(() => this.#notify());
  }

  write(chunk: Chunk): boolean {
    if (this.#state !== "open") return false;
    if (typeof chunk !== "string") {
      this.#flush();
      // Shared memory is never written here; the cast only satisfies the stream's type.
      if (chunk.byteLength > 0) this.#controller.enqueue(chunk as Bytes);
    } else if (chunk !== "") {
      if (this.#held === "") atTurnEnd(this);
      this.#held += chunk;
    }
    this.#isBlocked = this.#waiting >= highWaterMark;
    return !this.#isBlocked;
  }

  end(): void {
    if (this.#state !== "open") return;
    this.#flush();
    this.#state = "ending";
    this.#finishWhenTaken();
  }

  destroy(): void {
    if (this.#state === "open" || this.#state === "ending") {
      this.#signal?.removeEventListener("abort", this.#abort);
      this.#controller.error(new Error("The server ended the response."));
    }
    this.#state = "done";
    this.#held = "";
  }

  endTurn(): void {
    this.#flush();
  }

  // ── What the stream calls ────────────────────────────────────────────────────────────────────

  start(controller: ReadableStreamDefaultController<Bytes>): void {
    this.#controller = controller;
  }

  pull(): void {
    if (this.#state === "ending") return this.#finishWhenTaken();
    if (!this.#isBlocked || this.#held !== "") return;
    this.#isBlocked = false;
    this.onDrain?.();
  }

  cancel(): void {
    this.#signal?.removeEventListener("abort", this.#abort);
    const wasOpen = this.#state === "open";
    this.#state = wasOpen ? "left" : "done";
    this.#held = "";
    if (wasOpen) this.#notify();
  }

  // ─────────────────────────────────────────────────────────────────────────────────────────────

  get #waiting(): number {
    const { desiredSize } = this.#controller;
    return this.#held.length + highWaterMark - (desiredSize ?? highWaterMark);
  }

  #flush(): void {
    const text = this.#held;
    if (text === "") return;
    this.#held = "";
    this.#controller.enqueue(encoder.encode(text));
  }

  // Closing waits for the last byte, so that `pending` stays exact and `destroy` works after `end`.
  #finishWhenTaken(): void {
    if (this.#controller.desiredSize !== highWaterMark) return;
    this.#state = "done";
    this.isTaken = true;
    this.#signal?.removeEventListener("abort", this.#abort);
    this.#controller.close();
  }

  // Its client has left before there was a response: no code reads the body, and on some hosts an error of it ends the
  // process.
  #leftBefore(): void {
    this.cancel();
    this.#controller.close();
  }

  #aborted(): void {
    if (this.#state !== "open" && this.#state !== "ending") return;
    this.cancel();
    // After the reader had its turn to cancel: some platforms log an errored stream.
    queueMicrotask(() => this.#controller.error(this.#signal?.reason));
  }

  #notify(): void {
    const listener = this.#onClose;
    this.#onClose = undefined;
    listener?.();
  }
}

/** A sink for answers that have no body, such as those to HEAD. */
export function createVoidSink(): AnswerSink {
  return {
    isTaken: true,
    pending: 0,
    onDrain: undefined,
    onClose: undefined,
    write: () => true,
    end: () => undefined,
    destroy: () => undefined,
  };
}

function byteLength(chunk: Bytes): number {
  return chunk.byteLength;
}
