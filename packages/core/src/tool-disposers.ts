import type { Awaitable, Logger } from "./types.ts";

// By a name that every copy of this package knows.
const disposer = Symbol.for("@holodeck/agui.dispose");

interface Disposing {
  readonly result: unknown;
  readonly [disposer]: () => Awaitable<void>;
}

/**
 * A tool's result together with what has to be tidied up when the run ends, however it ends.
 *
 * @example
 * ```ts
 * execute: async ({ path }) => {
 *   const file = await open(path);
 *   return withDispose(await file.stat(), () => file.close());
 * }
 * ```
 */
export function withDispose(result: unknown, dispose: () => Awaitable<void>): unknown {
  if (typeof dispose !== "function") {
    throw new TypeError("withDispose(result, dispose) takes a function as its second argument.");
  }
  return { result, [disposer]: dispose } satisfies Disposing;
}

/** What the tools of one run leave to be tidied up. */
export interface Disposers {
  /** The bare result. What came with it is kept, or tidied up at once if the run is over. */
  take(returned: unknown): unknown;
  /** Tidies up, the newest first, each once. */
  run(): Promise<void>;
}

export function createDisposers(logger: Logger): Disposers {
  const kept: (() => Awaitable<void>)[] = [];
  let isOver = false;

  async function dispose(one: () => Awaitable<void>): Promise<void> {
    try {
      await one();
    } catch (error) {
      logger.error({ error }, "What a tool left could not be tidied up.");
    }
  }

  return {
    take(returned) {
      if (!isDisposing(returned)) return returned;
      if (isOver) void dispose(returned[disposer]);
      else kept.push(returned[disposer]);
      return returned.result;
    },
    async run() {
      isOver = true;
      for (let one = kept.pop(); one; one = kept.pop()) await dispose(one);
    },
  };
}

function isDisposing(value: unknown): value is Disposing {
  return typeof value === "object" && value !== null && disposer in value;
}
