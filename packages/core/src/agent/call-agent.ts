import { Observable } from "rxjs/internal/Observable";
import type { Subscriber } from "rxjs";
import type { BaseEvent, RunAgentInput } from "@ag-ui/core";
import { describeValue, isClass } from "../base/options.ts";
import { bindContext, deskOf, modeOf, standaloneContext } from "./context.ts";
import { settleClaims } from "./with-tools.ts";
import type { RunMode } from "./context.ts";
import type { ContextSession } from "./context-session.ts";
import { EarlierCalls } from "../guard/calls/earlier-calls.ts";
import { AgentError, isAgentError } from "../contract/errors.ts";
import { createGuard } from "../guard/guard.ts";
import type { CallOrigins, Guard } from "../guard/guard.ts";
import { isPlainObject } from "../json/to-json.ts";
import { warnLate } from "./calls/late-calls.ts";
import { LinkedAbort } from "../base/lazy-abort-controller.ts";
import { pump } from "./pump.ts";
import type { Pumping } from "./pump.ts";
import { reportRepairs } from "../guard/repairs.ts";
import { serverToolsOf } from "../tools/definitions.ts";
import { startSettled } from "./settle-answers.ts";
import type { AgentLike } from "../contract/agent.ts";
import type { RunContext } from "../contract/context.ts";
import type { Run } from "../contract/middleware.ts";
import { AgentOutput } from "./output.ts";
import type { OutputListener } from "./output.ts";

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
function callAgent(agent: AgentLike, input: RunAgentInput, context: RunContext): unknown {
  if (typeof agent === "function") return agent(input, context);
  if ("abortController" in agent) giveController(agent, context.signal);
  return agent.run(input, context);
}

/**
 * Starts the agent of a run: after the calls that people have answered, with their results in its input.
 * An agent that `compose` made does that itself, behind its middleware.
 */
export function startAgent(agent: AgentLike, input: RunAgentInput, context: RunContext): unknown {
  // A hand-made context may have neither.
  const { answers, lost } = (context.session ?? {}) as Partial<ContextSession>;
  const isSettled = !answers?.length && !lost?.length;
  if (isSettled || composed in agent) return callAgent(agent, input, context);
  return startSettled(agent, { input, context }, (own) => callAgent(agent, own, context));
}

/** Marks an agent that `compose` made. */
export const composed: unique symbol = Symbol("composed");

// An HttpAgent of AG-UI's client continues fetching when it is unsubscribed from; it only observes
// its controller, which all runs share unless each sets its own, as its `runAgent` does.
function giveController(agent: { abortController?: unknown }, signal: AbortSignal): void {
  const own = new AbortController();
  agent.abortController = own;
  // Without our reason: the client rethrows anything but an AbortError, unhandled.
  signal.addEventListener("abort", () => own.abort(), { once: true });
}

/** The innermost `Run`: agent, then guard. A failure stays on the error channel, unmasked. */
export function toRun(agent: AgentLike): Run {
  assertAgent(agent);
  return (input, context) =>
    new Observable<BaseEvent>((subscriber) => {
      const run = new ObservedRun(withoutClaims(agent, input, context), context, subscriber);
      try {
        run.begin(agent);
      } catch (error) {
        run.failed(error);
      }
      return () => run.leave();
    });
}

// Here the tools are known that middleware has added and those that the agent declares.
function withoutClaims(agent: AgentLike, input: RunAgentInput, context: RunContext): RunAgentInput {
  const { tools } = context;
  const declared = serverToolsOf(agent);
  if (tools.length === 0 && declared.length === 0) return input;
  return settleClaims(input, context, [...tools.map(({ name }) => name), ...declared]);
}

/** A run that emits to a subscriber. */
class ObservedRun implements OutputListener, CallOrigins {
  readonly context: RunContext;
  readonly #subscriber: Subscriber<BaseEvent>;
  readonly #mode: RunMode;
  readonly #stopping: LinkedAbort;
  readonly #output: AgentOutput;
  readonly #guard: Guard;
  #earlierCalls: EarlierCalls | undefined;
  #pumping: Pumping | undefined;
  #isReported = false;
  #isLateReported = false;
  #aborting = false;
  #error: unknown;

  constructor(input: RunAgentInput, context: RunContext, subscriber: Subscriber<BaseEvent>) {
    this.#subscriber = subscriber;
    this.context = context;
    this.#mode = modeOf(context);
    this.#stopping = new LinkedAbort(context);
    this.#output = new AgentOutput(input, this);
    this.#guard = createGuard({
      threadId: context.threadId,
      runId: context.runId,
      parentRunId: input.parentRunId,
      emit: (event) => subscriber.next(event),
      state: this.#output.tracker,
      ending: this.#output.ending,
      calls: this,
      strict: this.#mode.strict,
      begins: this.#mode.begun,
    });
  }

  isClientTool(name: string): boolean {
    const { tools } = this.#output.input;
    if (this.context.tools.some((tool) => tool.name === name)) return false;
    if (tools.some((tool) => tool.name === name)) return true;
    return this.#mode.isClientTool?.(name) ?? tools.length === 0;
  }

  earlierCalls(): EarlierCalls {
    if (!this.#earlierCalls) {
      const { messages } = this.#output.input;
      this.#earlierCalls = this.#mode.earlierCalls?.().with(messages) ?? new EarlierCalls(messages);
    }
    return this.#earlierCalls;
  }

  isSettledCall(toolCallId: string, name: string): boolean {
    return deskOf(this.context).isSettled(toolCallId, name);
  }

  callId(id: string): string {
    return this.#guard.callId(id);
  }

  begin(agent: AgentLike): void {
    const output = this.#output;
    const bound = bindContext(this.context, output, this.#stopping);
    this.#pumping = pump(startAgent(agent, output.input, bound), output);
  }

  leave(): void {
    // Also stops the tools that an agent has called and not waited for.
    if (!this.#guard.ended) this.#abort();
    this.#pumping?.stop();
    // An agent that continues after its own end is unsubscribed from before it is done.
    this.#report();
  }

  open(): void {
    this.#guard.open();
  }

  #abort(): void {
    this.#aborting = true;
    this.#stopping.abort(this.#reason());
    this.#aborting = false;
  }

  #reason(): AgentError {
    const cause = this.#error;
    if (cause === undefined) return new AgentError("stopped", "The run was unsubscribed from.");
    return isAgentError(cause)
      ? cause
      : new AgentError("agent-error", "The agent failed.", { cause });
  }

  push(value: unknown): void {
    this.#guard.push(value);
  }

  completed(): void {
    this.#guard.complete();
    this.#report();
    this.#subscriber.complete();
  }

  failed(reason: unknown): void {
    this.#report();
    this.#error = reason;
    // The agent has finished its run itself, and then awaited one more call.
    if (this.#guard.ended && isRunEnded(reason)) this.#subscriber.complete();
    else this.#subscriber.error(reason);
  }

  ready(): Promise<void> | undefined {
    return this.#mode.ready();
  }

  advise(advice: string): void {
    if (!this.#subscriber.closed) this.#mode.advise?.(advice);
  }

  isLate(): boolean {
    return this.#subscriber.closed || this.#guard.ended;
  }

  aborting(): boolean {
    return this.#aborting || (this.#mode.aborting?.() ?? false);
  }

  // Of a run with middleware each agent has one of these, and the run one warning.
  reportLate(call: string): void {
    if (this.#mode.reportLate) return this.#mode.reportLate(call);
    if (this.#isLateReported) return;
    this.#isLateReported = true;
    warnLate(this, call);
  }

  #report(): void {
    if (this.#isReported) return;
    this.#isReported = true;
    reportRepairs(this.context, "agent", this.#guard);
  }
}

function isRunEnded(reason: unknown): boolean {
  return isAgentError(reason) && reason.code === "run-ended";
}

/** Throws unless the value is an agent; the message shows what one looks like. */
export function assertAgent(agent: unknown, name = "An agent"): asserts agent is AgentLike {
  if (typeof agent === "function" && !isClass(agent)) return;
  if (typeof (agent as { run?: unknown } | null | undefined)?.run === "function") return;
  throw new TypeError(
    `${name} must be a function or an object with run(input), not ${describeValue(agent)}. ${hint(agent)}`,
  );
}

function hint(agent: unknown): string {
  if (isClass(agent)) return "Pass an instance, created with new.";
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
