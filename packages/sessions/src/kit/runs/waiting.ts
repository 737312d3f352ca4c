/**
 * Resolves when `start` calls back, or when the reader leaves. `start` returns a function that ends the waiting.
 */
export function wakened(
  signal: AbortSignal,
  start: (wake: () => void) => () => void,
): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      stop();
      signal.removeEventListener("abort", done);
      resolve();
    };
    const stop = start(done);
    signal.addEventListener("abort", done, { once: true });
  });
}
