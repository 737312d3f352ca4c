import type { Clock } from "../../contract/context.ts";

/**
 * Whether timers belong to the request that set them, and end with it, as on Cloudflare Workers and the edge runtimes
 * made of them. There nothing of one request may be needed by another: a timer that several requests share is gone with
 * the first of them, and what waits for a promise of another request continues in that request. In a Durable Object
 * timers are global; what is done for Workers works there, too.
 */
export const isRequestBound: boolean = isWorker(globalThis);

function isWorker(host: {
  readonly navigator?: { readonly userAgent?: string };
  readonly WebSocketPair?: unknown;
  readonly EdgeRuntime?: unknown;
}): boolean {
  if (host.navigator?.userAgent === "Cloudflare-Workers") return true;
  return host.WebSocketPair !== undefined || host.EdgeRuntime !== undefined;
}

/** Resolves when a condition holds that other requests change, or with the signal: looked at by a timer of this request. */
export function untilTrue(
  isTrue: () => boolean,
  { clock, everyMs, signal }: { clock: Clock; everyMs: number; signal?: AbortSignal | undefined },
): Promise<void> {
  return new Promise((resolve) => {
    const look = (): void => {
      if (isTrue() || signal?.aborted) resolve();
      else clock.setTimeout(look, everyMs);
    };
    look();
  });
}

/**
 * Work that is done once: callers share it while it is done, and its result. A failure is not kept. Where promises
 * belong to requests, callers share only a result.
 */
export function createOnce<T>(work: () => Promise<T>): () => Promise<T> {
  let kept: Promise<T> | undefined;
  return () => {
    if (kept) return kept;
    const working = work();
    if (!isRequestBound) kept = working;
    working.then(
      () => {
        kept = working;
      },
      () => {
        if (kept === working) kept = undefined;
      },
    );
    return working;
  };
}
