import { isAwaited } from "../../base/find-awaiter.ts";
import { AgentError } from "../../contract/errors.ts";
import { nextTurn } from "../../base/time/turns.ts";
import { SafeLogger } from "../../base/logger.ts";
import type { RunContext } from "../../contract/context.ts";

/** What a method of `emit`, `state` or the context asks of the run it is called in. */
export interface RunCalls {
  /** Whether the run has ended, so that a call does nothing. */
  isLate(): boolean;
  /** After a late call that returns a value. */
  ignore(call: string): void;
  /** The promise of a late call; `value` is what it resolves to where it does not reject. */
  refuse(call: string): Promise<void>;
  refuse<T>(call: string, value: T): Promise<T>;
  /** The promise of a late call whose value only its work could give: it rejects or stays pending. */
  suspend<T>(call: string): Promise<T>;
  /** The promise of a call that has begun, as the author receives it. */
  begin<T>(call: string, work: Promise<T>, kind: CallKind): Promise<T>;
}

/** A run waits for its tools in any case, and for the body of a bracket if its promise was dropped. */
export type CallKind = "tool" | "bracket";

/** A call as it appears in the log, for any arguments of the author. */
export function nameCall(method: string, ...subjects: readonly unknown[]): string {
  return `${method}(${subjects.map((subject) => `"${String(subject)}"`).join(", ")})`;
}

/** Of a writer outside a run. */
export const endlessCalls: RunCalls = {
  isLate: () => false,
  ignore: () => {},
  refuse: <T>(_call: string, value?: T) => Promise.resolve(value as T),
  suspend: () => new Promise<never>(() => {}),
  begin: (_call, work) => work,
};

/** The run that late calls are made in. */
export interface EndedRun {
  readonly context: Pick<RunContext, "runId" | "threadId" | "agentId" | "logger">;
  /** True while abort listeners are called: a last word there is dropped without a warning. */
  aborting(): boolean;
  /** Logs the first late call of the run. */
  reportLate(call: string): void;
}

// An agent awaits one call at a time, or a few at once. More than these in one turn are dropped by a
// listener, and are not worth a trace each.
const tracedPerTurn = 64;

// This many are answered in the turn they are made in. A loop that catches each rejection and continues
// would block the event loop.
const answeredAtOnce = 8;

/**
 * The promises of calls that come after the end of a run. They reject with `run-ended` for the agent that
 * awaits them, so that its loops end and its `finally` blocks run. For any other code, such as a timer or an
 * SDK's listener, they resolve in a later turn: a rejection that nothing handles would end the process.
 */
export class LateCalls {
  readonly #run: EndedRun;
  #answered = 0;
  #traced = 0;

  constructor(run: EndedRun) {
    this.#run = run;
  }

  settle<T>(call: string, otherwise: () => T | Promise<T>): Promise<T> {
    const isQuiet = this.#run.aborting();
    const later = (): Promise<T> => this.#settleLater(call, isQuiet, otherwise);
    if (this.#answered >= answeredAtOnce) return later();
    this.#answered++;
    return Promise.resolve().then(() => {
      this.#rejectAwaited();
      return later();
    });
  }

  #settleLater<T>(call: string, isQuiet: boolean, otherwise: () => T | Promise<T>): Promise<T> {
    const isTraced = this.#traced < tracedPerTurn;
    if (isTraced) this.#traced++;
    return nextTurn().then(() => {
      if (isTraced) {
        this.#traced--;
        this.#rejectAwaited();
      }
      if (!isQuiet) this.#run.reportLate(call);
      return otherwise();
    });
  }

  // Called only by callbacks of `then`: it looks for the code that awaits what they settle.
  #rejectAwaited(): void {
    if (isAwaited()) throw runEnded(this.#run.context.runId);
  }
}

/** What an agent that awaits a late call receives. */
function runEnded(runId: string): AgentError {
  return new AgentError("run-ended", `Run "${runId}" has ended and accepts no more events.`);
}

/** Logs a call that came after the end of the run. */
export function warnLate({ context }: Pick<EndedRun, "context">, call: string): void {
  const { runId, threadId, agentId, logger } = context;
  new SafeLogger(logger).warn(
    { runId, threadId, agentId, call },
    `Agent "${agentId}" called ${call} after its run "${runId}" had ended. The call was ignored, and ` +
      `further late calls of this run are not logged. Stop timers and listeners when context.signal aborts.`,
  );
}
