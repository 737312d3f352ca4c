/** Of every stream: proxies neither store it nor hold it back. */
export const streamHeaders: Readonly<Record<string, string>> = Object.freeze({
  "cache-control": "no-cache, no-transform",
  "x-accel-buffering": "no",
});

/** A time in whole seconds since 1970. */
export function toSeconds(ms: number): number {
  return Math.floor(ms / 1_000);
}
