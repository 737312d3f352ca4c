import { EventType } from "@ag-ui/core";
import type { RunAgentInput } from "@ag-ui/core";
import { AgentError, describeError } from "./errors.ts";
import { ulid } from "./ids.ts";
import type { Clock, Logger, RunContext, ServerTool, ToolCallOutcome } from "./types.ts";

export interface ToolCalls {
  callTool(name: string, args: unknown): Promise<unknown>;
  callTools(calls: readonly { name: string; args: unknown }[]): Promise<readonly ToolCallOutcome[]>;
}

const parallel = 8;

/** Calls server tools on the run's behalf: START, ARGS, END and RESULT are emitted around each. */
export function createToolCalls(
  context: RunContext,
  options: { timeoutMs: number; clock: Clock },
): ToolCalls {
  async function call(name: string, args: unknown): Promise<ToolCallOutcome> {
    const id = ulid();
    const tool = context.tools.find((candidate) => candidate.name === name);
    if (!tool) {
      const known = context.tools.map((candidate) => `"${candidate.name}"`).join(", ") || "none";
      return {
        id,
        name,
        error: new AgentError("unknown-tool", `There is no tool "${name}". Known: ${known}.`),
      };
    }
    context.emit.toolCall(name, JSON.stringify(args ?? {}), { id });
    try {
      const ms = tool.timeoutMs ?? options.timeoutMs;
      const result = await withTimeout(
        Promise.resolve().then(() => tool.invoke(args, context)),
        { ms, name, clock: options.clock, signal: context.signal },
      );
      await context.emit.toolResult(id, toContent(result));
      return { id, name, result };
    } catch (cause) {
      const error = toToolError(name, cause);
      context.logger.error({ error: cause, tool: name, runId: context.runId }, "A tool failed.");
      if (!context.signal.aborted) {
        const { code, message } = error;
        await context.emit.event({
          type: EventType.TOOL_CALL_RESULT,
          messageId: ulid(),
          toolCallId: id,
          content: JSON.stringify({ error: { code, message } }),
          role: "tool",
          // AG-UI has no field for it, and nobody should have to guess from the content.
          metadata: { error: code },
        });
      }
      return { id, name, error };
    }
  }

  return {
    async callTool(name, args) {
      const outcome = await call(name, args);
      if (outcome.error) throw outcome.error;
      return outcome.result;
    },
    async callTools(calls) {
      const outcomes: ToolCallOutcome[] = Array.from({ length: calls.length });
      let next = 0;
      const worker = async (): Promise<void> => {
        for (let index = next++; index < calls.length; index = next++) {
          const { name, args } = calls[index]!;
          outcomes[index] = await call(name, args);
        }
      };
      await Promise.all(Array.from({ length: Math.min(parallel, calls.length) }, worker));
      return outcomes;
    },
  };
}

function toContent(result: unknown): string {
  return typeof result === "string" ? result : (JSON.stringify(result) ?? "null");
}

function toToolError(name: string, cause: unknown): AgentError {
  const { code, message } = describeError(cause);
  if (code !== "agent-error") return new AgentError(code, message, { cause });
  return new AgentError("tool-error", `The tool "${name}" failed.`, { cause });
}

interface TimeoutOptions {
  ms: number;
  name: string;
  clock: Clock;
  signal: AbortSignal;
}

function withTimeout<T>(work: Promise<T>, options: TimeoutOptions): Promise<T> {
  const { ms, name, clock, signal } = options;
  return new Promise((resolve, reject) => {
    const onAbort = (): void => reject(signal.reason as Error);
    const timer = clock.setTimeout(
      () => reject(new AgentError("timeout", `The tool "${name}" took longer than ${ms} ms.`)),
      ms,
    );
    signal.addEventListener("abort", onAbort, { once: true });
    void work.then(resolve, reject).finally(() => {
      clock.clearTimeout(timer);
      signal.removeEventListener("abort", onAbort);
    });
  });
}

/** The input without tools that the server has itself: no client may put its own in their place. */
export function withoutTaken(
  input: RunAgentInput,
  options: { runId: string; tools?: readonly ServerTool[]; logger: Logger },
): RunAgentInput {
  const { runId, tools: own = [], logger } = options;
  if (own.length === 0) return input;
  const taken = own.filter(({ name }) => input.tools.some((offered) => offered.name === name));
  if (taken.length === 0) return input;
  const names = new Set(taken.map(({ name }) => name));
  logger.warn(
    { runId, tools: [...names] },
    "The client offered tools that the server has itself; the server's count.",
  );
  return { ...input, tools: input.tools.filter(({ name }) => !names.has(name)) };
}
