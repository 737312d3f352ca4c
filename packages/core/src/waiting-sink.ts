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
export function createWaitingSink(signal: AbortSignal): Sink {
  const leave = (): void => sink.onClose?.();
  const forget = (): void => signal.removeEventListener("abort", leave);
  const sink: Sink = {
    write: () => true,
    pending: 0,
    onDrain: undefined,
    onClose: undefined,
    end: forget,
    destroy: forget,
  };
  signal.addEventListener("abort", leave, { once: true });
  // It may have left before anybody could listen.
  if (signal.aborted) queueMicrotask(leave);
  return sink;
}
