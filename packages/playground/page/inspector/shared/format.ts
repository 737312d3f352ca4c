const whole = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });
const tenths = new Intl.NumberFormat("en", { maximumFractionDigits: 1 });

/** `1,204 ms`, or `12.4 s` from ten seconds on. */
export function formatMs(ms: number): string {
  return ms >= 10_000 ? `${tenths.format(ms / 1000)} s` : `${formatNumber(ms)} ms`;
}

/** With a tenth below ten, whole from there on. */
export function formatNumber(value: number): string {
  return Math.abs(value) < 10 ? tenths.format(value) : whole.format(value);
}

/** `1 event`, `2,000 events`. */
export function formatCount(count: number, noun: string): string {
  return `${whole.format(count)} ${noun}${count === 1 ? "" : "s"}`;
}

/** `86 B`, `1.2 kB`. */
export function formatBytes(bytes: number): string {
  if (bytes < 1000) return `${bytes} B`;
  if (bytes < 1_000_000) return `${tenths.format(bytes / 1000)} kB`;
  return `${tenths.format(bytes / 1_000_000)} MB`;
}
