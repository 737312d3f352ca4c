import { EventType } from "@ag-ui/core";
import type { RunAgentInput } from "@ag-ui/core";
import type { ClientToolCall } from "./client-tools.ts";
import { AgentError, isAgentError, isHalted } from "./errors.ts";
import { nextTurn } from "./hop.ts";
import { ulid } from "./ids.ts";
import { cloneJson } from "./json.ts";
import { ToolAnswers } from "./tool-answers.ts";
import type { Verdict } from "./tool-answers.ts";
import type { ToolDesk } from "./tool-desk.ts";
import { withTimeout } from "./tool-timeout.ts";
import type {
  AskedCall,
  RunContext,
  ServerTool,
  ToolCallOutcome,
  ToolCallRequest,
  ToolContext,
} from "./types.ts";

/** Whose tools are called, and with what. */
export interface ToolCallsOptions {
  readonly desk: ToolDesk;
  /** Whose `tools` the client has; absent outside a run. */
  readonly input: RunAgentInput | undefined;
  /** What the server declares of the client's tools. */
  readonly declared: readonly ServerTool[];
}

const parallel = 8;

interface Call extends AskedCall {
  readonly tool: ServerTool | undefined;
  readonly verdict: Verdict | undefined;
  readonly tell: () => void;
  readonly client: ClientToolCall | undefined;
}

/** How a call went, without what every outcome has. */
type Ending =
  | { readonly status: "done"; readonly result: unknown }
  | { readonly status: "failed"; readonly error: AgentError }
  | { readonly status: "pending" };

/** Calls tools on the run's behalf: START, ARGS, END and RESULT are emitted around each. */
export class ToolCalls {
  readonly #context: RunContext;
  readonly #desk: ToolDesk;
  readonly #input: RunAgentInput | undefined;
  readonly #declared: readonly ServerTool[];
  readonly #answers: ToolAnswers;

  constructor(context: RunContext, { desk, input, declared }: ToolCallsOptions) {
    this.#context = context;
    this.#desk = desk;
    this.#input = input;
    this.#declared = declared;
    this.#answers = new ToolAnswers({ answers: desk.answers, input, used: desk.used });
  }

  async callTool(name: string, args?: unknown): Promise<unknown> {
    const outcome = await this.#call({ name, args });
    if (outcome.status === "done") return outcome.result;
    if (outcome.status === "failed") throw outcome.error;
    // Calls that were made at the same time are told before the agent ends over this one.
    await nextTurn();
    throw new AgentError("halted", `"${name}" waits for its answer; the next run brings it.`);
  }

  async callTools(calls: readonly ToolCallRequest[]): Promise<readonly ToolCallOutcome[]> {
    const outcomes: ToolCallOutcome[] = Array.from({ length: calls.length });
    let next = 0;
    const worker = async (): Promise<void> => {
      for (let index = next++; index < calls.length; index = next++) {
        outcomes[index] = await this.#call(calls[index]!);
      }
    };
    await Promise.all(Array.from({ length: Math.min(parallel, calls.length) }, worker));
    return outcomes;
  }

  async #call(request: ToolCallRequest): Promise<ToolCallOutcome> {
    const { clock } = this.#desk;
    const began = clock.now();
    const { id: told, name, parentMessageId } = request;
    const tool = this.#context.tools.find((candidate) => candidate.name === name);
    const verdict = isJson(request.args) ? this.#answers.verdict(request) : undefined;
    const isTold = told !== undefined || verdict !== undefined;
    const args = verdict?.args ?? request.args ?? {};
    const end = (id: string, ending: Ending): ToolCallOutcome => ({
      id,
      name,
      args,
      ms: Math.max(0, clock.now() - began),
      ...ending,
    });
    const fault = this.#findFault(name, args);
    if (fault) {
      // The client has seen the call; without a result it would take it for its own.
      if (told !== undefined) await this.#refuse(told, fault);
      return end(told ?? ulid(), { status: "failed", error: fault });
    }
    const asks = !tool || (tool.needsApproval ?? false) !== false;
    const past = asks && !isTold ? this.#answers.past(request) : undefined;
    if (past) {
      const { id, result, error } = past;
      return end(id, error ? { status: "failed", error } : { status: "done", result });
    }
    const client =
      tool || isTold ? undefined : this.#desk.clientTools?.call(name, this.#input?.tools);
    const id = verdict?.id ?? told ?? client?.id ?? ulid();
    const parent = parentMessageId === undefined ? {} : { parentMessageId };
    const tell = (): void => {
      if (!isTold) this.#context.emit.toolCall(name, JSON.stringify(args), { id, ...parent });
    };
    return end(id, await this.#settle({ id, name, args, tool, verdict, tell, client }));
  }

  async #settle(one: Call): Promise<Ending> {
    const { id, name, tool, client } = one;
    try {
      // Written down before the client hears of it, so that no answer comes too early.
      if (client) await client.ask(one.args);
      // The run may have ended meanwhile, or while the call waited for its turn.
      this.#context.signal.throwIfAborted();
    } catch (cause) {
      client?.end();
      return { status: "failed", error: toToolError(name, cause) };
    }
    one.tell();
    try {
      const definition = tool ?? this.#declared.find((candidate) => candidate.name === name);
      const args = definition?.parse ? await definition.parse(one.args) : one.args;
      if (!tool && !client) return { status: "pending" };
      if (tool && !(await this.#isAllowed(one, tool, args))) return this.#ask(one);
      const work = async (signal: AbortSignal): Promise<unknown> =>
        tool
          ? this.#desk.disposers.take(await tool.invoke(args, this.#forCall(signal, id)))
          : client?.invoke();
      const ms = (tool ?? client)?.timeoutMs ?? definition?.timeoutMs ?? this.#desk.timeoutMs;
      const result = await withTimeout(work, {
        ms,
        name,
        clock: this.#desk.clock,
        signal: this.#context.signal,
      });
      await this.#answer(id, toContent(result), { ms: client?.executionTimeMs });
      return { status: "done", result };
    } catch (cause) {
      const error = toToolError(name, cause);
      if (this.#context.signal.aborted) return { status: "failed", error };
      const log = { error: cause, tool: name, runId: this.#context.runId };
      if (isAgentError(cause)) this.#context.logger.debug(log, "A tool refused.");
      else this.#context.logger.error(log, "A tool failed.");
      await this.#refuse(id, error, client?.executionTimeMs);
      return { status: "failed", error };
    } finally {
      client?.end();
    }
  }

  async #isAllowed({ name, verdict }: Call, tool: ServerTool, args: unknown): Promise<boolean> {
    if (verdict?.isApproved) return true;
    if (verdict) {
      const why = verdict.reason === undefined ? "." : `: ${verdict.reason}`;
      throw new AgentError("approval-denied", `The user did not allow "${name}"${why}`);
    }
    const { needsApproval = false } = tool;
    const isNeeded =
      typeof needsApproval === "function"
        ? await needsApproval(args, this.#context)
        : needsApproval;
    return !isNeeded;
  }

  #ask({ id: toolCallId, name, args }: Call): Ending {
    const id = this.#context.emit.interrupt({
      reason: "tool_call",
      message: `Allow "${name}"?`,
      toolCallId,
      responseSchema: {
        type: "object",
        properties: { approved: { type: "boolean" }, reason: { type: "string" } },
        required: ["approved"],
      },
    });
    this.#desk.ask(id, { id: toolCallId, name, args: cloneJson(args).value });
    return { status: "pending" };
  }

  async #answer(
    id: string,
    content: string | object,
    { ms, code }: { ms?: number | undefined; code?: string } = {},
  ): Promise<void> {
    if (ms === undefined && code === undefined) return this.#context.emit.toolResult(id, content);
    await this.#context.emit.event({
      type: EventType.TOOL_CALL_RESULT,
      messageId: ulid(),
      toolCallId: id,
      content: typeof content === "string" ? content : JSON.stringify(content),
      role: "tool",
      metadata: {
        // Only who ran the tool knows how long it took.
        ...(ms === undefined ? {} : { executionTimeMs: ms }),
        // AG-UI has no field for it, and nobody should have to guess from the content.
        ...(code === undefined ? {} : { error: code }),
      },
    });
  }

  #refuse(id: string, { code, message }: AgentError, ms?: number): Promise<void> {
    return this.#answer(id, { error: { code, message } }, { ms, code });
  }

  #findFault(name: string, args: unknown): AgentError | undefined {
    const all = [...this.#context.tools, ...(this.#input?.tools ?? [])];
    if (!all.some((tool) => tool.name === name)) {
      const known = all.map((tool) => `"${tool.name}"`).join(", ") || "none";
      return new AgentError("unknown-tool", `There is no tool "${name}". Known: ${known}.`);
    }
    if (isJson(args)) return undefined;
    return new AgentError("invalid-arguments", `The arguments of "${name}" are not JSON.`);
  }

  #forCall(signal: AbortSignal, toolCallId: string): ToolContext {
    return Object.create(this.#context, {
      signal: { value: signal },
      toolCallId: { value: toolCallId },
    }) as ToolContext;
  }
}

function isJson(value: unknown): boolean {
  try {
    return value === undefined || JSON.stringify(value) !== undefined;
  } catch {
    return false;
  }
}

// Content parts stay what they are; everything else is told as JSON.
function toContent(result: unknown): string | object {
  if (typeof result === "string") return result;
  return typeof result === "object" && result !== null
    ? result
    : (JSON.stringify(result) ?? "null");
}

function toToolError(name: string, cause: unknown): AgentError {
  if (isHalted(cause)) {
    const why = `The tool "${name}" made a call that has to wait; only an agent can.`;
    return new AgentError("tool-error", why, { cause });
  }
  if (isAgentError(cause)) return cause;
  return new AgentError("tool-error", `The tool "${name}" failed.`, { cause });
}
