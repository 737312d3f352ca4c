import type { RunAgentInput } from "@ag-ui/core";
import { createEmit } from "./emit.ts";
import { isHalted } from "./errors.ts";
import type { RunEnding } from "./guard.ts";
import { nextTurn } from "./hop.ts";
import type { PumpTarget } from "./pump.ts";
import { createStateTracker } from "./state.ts";
import type { LiveStateTracker } from "./state.ts";
import { createRunState } from "./state-writer.ts";
import type { Emit, RunState } from "./types.ts";

/** Who hears a voice: a run, or the Observable of one. Only `isLate` throws. */
export interface Listener {
  /** The server sends something before the agent does. */
  open(): void;
  hear(value: unknown): void;
  /** The agent is done. */
  completed(): void;
  failed(reason: unknown): void;
  /** A promise while the readers are behind. */
  ready(): Promise<void> | undefined;
  /** Whether what is said now is only dropped. Throws when it must not be said at all. */
  isLate(): boolean;
}

// Shared by all runs in which nobody asks and nobody counts, which is most of them.
const none = Object.freeze([]) as unknown as never[];

// As often as the pump lets an iterable breathe.
const breath = 256;

/** What an agent says, be it yielded, returned or emitted, on its way to whoever hears it. */
export class Voice implements PumpTarget, RunEnding {
  /** What the agent is given. */
  readonly input: RunAgentInput;
  readonly tracker: LiveStateTracker;
  interrupts: RunEnding["interrupts"] = none;
  usage: RunEnding["usage"] = none;
  result: unknown = undefined;
  readonly #listener: Listener;
  #hasSpoken = false;
  #emitted = 0;
  #emit: Emit | undefined;
  #state: RunState | undefined;

  constructor(input: RunAgentInput, listener: Listener) {
    this.input = input;
    this.tracker = createStateTracker(input.state);
    this.#listener = listener;
  }

  /** What it has gathered for the end of the run. */
  get ending(): RunEnding {
    return this;
  }

  /** Starts the run before the agent does. */
  open(): void {
    this.#listener.open();
  }

  get emit(): Emit {
    return (this.#emit ??= createEmit(this));
  }

  get state(): RunState {
    return (this.#state ??= createRunState({
      tracker: this.tracker,
      push: (value) => this.push(value),
    }));
  }

  /** Says something on the agent's behalf; now and then a promise of the next turn, so that others get theirs. */
  push(value: unknown): void | Promise<void> {
    if (this.#listener.isLate()) return;
    this.next(value);
    return this.#listener.ready() ?? this.#breathe();
  }

  next(value: unknown): void {
    if (!this.#hasSpoken) this.#hasSpoken = isText(value);
    this.#listener.hear(value);
  }

  error(reason: unknown): void {
    if (isHalted(reason)) this.#listener.completed();
    else this.#listener.failed(reason);
  }

  /** A returned string is text if no text was said, else it is the result of the run, as anything else is. */
  complete(result?: unknown): void {
    if (typeof result === "string" && !this.#hasSpoken) this.#listener.hear(result);
    else if (result !== undefined && result !== null) this.result = result;
    this.#listener.completed();
  }

  ready(): Promise<void> | undefined {
    return this.#listener.ready();
  }

  #breathe(): Promise<void> | undefined {
    if (++this.#emitted < breath) return undefined;
    this.#emitted = 0;
    return nextTurn();
  }
}

function isText(value: unknown): boolean {
  if (typeof value === "string") return true;
  try {
    const type = (value as { type?: unknown } | null)?.type;
    return typeof type === "string" && type.startsWith("TEXT_MESSAGE_");
  } catch {
    // A getter of the agent's that throws: the guard has the word for it.
    return false;
  }
}
