import type { Message, RunAgentInput } from "@ag-ui/core";
import { startAgent, toRun } from "../agent/call-agent.ts";
import { warnLate } from "../agent/calls/late-calls.ts";
import { createRunContext } from "../agent/context.ts";
import type { RunMode } from "../agent/context.ts";
import type { ContextSession } from "../agent/context-session.ts";
import type { AgentOutput } from "../agent/output.ts";
import { pump } from "../agent/pump.ts";
import type { Pumping } from "../agent/pump.ts";
import { LazyAbortController } from "../base/lazy-abort-controller.ts";
import { SafeLogger } from "../base/logger.ts";
import { nextMacrotask } from "../base/time/turns.ts";
import type { RunContext } from "../contract/context.ts";
import type { AgentError } from "../contract/errors.ts";
import { EarlierCalls } from "../guard/calls/earlier-calls.ts";
import type { CallOrigins } from "../guard/guard.ts";
import { BegunParts } from "../guard/parts/begun-parts.ts";
import { chain } from "../middleware/compose.ts";
import { ClientToolBroker } from "../tools/client-tools.ts";
import type { ToolResultCommand } from "../tools/client-tools.ts";
import { serverToolsOf } from "../tools/definitions.ts";
import { reportUnmade } from "../tools/report-unmade.ts";
import { nothingAsked, RunTools } from "../tools/run-tools.ts";
import type { RunView } from "../view/run-view.ts";
import type { Intake } from "./intake.ts";
import type { RunInit, RunSettings } from "./types.ts";

/** What an agent needs from its run. */
export interface AgentHost {
  readonly settings: RunSettings;
  readonly context: RunContext;
  readonly view: RunView;
  /** Whether the guard accepted the terminal event, or the store failed. */
  readonly ended: boolean;
  readonly isEndDelivered: boolean;
  ready(): Promise<void> | undefined;
}

/**
 * The agent of a run: starts and stops it, and returns what its context and the guard ask about its tools
 * and calls. There is one for every open stream, so what a run may never need is made when it does.
 */
export class HostedAgent implements RunMode, CallOrigins {
  /** What the agent began, before its middleware. */
  readonly begun: BegunParts | undefined;
  /** Ids of the calls in its input that only the client vouches for. */
  readonly claimed: ReadonlySet<string> | undefined;
  /** What its thread held before; a list that is not changed. */
  readonly history: readonly Message[];
  readonly #stopping = new LazyAbortController();
  readonly #run: AgentHost;
  readonly #input: RunAgentInput;
  /** Whether the client named its tools. */
  readonly #hasClientTools: boolean;
  readonly #clientTools: ClientToolBroker | undefined;
  /** Only until it is started. */
  #init: RunInit | undefined;
  /** Names of server tools besides those of the handler. */
  #otherTools: Set<string> | undefined = undefined;
  #earlierCalls: EarlierCalls | undefined = undefined;
  #desk: RunTools | undefined = undefined;
  #pumping: Pumping | undefined = undefined;
  #isAborting = false;
  #isLateReported = false;

  /** `input` is what the agent is given. */
  constructor(run: AgentHost, init: RunInit, input: RunAgentInput) {
    const { claimed, runId } = init.context;
    const { questions } = init;
    this.#run = run;
    this.#init = init;
    this.#input = input;
    this.begun = init.middleware.length > 0 ? new BegunParts() : undefined;
    this.claimed = claimed?.length ? new Set(claimed) : undefined;
    // The agent may change the list it is given.
    this.history = init.history ?? init.input.messages.slice();
    this.#hasClientTools = init.input.tools.length > 0;
    this.#clientTools = questions && new ClientToolBroker({ runId, tools: input.tools, questions });
  }

  createContext(init: RunInit["context"], output: AgentOutput): RunContext {
    const { logger } = this.#run.settings;
    return createRunContext(init, { mode: this, logger, output, stopping: this.#stopping });
  }

  // ── Starting and stopping it ─────────────────────────────────────────────────────────────────

  get hasBegun(): boolean {
    return this.#init === undefined;
  }

  start(intake: Intake): void {
    const init = this.#init!;
    this.#init = undefined;
    const { prologue } = init;
    if (prologue && prologue.length > 0) {
      intake.open();
      for (const event of prologue) intake.push(event);
    }
    try {
      this.#pumping = pump(this.#call(init), intake.output);
    } catch (error) {
      intake.failed(error);
    }
    // The agent may have ended the run before it returned.
    if (this.ended) this.release();
  }

  // What middleware itself emits does not pass the middleware again.
  #call({ agent, middleware }: RunInit): unknown {
    const { context } = this.#run;
    if ("serverTools" in agent) this.knowTools(serverToolsOf(agent));
    return middleware.length > 0
      ? chain(toRun(agent), middleware)(this.#input, context)
      : startAgent(agent, this.#input, context);
  }

  /** Asks the agent for nothing more. */
  release(): void {
    // Unsubscribe once; some Observables throw on a second call.
    const pumping = this.#pumping;
    this.#pumping = undefined;
    pumping?.stop();
  }

  /** Aborts its signal, and releases it. */
  stop(reason: AgentError | undefined): void {
    this.#isAborting = true;
    this.#stopping.abort(reason);
    this.#isAborting = false;
    this.release();
  }

  /** The clients have received the end of the run. `error` is why it failed. */
  finish(error: AgentError | undefined): void {
    // A run that failed by itself (the agent's own RUN_ERROR, a violation) has no use for its agent: that
    // runs its `finally` blocks, and in the next turn its signal aborts.
    if (error && !this.#stopping.aborted) {
      this.release();
      nextMacrotask(() => this.stop(error));
    } else {
      // After its own RUN_FINISHED it may clean up until the next turn.
      nextMacrotask(() => this.release());
    }
  }

  /** Cleans up after its tools; those that are called from now on do so at once. */
  dispose(): void {
    this.#desk?.disposers.run();
  }

  // ── Its tools and calls ──────────────────────────────────────────────────────────────────────

  /** What its tools share. Most runs call none. */
  desk(): RunTools {
    if (!this.#desk) {
      const { settings, context, view, isEndDelivered } = this.#run;
      const { logger, clock, limits } = settings;
      const { answers, lost } = context.session as ContextSession;
      const { toolTimeoutMs } = limits;
      const clientTools = this.#clientTools;
      const history = answers.length > 0 || lost.length > 0 ? view.messages : undefined;
      const init = { logger, clock, toolTimeoutMs, clientTools, lost, history };
      this.#desk = new RunTools(init, answers);
      if (isEndDelivered) this.dispose();
    }
    return this.#desk;
  }

  /** The calls that people were asked about, by the id of the interrupt. */
  get asked(): RunTools["asked"] {
    return this.#desk?.asked ?? nothingAsked;
  }

  /** Passes a client's result to the call that waits for it. Returns false when none does. */
  answer(command: ToolResultCommand): boolean {
    return this.#clientTools?.answer(command) ?? false;
  }

  /** Those of the calls that the client can answer after the run: one that the run waited for ends with it. */
  answerable(calls: readonly string[]): readonly string[] {
    const inline = this.#clientTools;
    return inline ? calls.filter((id) => !inline.hasAsked(id)) : calls;
  }

  reportUnmade(): void {
    const { context, view } = this.#run;
    // Few runs bring answers, and the messages are a copy.
    if (context.session.answers.length > 0) reportUnmade(context, this.#desk, view.messages);
  }

  knowTools(names: readonly string[]): void {
    for (const name of names) (this.#otherTools ??= new Set()).add(name);
  }

  // A client that names no tools has those that the server does not have.
  isClientTool(name: string): boolean {
    if (this.#otherTools?.has(name)) return false;
    if (this.#run.context.tools.some((tool) => tool.name === name)) return false;
    if (this.#input.tools.some((tool) => tool.name === name)) return true;
    return !this.#hasClientTools;
  }

  earlierCalls(): EarlierCalls {
    return (this.#earlierCalls ??= new EarlierCalls(this.history));
  }

  isSettledCall(toolCallId: string, name: string): boolean {
    return this.#desk?.isSettled(toolCallId, name) ?? false;
  }

  // ── What its context asks ────────────────────────────────────────────────────────────────────

  get ended(): boolean {
    return this.#run.ended;
  }

  get strict(): boolean {
    return this.#run.settings.strict;
  }

  ready(): Promise<void> | undefined {
    return this.#run.ready();
  }

  aborting(): boolean {
    return this.#isAborting;
  }

  reportLate(call: string): void {
    if (this.#isLateReported) return;
    this.#isLateReported = true;
    warnLate(this.#run, call);
  }

  advise(advice: string): void {
    const { settings, context } = this.#run;
    if (this.ended || !settings.development) return;
    const { runId, threadId, agentId } = context;
    new SafeLogger(settings.logger).warn({ runId, threadId, agentId }, advice);
  }
}
