import { Observable } from "rxjs/internal/Observable";
import type { Subscriber } from "rxjs";
import type { BaseEvent, RunAgentInput } from "@ag-ui/core";
import { describeValue, isClass } from "./check-options.ts";
import { bindContext, modeOf, standaloneContext } from "./context.ts";
import type { RunMode } from "./context.ts";
import { ended } from "./context-session.ts";
import { createGuard } from "./guard.ts";
import type { Guard } from "./guard.ts";
import { isPlainObject } from "./guard-json.ts";
import { pump } from "./pump.ts";
import type { Pumping } from "./pump.ts";
import { reportRepairs } from "./repairs.ts";
import type { AgentLike, Run, RunContext } from "./types.ts";
import { Voice } from "./voice.ts";
import type { Listener } from "./voice.ts";

/** An agent in its one normal form. */
export interface Agent {
  /** Cold: nothing happens before subscription, and unsubscribing cancels. Failures are errors, not events. */
  run(input: RunAgentInput, context?: RunContext): Observable<BaseEvent>;
}

/**
 * Any agent as `run(input) → Observable` of a valid AG-UI run.
 *
 * @example
 * ```ts
 * const agent = toAgent(async function* () { yield "Hello"; });
 * agent.run(input).subscribe(console.log);
 * ```
 */
export function toAgent(agent: AgentLike): Agent {
  const run = toRun(agent);
  return { run: (input, context = standaloneContext(input)) => run(input, context) };
}

/** Starts an agent. Throws synchronously whatever it throws synchronously. */
export function callAgent(agent: AgentLike, input: RunAgentInput, context: RunContext): unknown {
  if (typeof agent === "function") return agent(input, context);
  if ("abortController" in agent) giveController(agent, context.signal);
  return agent.run(input, context);
}

// An HttpAgent of AG-UI's client goes on fetching when it is unsubscribed from; it only heeds its
// controller, one for all runs unless each brings its own, as its `runAgent` does.
function giveController(agent: { abortController?: unknown }, signal: AbortSignal): void {
  const own = new AbortController();
  agent.abortController = own;
  // Without our reason: the client rethrows, to nobody, what is not an AbortError.
  signal.addEventListener("abort", () => own.abort(), { once: true });
}

/** The innermost `Run`: agent, then guard. A failure stays on the error channel, unmasked. */
export function toRun(agent: AgentLike): Run {
  assertAgent(agent);
  return (input, context) =>
    new Observable<BaseEvent>((subscriber) => {
      const run = new ObservedRun(input, context, subscriber);
      try {
        run.begin(agent);
      } catch (error) {
        subscriber.error(error);
      }
      return () => run.leave();
    });
}

/** A run that is told to a subscriber. */
class ObservedRun implements Listener {
  readonly #subscriber: Subscriber<BaseEvent>;
  readonly #context: RunContext;
  readonly #mode: RunMode;
  readonly #voice: Voice;
  readonly #guard: Guard;
  #pumping: Pumping | undefined;
  #isReported = false;

  constructor(input: RunAgentInput, context: RunContext, subscriber: Subscriber<BaseEvent>) {
    this.#subscriber = subscriber;
    this.#context = context;
    this.#mode = modeOf(context);
    this.#voice = new Voice(input, this);
    this.#guard = createGuard({
      threadId: context.threadId,
      runId: context.runId,
      parentRunId: input.parentRunId,
      emit: (event) => subscriber.next(event),
      state: this.#voice.tracker,
      ending: this.#voice.ending,
      strict: this.#mode.strict,
      begins: this.#mode.begun,
    });
  }

  begin(agent: AgentLike): void {
    const voice = this.#voice;
    const bound = bindContext(this.#context, voice);
    this.#pumping = pump(callAgent(agent, voice.input, bound), voice);
  }

  leave(): void {
    this.#pumping?.stop();
    // An agent that goes on after its own end is left before it is done.
    this.#report();
  }

  hear(value: unknown): void {
    this.#guard.push(value);
  }

  completed(): void {
    this.#guard.complete();
    this.#report();
    this.#subscriber.complete();
  }

  failed(reason: unknown): void {
    this.#report();
    this.#subscriber.error(reason);
  }

  ready(): Promise<void> | undefined {
    return this.#mode.ready();
  }

  isLate(): boolean {
    if (!this.#subscriber.closed && !this.#guard.ended) return false;
    if (this.#mode.aborting?.()) return true;
    throw ended(this.#context.runId);
  }

  #report(): void {
    if (this.#isReported) return;
    this.#isReported = true;
    reportRepairs(this.#context, "agent", this.#guard);
  }
}

/** Throws unless the value is an agent, and says what one looks like. */
export function assertAgent(agent: unknown, name = "An agent"): asserts agent is AgentLike {
  if (typeof agent === "function" && !isClass(agent)) return;
  if (typeof (agent as { run?: unknown } | null | undefined)?.run === "function") return;
  throw new TypeError(
    `${name} must be a function or an object with run(input), not ${describeValue(agent)}. ${hint(agent)}`,
  );
}

function hint(agent: unknown): string {
  if (isClass(agent)) return "Pass an object of it, made with new.";
  if (isReturned(agent)) {
    return "That is what calling an agent returns. Pass the function itself: agent, not agent().";
  }
  return `Try createAgentHandler(async function* (input) { yield "Hello"; }).`;
}

/** Whether a value is what an agent returns rather than an agent. */
export function isReturned(value: unknown): boolean {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return false;
  return ["then", "subscribe", Symbol.asyncIterator, Symbol.iterator].some(
    // An agent of a map may have such a name; what was returned inherits it.
    (name) => name in value && !(Object.hasOwn(value, name) && isPlainObject(value)),
  );
}
