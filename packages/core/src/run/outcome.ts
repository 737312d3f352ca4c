import type { RunResult } from "../contract/protocol.ts";

/** Promises of a run's end, made when somebody asks for them: most runs are followed and not waited for. */
export class RunOutcome {
  #result: RunResult | undefined = undefined;
  #isIdle = false;
  #done: Promise<RunResult> | undefined = undefined;
  #resolveDone: ((result: RunResult) => void) | undefined = undefined;
  #idle: Promise<void> | undefined = undefined;
  #resolveIdle: (() => void) | undefined = undefined;

  get done(): Promise<RunResult> {
    return (this.#done ??= new Promise((resolve) => {
      if (this.#result) resolve(this.#result);
      else this.#resolveDone = resolve;
    }));
  }

  get idle(): Promise<void> {
    return (this.#idle ??= new Promise((resolve) => {
      if (this.#isIdle) resolve();
      else this.#resolveIdle = resolve;
    }));
  }

  /** The run has ended. */
  finish(result: RunResult): void {
    this.#result = result;
    this.#resolveDone?.(result);
  }

  /** No client is owed anything. */
  rest(): void {
    this.#isIdle = true;
    this.#resolveIdle?.();
  }
}
