import type { BaseEvent, RunAgentInput } from "@ag-ui/core";
import type { ClientToolCall } from "./client-tools.ts";
import { AgentError, isAgentError } from "../contract/errors.ts";
import { nextTurn } from "../base/time/turns.ts";
import { toSentId, ulid } from "../base/ids.ts";
import { inParallel } from "../base/awaitable.ts";
import { cloneJson } from "../json/copy.ts";
import { ToolAnswers } from "./answers.ts";
import type { SettledCall } from "./answers.ts";
import { isAllowed, questionOf, toApprovalRequest } from "./approval.ts";
import type { Verdict } from "./approval.ts";
import { findCallFault, toToolError } from "./call-faults.ts";
import { sendResult } from "./results.ts";
import type { RunTools } from "./run-tools.ts";
import { withToolTimeout } from "./tool-timeout.ts";
import type { RunContext } from "../contract/context.ts";
import type {
  AskedCall,
  ServerTool,
  TakenCall,
  ToolCallOutcome,
  ToolCallRequest,
  ToolContext,
} from "../contract/tools.ts";

/** Whose tools are called, and with what. */
export interface ToolCallsOptions {
  readonly desk: RunTools;
  /** Whose `tools` the client has; absent outside a run. */
  readonly input: RunAgentInput | undefined;
  /** What the server declares of the client's tools. */
  readonly declared: readonly ServerTool[];
  /** Knows the ids of calls; absent outside a run. */
  readonly output?: { callId(id: string): string } | undefined;
}

interface Call extends AskedCall {
  readonly tool: ServerTool | undefined;
  readonly verdict: Verdict | undefined;
  readonly announce: () => void;
  readonly client: ClientToolCall | undefined;
  /** Receives the result as it is sent. */
  readonly onResult?: ((event: BaseEvent) => void) | undefined;
}

/** A call of the handler's that a person has answered. */
export interface AnsweredCall extends AskedCall {
  readonly tool: ServerTool;
  readonly verdict: Verdict;
  /** START, ARGS and END, where the thread lacks the call. */
  readonly opening: readonly BaseEvent[];
}

/** A call of an earlier run whose process ended before it had a result. */
export interface LostCall extends TakenCall {
  /** START, ARGS and END, where the thread lacks the call. */
  readonly opening: readonly BaseEvent[];
}

/** How a call went, without what every outcome has. */
type Ending =
  | { readonly status: "done"; readonly result: unknown }
  | { readonly status: "failed"; readonly error: AgentError }
  | { readonly status: "pending" };

/** Calls tools on the run's behalf: START, ARGS, END and RESULT are emitted around each. */
export class ToolCalls {
  readonly #context: RunContext;
  readonly #desk: RunTools;
  readonly #input: RunAgentInput | undefined;
  readonly #declared: readonly ServerTool[];
  readonly #answers: ToolAnswers;
  readonly #output: ToolCallsOptions["output"];

  constructor(context: RunContext, { desk, input, declared, output }: ToolCallsOptions) {
    this.#context = context;
    this.#desk = desk;
    this.#input = input;
    this.#declared = declared;
    this.#output = output;
    const { answers, used, settled } = desk;
    this.#answers = new ToolAnswers({ answers, input, used, settled });
  }

  /** What the calls of one run share. */
  get desk(): RunTools {
    return this.#desk;
  }

  async callTool(name: string, args?: unknown): Promise<unknown> {
    const outcome = await this.#call({ name, args });
    if (outcome.status === "done") return outcome.result;
    if (outcome.status === "failed") throw outcome.error;
    // Calls made at the same time are sent before the agent ends because of this one.
    await nextTurn();
    throw new AgentError(
      "halted",
      `"${name}" is waiting for an answer, which arrives with the next run.`,
    );
  }

  callTools(calls: readonly ToolCallRequest[]): Promise<readonly ToolCallOutcome[]> {
    return inParallel(calls, (call) => this.#call(call));
  }

  /** Makes calls that a person has answered, several at once. What the client receives is in `events`. */
  async callAnswered(calls: readonly AnsweredCall[]): Promise<readonly SettledCall[]> {
    // All calls before the first result, as a model makes them.
    for (const { opening } of calls) {
      for (const event of opening) await this.#context.emit.event(event);
    }
    return inParallel(calls, (call) => this.#callAnswered(call));
  }

  /** Sends an error as the result of a call that is not made again. */
  async refuse({ opening, id, name, args }: LostCall, error: AgentError): Promise<SettledCall> {
    for (const event of opening) await this.#context.emit.event(event);
    const events = [...opening, await this.#refuse(id, error)];
    return {
      call: { id, name, args },
      outcome: { id, name, args, ms: 0, status: "failed", error },
      events,
    };
  }

  async #callAnswered(answered: AnsweredCall): Promise<SettledCall> {
    const { id, name, args, tool, verdict, opening } = answered;
    const { clock } = this.#desk;
    const began = clock.now();
    const events = [...opening];
    const onResult = (event: BaseEvent): void => void events.push(event);
    const announce = (): void => undefined;
    const client = undefined;
    const ending = await this.#settle({
      id,
      name,
      args,
      tool,
      verdict,
      announce,
      client,
      onResult,
    });
    const ms = Math.max(0, clock.now() - began);
    return { call: { id, name, args }, outcome: { id, name, args, ms, ...ending }, events };
  }

  // Call, question and answer have the id under which the client and the thread know them.
  async #call(request: ToolCallRequest): Promise<ToolCallOutcome> {
    const { id } = request;
    const known = typeof id === "string" ? this.#sentId(id) : id;
    if (id === undefined || known === id) return this.#callKnown(request);
    const outcome = await this.#callKnown({ ...request, id: known! });
    return { ...outcome, id };
  }

  #sentId(id: string): string {
    const sent = toSentId(id, this.#context.runId);
    return this.#output?.callId(sent) ?? sent;
  }

  async #callKnown(request: ToolCallRequest): Promise<ToolCallOutcome> {
    const { clock } = this.#desk;
    const began = clock.now();
    const { id: givenId, name, parentMessageId } = request;
    const settled = this.#answers.settled(request);
    if (settled) return settled;
    if (this.#answers.isOpen(request)) {
      const error = new AgentError("tool-error", `The call of "${name}" is in progress.`);
      return { id: givenId!, name, args: request.args, ms: 0, status: "failed", error };
    }
    const tool = this.#context.tools.find((candidate) => candidate.name === name);
    const args = request.args ?? {};
    const end = (id: string, ending: Ending, made: unknown = args): ToolCallOutcome => ({
      id,
      name,
      args: made,
      ms: Math.max(0, clock.now() - began),
      ...ending,
    });
    const offered = [...this.#context.tools, ...(this.#input?.tools ?? [])];
    const fault = findCallFault(offered, name, args);
    if (fault) {
      // The client has seen the call; without a result it would take it for its own.
      if (givenId !== undefined) await this.#refuse(givenId, fault);
      return end(givenId ?? ulid(), { status: "failed", error: fault });
    }
    const asks = !tool || (tool.needsApproval ?? false) !== false;
    const past = givenId === undefined ? this.#answers.past(request, asks) : undefined;
    if (past) {
      const { id, result, error } = past;
      return end(id, error ? { status: "failed", error } : { status: "done", result });
    }
    const verdict = this.#answers.verdict(request);
    const isKnown = givenId !== undefined || verdict !== undefined;
    const client =
      tool || isKnown ? undefined : this.#desk.clientTools?.call(name, this.#input?.tools);
    const id = verdict?.id ?? givenId ?? client?.id ?? ulid();
    const parent = parentMessageId === undefined ? {} : { parentMessageId };
    const announce = (): void => {
      if (!isKnown) this.#context.emit.toolCall(name, JSON.stringify(args), { id, ...parent });
    };
    const asked = verdict?.args ?? args;
    const call = { id, name, args: asked, tool, verdict, announce, client };
    return end(id, await this.#settle(call), asked);
  }

  async #settle(one: Call): Promise<Ending> {
    const { id, name, tool, client } = one;
    try {
      // Stored before the client receives it, so that no answer comes too early.
      if (client) await client.ask(one.args);
      // The run may have ended meanwhile, or while the call waited for its turn.
      this.#context.signal.throwIfAborted();
    } catch (cause) {
      client?.end();
      return { status: "failed", error: toToolError(name, cause) };
    }
    one.announce();
    try {
      const definition = tool ?? this.#declared.find((candidate) => candidate.name === name);
      const args = definition?.parse ? await definition.parse(one.args) : one.args;
      if (!tool && !client) return { status: "pending" };
      if (tool && !(await isAllowed(tool, one.verdict, { args, context: this.#context }))) {
        return this.#ask(one, tool);
      }
      const work = async (signal: AbortSignal): Promise<unknown> =>
        tool
          ? this.#desk.disposers.take(await tool.invoke(args, this.#forCall(signal, id)))
          : client?.invoke();
      const ms = (tool ?? client)?.timeoutMs ?? definition?.timeoutMs ?? this.#desk.timeoutMs;
      const result = await withToolTimeout(work, {
        ms,
        name,
        clock: this.#desk.clock,
        signal: this.#context.signal,
      });
      const { emit } = this.#context;
      const sent = await sendResult(emit, id, { result, ms: client?.executionTimeMs });
      one.onResult?.(sent);
      return { status: "done", result };
    } catch (cause) {
      const question = one.verdict ? undefined : questionOf(cause);
      if (tool && question && !this.#context.signal.aborted) return this.#ask(one, tool, question);
      const error = toToolError(name, cause);
      if (this.#context.signal.aborted) return { status: "failed", error };
      const log = { error: cause, tool: name, runId: this.#context.runId };
      if (isAgentError(cause)) this.#context.logger.debug(log, "A tool rejected its call.");
      else this.#context.logger.error(log, "A tool failed.");
      const sent = await this.#refuse(id, error, client?.executionTimeMs);
      one.onResult?.(sent);
      return { status: "failed", error };
    } finally {
      client?.end();
    }
  }

  #ask({ id: toolCallId, name, args }: Call, tool: ServerTool, question: object = {}): Ending {
    const request = { ...toApprovalRequest(toolCallId, name), ...question };
    const id = this.#context.emit.interrupt(request);
    const call = { id: toolCallId, name, args: cloneJson(args).value };
    this.#desk.ask(id, this.#desk.isBrought(tool) ? { ...call, owner: "agent" } : call);
    return { status: "pending" };
  }

  #refuse(id: string, error: AgentError, ms?: number): Promise<BaseEvent> {
    return sendResult(this.#context.emit, id, { error, ms });
  }

  #forCall(signal: AbortSignal, toolCallId: string): ToolContext {
    return Object.create(this.#context, {
      signal: { value: signal },
      toolCallId: { value: toolCallId },
    }) as ToolContext;
  }
}
