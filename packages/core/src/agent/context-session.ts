import type { RunContextInit, RunMode } from "./context.ts";
import type { Stopping } from "../base/lazy-abort-controller.ts";
import type { Json } from "../contract/agent.ts";
import type { RunSession } from "../contract/context.ts";
import type { InterruptAnswer, TakenCall } from "../contract/tools.ts";

const noAnswers: readonly InterruptAnswer[] = Object.freeze([]);
const nothingLost: readonly TakenCall[] = Object.freeze([]);
const nothingStored: Readonly<Json> = Object.freeze({});

/**
 * `context.session`: what the thread has, and what this run changes in it. Its functions are made when
 * they are asked for, so that they may be taken out of it: with closures in its fields a run of one delta
 * cost 60 µs more, since no minor collection could free it.
 */
export class ContextSession implements RunSession {
  readonly data: unknown;
  readonly answers: readonly InterruptAnswer[];
  /** Calls of an earlier run whose process ended before they had a result. */
  readonly lost: readonly TakenCall[];
  readonly #stored: Readonly<Json>;
  /** Made by the first change. */
  #changed: Json | undefined = undefined;
  readonly #stopping: Stopping;
  readonly #mode: RunMode;

  constructor(init: RunContextInit, stopping: Stopping, mode: RunMode) {
    this.data = init.data;
    this.answers = init.answers ?? noAnswers;
    this.lost = init.lost ?? nothingLost;
    this.#stored = init.metadata ?? nothingStored;
    this.#stopping = stopping;
    this.#mode = mode;
  }

  /** What this run has changed. */
  get changes(): Readonly<Json> {
    return this.#changed ?? nothingStored;
  }

  get metadata(): Json {
    return { ...this.#stored, ...this.#changed };
  }

  get get(): RunSession["get"] {
    return (key) => {
      const record = Object.hasOwn(this.changes, key) ? this.changes : this.#stored;
      return Object.hasOwn(record, key) ? record[key] : undefined;
    };
  }

  get set(): RunSession["set"] {
    return (key, value) => {
      if (this.#stopping.aborted || this.#mode.ended) {
        if (!this.#mode.aborting?.()) this.#mode.reportLate?.("session.set");
        return;
      }
      // By definition, since a key may be `__proto__`.
      Object.defineProperty((this.#changed ??= {}), key, { value, ...ordinary });
    };
  }
}

const ordinary = { enumerable: true, configurable: true, writable: true };
