import type { Writable } from "node:stream";

// How long the host's own listeners of the signal may take after the server was closed.
const exitMs = 500;

// Servers of this process that a signal is closing: the process ends after the last of them.
let closingCount = 0;

/**
 * Calls `close` on SIGINT or SIGTERM and then ends the process, also when something of the host keeps it alive, such
 * as a client of its database. A second signal ends it at once. Returns how to stop listening.
 */
export function closeOnSignals(
  close: (signal: NodeJS.Signals) => Promise<void>,
  onError: (error: unknown) => void,
): () => void {
  let isClosing = false;
  const onSignal = (signal: NodeJS.Signals): void => {
    // 128 + SIGINT: the second signal ends the process immediately.
    if (isClosing) process.exit(130);
    isClosing = true;
    closingCount++;
    void close(signal)
      .catch((error: unknown) => {
        process.exitCode ??= 1;
        onError(error);
      })
      .then(() => {
        closingCount--;
        if (closingCount === 0) endSoon();
      });
  };
  process.on("SIGINT", onSignal).on("SIGTERM", onSignal);
  return () => {
    // The second signal still counts while the process ends.
    if (!isClosing) process.off("SIGINT", onSignal).off("SIGTERM", onSignal);
  };
}

// Unreferenced: a process that nothing keeps alive ends without it.
function endSoon(): void {
  setTimeout(() => {
    void Promise.all([flushed(process.stdout), flushed(process.stderr)]).then(() => process.exit());
  }, exitMs).unref();
}

// Resolves when everything written so far is out: process.exit() drops what a pipe has not taken yet.
function flushed(stream: Writable): Promise<void> {
  return new Promise((resolve) => {
    if (stream.destroyed || stream.writableEnded || stream.writableLength === 0) return resolve();
    stream.once("close", resolve).write("", () => resolve());
  });
}
