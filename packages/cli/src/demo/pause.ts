/** Waits, unless the run is stopped: then it rejects at once, so that nothing is left waiting. */
export function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(signal.reason as Error);
    if (ms <= 0) return resolve();
    const stop = (): void => {
      clearTimeout(timer);
      reject(signal.reason as Error);
    };
    const timer = setTimeout(() => {
      signal.removeEventListener("abort", stop);
      resolve();
    }, ms);
    signal.addEventListener("abort", stop, { once: true });
  });
}

/** The pieces that a model would send: a word each, with the space behind it. */
export function toWords(text: string): string[] {
  return text.split(/(?<=\s)(?=\S)/).filter((word) => word !== "");
}
