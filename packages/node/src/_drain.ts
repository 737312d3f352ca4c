import type { ExchangeHandler } from "@holodeck/agui-core";
import type { Server } from "node:http";
import { setTimeout as pause } from "node:timers/promises";

export interface DrainTimes {
  /** How long the runs may take to end. */
  readonly drainMs: number;
  /** How long connections are accepted at least. */
  readonly noticeMs: number;
}

// Without any time to end, runs still have this much to send their clients the end.
const shortestMs = 250;
const flushMs = 1_000;
// A longer timer would fire at once.
const longestMs = 2 ** 31 - 1 - flushMs;

/**
 * Closes the handler while the server still accepts connections, so that requests receive the handler's 503
 * instead of a refused connection; then closes the server.
 */
export async function drain(
  server: Server,
  handler: ExchangeHandler,
  { drainMs, noticeMs }: DrainTimes,
): Promise<void> {
  const timeoutMs = Math.min(Math.max(drainMs, shortestMs), longestMs);
  const noticed = pause(Math.min(noticeMs, timeoutMs));
  const late = new AbortController();
  try {
    // A handler of the host may not keep to its time.
    const overdue = pause(timeoutMs + flushMs, undefined, { signal: late.signal }).catch(ignore);
    await Promise.race([handler.close({ timeoutMs }), overdue]);
    await noticed;
  } finally {
    late.abort();
    await closeServer(server);
  }
}

async function closeServer(server: Server): Promise<void> {
  const closed = new Promise<void>((resolve) => {
    server.close(() => resolve());
  });
  // What has just been answered may still be on its way out; what stays open is cut.
  const idle = setInterval(() => server.closeIdleConnections(), 20);
  const cut = setTimeout(() => server.closeAllConnections(), flushMs);
  server.closeIdleConnections();
  await closed;
  clearInterval(idle);
  clearTimeout(cut);
}

function ignore(): void {}
