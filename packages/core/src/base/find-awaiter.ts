/**
 * The name of every function of ours that awaits an author's code and handles what it rejects with. A
 * computed name: minifiers keep it, and no other function has it.
 */
export const awaiter = "holodeck.awaiter";

interface Frame {
  isAsync?(): boolean;
  getFunctionName(): string | null;
}

/** `Error` as V8 has it. */
interface TracingError {
  stackTraceLimit?: number;
  prepareStackTrace?: unknown;
  captureStackTrace?: (target: object) => void;
}

// Helpers that await helpers are a few frames each; a recursive agent may have many.
const maxFrames = 500;

/**
 * Finds which code awaits, directly or through other promises, the promise that the current callback of
 * `then` settles: `"library"` if an `awaiter` does, so that a rejection is handled; `"author"` if only async
 * functions of the author do, such as a listener; undefined if no async function does, or the engine cannot
 * report it.
 *
 * V8 walks from a promise to the async functions that wait for it to write its stack traces, and this reads
 * such a trace. Frames of a synchronous caller do not count, since it may drop the promise. A trace takes some
 * 10 µs, so it is not for every call.
 */
export function findAwaiter(): "library" | "author" | undefined {
  const errors = Error as unknown as TracingError;
  if (typeof errors.captureStackTrace !== "function") return undefined;
  const { stackTraceLimit, prepareStackTrace } = errors;
  let names: readonly (string | null)[] = [];
  try {
    errors.stackTraceLimit = maxFrames;
    errors.prepareStackTrace = (_error: unknown, frames: readonly Frame[]) => {
      const awaiting = frames.filter((frame) => frame.isAsync?.() === true);
      names = awaiting.map((frame) => frame.getFunctionName());
    };
    const trace: { stack?: unknown } = {};
    errors.captureStackTrace(trace);
    // The trace is taken here, and written when it is read.
    void trace.stack;
  } catch {
    // A host that has frozen `Error`.
    return undefined;
  } finally {
    restore(errors, { stackTraceLimit, prepareStackTrace });
  }
  if (names.includes(awaiter)) return "library";
  return names.length > 0 ? "author" : undefined;
}

/** Whether what the current callback of `then` rejects with is handled by us. */
export function isAwaited(): boolean {
  return findAwaiter() === "library";
}

function restore(errors: TracingError, before: TracingError): void {
  try {
    Object.assign(errors, before);
  } catch {
    return;
  }
}
