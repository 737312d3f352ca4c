import type { Chunk, Sink } from "./types.ts";

const highWaterMark = 64 * 1024;
const encoder = /* @__PURE__ */ new TextEncoder();

/** A sink that is the body of a `Response`. */
export interface FetchSink extends Sink {
  readonly body: ReadableStream<Uint8Array<ArrayBuffer>>;
}

/** Makes a response body to write to. It ends with the signal, when the platform aborts one. */
export function createFetchSink(signal: AbortSignal | undefined): FetchSink {
  let controller: ReadableStreamDefaultController<Uint8Array<ArrayBuffer>>;
  let state: "open" | "ending" | "done" | "left" = "open";
  let blocked = false;
  let onClose: (() => void) | undefined;

  const body = new ReadableStream<Uint8Array<ArrayBuffer>>(
    {
      start(given) {
        controller = given;
      },
      pull() {
        if (state === "ending") return finishWhenTaken();
        if (!blocked) return;
        blocked = false;
        sink.onDrain?.();
      },
      cancel: leave,
    },
    new ByteLengthQueuingStrategy({ highWaterMark }),
  );

  const sink: FetchSink = {
    body,
    onDrain: undefined,
    get pending() {
      const isOver = state === "done" || state === "left";
      return isOver ? 0 : highWaterMark - (controller.desiredSize ?? highWaterMark);
    },
    get onClose() {
      return onClose;
    },
    set onClose(listener) {
      onClose = listener;
      // The client may have left before anybody could listen.
      if (state === "left") queueMicrotask(tell);
    },
    write(chunk) {
      if (state !== "open") return false;
      const bytes = toBytes(chunk);
      if (bytes.byteLength > 0) controller.enqueue(bytes);
      blocked = (controller.desiredSize ?? 0) <= 0;
      return !blocked;
    },
    end() {
      if (state !== "open") return;
      state = "ending";
      finishWhenTaken();
    },
    destroy() {
      if (state === "open" || state === "ending") stop(new Error("The server ended the response."));
      state = "done";
    },
  };

  // Closing waits for the last byte, so that `pending` stays exact and `destroy` works after `end`.
  function finishWhenTaken(): void {
    if (controller.desiredSize !== highWaterMark) return;
    state = "done";
    signal?.removeEventListener("abort", abort);
    controller.close();
  }

  function stop(reason: unknown): void {
    signal?.removeEventListener("abort", abort);
    controller.error(reason);
  }

  function leave(): void {
    signal?.removeEventListener("abort", abort);
    const wasOpen = state === "open";
    state = wasOpen ? "left" : "done";
    if (wasOpen) tell();
  }

  function abort(): void {
    if (state !== "open" && state !== "ending") return;
    leave();
    // After whoever reads had its turn to cancel: a platform that gets an error prints it.
    queueMicrotask(() => controller.error(signal?.reason));
  }

  function tell(): void {
    const listener = onClose;
    onClose = undefined;
    listener?.();
  }

  if (signal?.aborted) abort();
  else signal?.addEventListener("abort", abort);
  return sink;
}

/** A sink for answers that have no body, such as those to HEAD. */
export function createVoidSink(): Sink {
  return {
    pending: 0,
    onDrain: undefined,
    onClose: undefined,
    write: () => true,
    end: () => undefined,
    destroy: () => undefined,
  };
}

function toBytes(chunk: Chunk): Uint8Array<ArrayBuffer> {
  // Shared memory is never written here; the cast only satisfies the stream's type.
  return typeof chunk === "string" ? encoder.encode(chunk) : (chunk as Uint8Array<ArrayBuffer>);
}
