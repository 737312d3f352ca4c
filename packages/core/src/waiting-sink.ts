import type { BaseEvent } from "@ag-ui/core";
import type { Encoder, Sink } from "./types.ts";

/** Has no word for anything: for who waits for the end of a run and takes its result whole. */
export const silentEncoder: Encoder = { contentType: "", key: "silent", encode: () => "" };

/** An encoder for somebody who listens and is sent nothing. */
export function toListener(onEvent: (event: BaseEvent) => void): Encoder {
  return {
    contentType: "",
    encode({ event }) {
      onEvent(event);
      return "";
    },
  };
}

/** A client that takes nothing and leaves when a signal says so. */
export class WaitingSink implements Sink {
  readonly pending = 0;
  onDrain: Sink["onDrain"] = undefined;
  onClose: Sink["onClose"] = undefined;
  readonly #signal: AbortSignal;
  readonly #leave = (): void => this.onClose?.();

  constructor(signal: AbortSignal) {
    this.#signal = signal;
    signal.addEventListener("abort", this.#leave, { once: true });
    // It may have left before anybody could listen.
    if (signal.aborted) queueMicrotask(this.#leave);
  }

  write(): boolean {
    return true;
  }

  end(): void {
    this.#signal.removeEventListener("abort", this.#leave);
  }

  destroy(): void {
    this.end();
  }
}
