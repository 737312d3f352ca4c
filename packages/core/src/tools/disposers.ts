import type { Awaitable } from "../contract/agent.ts";
import type { Logger } from "../contract/context.ts";

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
export class Disposers {
  readonly #logger: Logger;
  #kept: (() => Awaitable<void>)[] | undefined;
  #isOver = false;

  constructor(logger: Logger) {
    this.#logger = logger;
  }

  /** The bare result. What came with it is kept, or tidied up at once if the run is over. */
  take(returned: unknown): unknown {
    if (!isDisposing(returned)) return returned;
    if (this.#isOver) void this.#dispose(returned[disposer]);
    else (this.#kept ??= []).push(returned[disposer]);
    return returned.result;
  }

  /** Tidies up, the newest first, each once. */
  run(): void {
    this.#isOver = true;
    if (this.#kept) void this.#disposeAll(this.#kept);
  }

  async #disposeAll(kept: (() => Awaitable<void>)[]): Promise<void> {
    for (let one = kept.pop(); one; one = kept.pop()) await this.#dispose(one);
  }

  async #dispose(one: () => Awaitable<void>): Promise<void> {
    try {
      await one();
    } catch (error) {
      this.#logger.error({ error }, "The dispose function of a tool result failed.");
    }
  }
}

function isDisposing(value: unknown): value is Disposing {
  return typeof value === "object" && value !== null && disposer in value;
}
