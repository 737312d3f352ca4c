import { Observable } from "rxjs/internal/Observable";
import type { BaseEvent, RunAgentInput } from "@ag-ui/core";
import { describeValue, isClass } from "./check-options.ts";
import { bindContext, createOutlet, modeOf, standaloneContext } from "./context.ts";
import { ended } from "./context-session.ts";
import { isHalted } from "./errors.ts";
import { createGuard } from "./guard.ts";
import { isPlainObject } from "./guard-json.ts";
import type { RunEnding } from "./guard.ts";
import { createBreath } from "./hop.ts";
import { pump } from "./pump.ts";
import { reportRepairs } from "./repairs.ts";
import type { AgentLike, Run, RunContext } from "./types.ts";

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
      const mode = modeOf(context);
      const outlet = createOutlet(input);
      const { state, ending } = outlet;
      const speech = createSpeech(ending);
      const guard = createGuard({
        threadId: context.threadId,
        runId: context.runId,
        parentRunId: input.parentRunId,
        emit: (event) => subscriber.next(event),
        state,
        ending,
        strict: mode.strict,
      });
      const breathe = createBreath();
      const push = (value: unknown): void | Promise<void> => {
        if (subscriber.closed || guard.ended) {
          if (mode.aborting?.()) return;
          throw ended(context.runId);
        }
        speech.heard(value);
        guard.push(value);
        return mode.ready() ?? breathe();
      };
      let stop: (() => void) | undefined;
      let isReported = false;
      const report = (): void => {
        if (isReported) return;
        isReported = true;
        reportRepairs(context, "agent", guard);
      };
      const finish = (): void => {
        report();
        subscriber.complete();
      };
      try {
        const bound = bindContext(context, { state, ending, input: outlet.input, push });
        stop = pump(callAgent(agent, input, bound), {
          next: (value) => {
            speech.heard(value);
            guard.push(value);
          },
          error: (reason) => {
            if (isHalted(reason)) {
              guard.complete();
              return finish();
            }
            report();
            subscriber.error(reason);
          },
          complete: (result) => {
            speech.take(result, (value) => guard.push(value));
            guard.complete();
            finish();
          },
          ready: () => mode.ready(),
        });
      } catch (error) {
        subscriber.error(error);
      }
      return () => {
        stop?.();
        // An agent that goes on after its own end is left before it is done.
        report();
      };
    });
}

/** A returned string is text if no text was said, else it is the result of the run, as anything else is. */
export function createSpeech(ending: RunEnding): {
  heard(value: unknown): void;
  take(result: unknown, push: (value: unknown) => void): void;
} {
  let spoke = false;
  return {
    heard(value) {
      if (!spoke) spoke = isText(value);
    },
    take(result, push) {
      if (result === undefined || result === null) return;
      if (typeof result === "string" && !spoke) push(result);
      else ending.result = result;
    },
  };
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
