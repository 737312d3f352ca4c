import { AgentError } from "./errors.ts";
import type { RunContextInit, RunMode } from "./context.ts";
import type { InterruptAnswer, Json, RunSession } from "./types.ts";

/** `context.session`: what the thread has, and what this run changes in it. */
export class ContextSession implements RunSession {
  readonly data: unknown;
  readonly answers: readonly InterruptAnswer[];
  readonly get: RunSession["get"];
  readonly set: RunSession["set"];
  readonly #all: () => Json;

  constructor(init: RunContextInit, { signal, mode }: { signal: AbortSignal; mode: RunMode }) {
    const { runId, metadata = {}, changed = {} } = init;
    this.data = init.data;
    this.answers = init.answers ?? [];
    this.get = (key) => (Object.hasOwn(changed, key) ? changed[key] : ownOf(metadata, key));
    this.set = (key, value) => {
      if (signal.aborted) {
        if (mode.aborting?.()) return;
        throw ended(runId);
      }
      // By definition, since a key may be `__proto__`.
      Object.defineProperty(changed, key, { value, ...ordinary });
    };
    this.#all = () => ({ ...metadata, ...changed });
  }

  get metadata(): Json {
    return this.#all();
  }
}

const ordinary = { enumerable: true, configurable: true, writable: true };

function ownOf(record: Readonly<Json>, key: string): unknown {
  return Object.hasOwn(record, key) ? record[key] : undefined;
}

export function ended(runId: string): AgentError {
  return new AgentError("run-ended", `Run "${runId}" has ended; nothing more can be said in it.`);
}
