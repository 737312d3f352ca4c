import type { Subscribable } from "@holodeck/agui-core";

/** Reads an Observable as an async generator. Ends with the signal, and ends it when left. */
export async function* iterate<T>(source: Subscribable<T>, signal: AbortSignal): AsyncGenerator<T> {
  const waiting: T[] = [];
  let isDone = false;
  let failure: { readonly reason: unknown } | undefined;
  let wake: (() => void) | undefined;
  const onAbort = (): void => wake?.();
  signal.addEventListener("abort", onAbort, { once: true });
  const subscription = source.subscribe({
    next(value) {
      waiting.push(value);
      wake?.();
    },
    error(reason) {
      failure = { reason };
      wake?.();
    },
    complete() {
      isDone = true;
      wake?.();
    },
  });
  try {
    while (!signal.aborted) {
      if (waiting.length > 0) yield waiting.shift()!;
      else if (failure) throw failure.reason;
      else if (isDone) return;
      else await new Promise<void>((resolve) => (wake = resolve));
    }
  } finally {
    signal.removeEventListener("abort", onAbort);
    subscription.unsubscribe();
  }
}
