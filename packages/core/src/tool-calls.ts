import type { RunAgentInput } from "@ag-ui/core";
import { AgentError, isAgentError, isHalted } from "./errors.ts";
import { nextTurn } from "./hop.ts";
import { ulid } from "./ids.ts";
import { cloneJson } from "./json.ts";
import { createToolAnswers } from "./tool-answers.ts";
import type { UsedAnswers, Verdict } from "./tool-answers.ts";
import type { Disposers } from "./tool-disposers.ts";
import { withTimeout } from "./tool-timeout.ts";
import type {
  AskedCall,
  Clock,
  InterruptAnswer,
  RunContext,
  ServerTool,
  ToolCallOutcome,
  ToolCallRequest,
  ToolContext,
} from "./types.ts";

export interface ToolCalls {
  callTool(name: string, args?: unknown): Promise<unknown>;
  callTools(calls: readonly ToolCallRequest[]): Promise<readonly ToolCallOutcome[]>;
}

/** What all who call tools in one run share. */
export interface ToolDesk {
  readonly timeoutMs: number;
  readonly clock: Clock;
  readonly answers: readonly InterruptAnswer[];
  readonly used: UsedAnswers;
  /** The calls that people were asked about, by the id of the interrupt. */
  readonly asked: Map<string, AskedCall>;
  readonly disposers: Disposers;
}

export interface ToolCallsOptions {
  readonly desk: ToolDesk;
  /** Whose `tools` the client has; absent outside a run. */
  readonly input: RunAgentInput | undefined;
  /** What the server declares of the client's tools. */
  readonly declared: readonly ServerTool[];
  /** The context of one call. */
  readonly forCall: (signal: AbortSignal, toolCallId: string) => ToolContext;
}

const parallel = 8;

interface Call extends AskedCall {
  readonly tool: ServerTool | undefined;
  readonly verdict: Verdict | undefined;
}

/** How a call went, without what every outcome has. */
type Ending =
  | { readonly status: "done"; readonly result: unknown }
  | { readonly status: "failed"; readonly error: AgentError }
  | { readonly status: "pending" };

/** Calls tools on the run's behalf: START, ARGS, END and RESULT are emitted around each. */
export function createToolCalls(context: RunContext, options: ToolCallsOptions): ToolCalls {
  const { desk, input, declared, forCall } = options;
  const { clock } = desk;
  const answers = createToolAnswers({ answers: desk.answers, input, used: desk.used });

  async function call(request: ToolCallRequest): Promise<ToolCallOutcome> {
    const began = clock.now();
    const { id: told, name } = request;
    const verdict = isJson(request.args) ? answers.verdict(request) : undefined;
    const id = verdict?.id ?? told ?? ulid();
    const args = verdict?.args ?? request.args ?? {};
    const end = (ending: Ending): ToolCallOutcome => ({
      id,
      name,
      args,
      ms: Math.max(0, clock.now() - began),
      ...ending,
    });
    const tool = context.tools.find((candidate) => candidate.name === name);
    if (!tool && !isClients(name)) {
      const error = unknownTool(name);
      // The client has seen the call; without a result it would take it for its own.
      if (told !== undefined) await answer(id, error);
      return end({ status: "failed", error });
    }
    if (!isJson(args)) {
      const error = new AgentError("invalid-arguments", `The arguments of "${name}" are not JSON.`);
      return end({ status: "failed", error });
    }
    const asks = !tool || (tool.needsApproval ?? false) !== false;
    if (asks && !verdict && told === undefined) {
      const past = answers.past(request);
      if (past?.error) return { ...end({ status: "failed", error: past.error }), id: past.id };
      if (past) return { ...end({ status: "done", result: past.result }), id: past.id };
    }
    if (!verdict && told === undefined) context.emit.toolCall(name, JSON.stringify(args), { id });
    return end(await settle({ id, name, args, tool, verdict }));
  }

  async function settle(one: Call): Promise<Ending> {
    const { id, name, tool } = one;
    try {
      if (!tool) return await askClient(one);
      const args = tool.parse ? await tool.parse(one.args) : one.args;
      if (!(await isAllowed(one, tool, args))) return ask(one);
      const ms = tool.timeoutMs ?? desk.timeoutMs;
      const result = await withTimeout(
        async (signal) => desk.disposers.take(await tool.invoke(args, forCall(signal, id))),
        { ms, name, clock, signal: context.signal },
      );
      await context.emit.toolResult(id, toContent(result));
      return { status: "done", result };
    } catch (cause) {
      const error = toToolError(name, cause);
      if (context.signal.aborted) return { status: "failed", error };
      const log = { error: cause, tool: name, runId: context.runId };
      if (isAgentError(cause)) context.logger.debug(log, "A tool refused.");
      else context.logger.error(log, "A tool failed.");
      await answer(id, error);
      return { status: "failed", error };
    }
  }

  // The run ends with the call open; whoever has the tool answers it with the next one.
  async function askClient({ name, args }: Call): Promise<Ending> {
    await declared.find((candidate) => candidate.name === name)?.parse?.(args);
    return { status: "pending" };
  }

  async function isAllowed(
    { name, verdict }: Call,
    tool: ServerTool,
    args: unknown,
  ): Promise<boolean> {
    if (verdict?.isApproved) return true;
    if (verdict) {
      const why = verdict.reason === undefined ? "." : `: ${verdict.reason}`;
      throw new AgentError("approval-denied", `The user did not allow "${name}"${why}`);
    }
    const { needsApproval = false } = tool;
    const isNeeded =
      typeof needsApproval === "function" ? await needsApproval(args, context) : needsApproval;
    return !isNeeded;
  }

  function ask({ id: toolCallId, name, args }: Call): Ending {
    const id = context.emit.interrupt({
      reason: "tool_call",
      message: `Allow "${name}"?`,
      toolCallId,
      responseSchema: {
        type: "object",
        properties: { approved: { type: "boolean" }, reason: { type: "string" } },
        required: ["approved"],
      },
    });
    desk.asked.set(id, { id: toolCallId, name, args: cloneJson(args).value });
    return { status: "pending" };
  }

  async function answer(id: string, { code, message }: AgentError): Promise<void> {
    await context.emit.toolResult(id, { error: { code, message } });
  }

  function isClients(name: string): boolean {
    return (input?.tools ?? []).some((candidate) => candidate.name === name);
  }

  function unknownTool(name: string): AgentError {
    const all = [...context.tools, ...(input?.tools ?? [])];
    const known = all.map((candidate) => `"${candidate.name}"`).join(", ") || "none";
    return new AgentError("unknown-tool", `There is no tool "${name}". Known: ${known}.`);
  }

  return {
    async callTool(name, args) {
      const outcome = await call({ name, args });
      if (outcome.status === "done") return outcome.result;
      if (outcome.status === "failed") throw outcome.error;
      // Calls that were made at the same time are told before the agent ends over this one.
      await nextTurn();
      throw new AgentError("halted", `"${name}" waits for its answer; the next run brings it.`);
    },
    async callTools(calls) {
      const outcomes: ToolCallOutcome[] = Array.from({ length: calls.length });
      let next = 0;
      const worker = async (): Promise<void> => {
        for (let index = next++; index < calls.length; index = next++) {
          outcomes[index] = await call(calls[index]!);
        }
      };
      await Promise.all(Array.from({ length: Math.min(parallel, calls.length) }, worker));
      return outcomes;
    },
  };
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
