/** A bucket as a store keeps it. */
export interface Bucket {
  readonly tokens: number;
  readonly at: number;
  /** From here on it is full again, and as good as forgotten. */
  readonly fullAt: number;
}

/** Takes tokens from a bucket, or returns how many milliseconds to wait and takes none. */
export function takeTokens(
  bucket: { readonly tokens: number; readonly at: number } | undefined,
  cost: number,
  rate: { readonly tokens: number; readonly perMs: number; readonly now: number },
): { wait: number; bucket: Bucket } {
  const { tokens, perMs, now } = rate;
  const { tokens: before, at } = bucket ?? { tokens, at: now };
  // The clocks of two processes differ; time that runs backwards takes no token away.
  const passed = Math.max(0, now - at);
  const available = Math.min(tokens, before + (passed * tokens) / perMs);
  const wait = available >= cost ? 0 : Math.ceil(((cost - available) * perMs) / tokens);
  const left = wait === 0 ? available - cost : available;
  return { wait, bucket: { tokens: left, at: now, fullAt: now + (1 - left / tokens) * perMs } };
}
