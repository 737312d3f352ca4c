import type { Message } from "@ag-ui/core";
import { SafeLogger } from "../base/logger.ts";
import { isApproved } from "./answers.ts";
import type { RunTools } from "./run-tools.ts";
import type { RunContext } from "../contract/context.ts";
import type { InterruptAnswer } from "../contract/tools.ts";

/** One warning for the calls that a person has allowed and that a finished run did not make. */
export function reportUnmade(
  context: RunContext,
  desk: RunTools | undefined,
  messages: readonly Message[],
): void {
  const { session, logger, threadId, runId, agentId } = context;
  if (session.answers.length === 0) return;
  const tools = session.answers.flatMap((answer) => unmadeTool(answer, desk, messages) ?? []);
  if (tools.length === 0) return;
  const names = tools.map((name) => `"${name}"`).join(", ");
  new SafeLogger(logger).warn(
    { threadId, runId, agentId, tools },
    `The user approved ${names}, but the agent did not make the call. ` +
      "The server runs tools in the handler's tools; the agent has to call any other tool again.",
  );
}

function unmadeTool(
  answer: InterruptAnswer,
  desk: RunTools | undefined,
  messages: readonly Message[],
): string | undefined {
  const { call, interrupt } = answer;
  const asksForCall = call !== undefined || interrupt.reason === "tool_call";
  const id = call?.id ?? interrupt.toolCallId;
  if (!asksForCall || id === undefined || !isApproved(answer)) return undefined;
  if (desk?.settled.has(id) || desk?.used.has(id)) return undefined;
  const hasResult = messages.some((one) => one.role === "tool" && one.toolCallId === id);
  return hasResult ? undefined : (call?.name ?? nameOf(messages, id));
}

function nameOf(messages: readonly Message[], callId: string): string | undefined {
  for (const message of messages) {
    if (message.role !== "assistant") continue;
    const found = message.toolCalls?.find(({ id }) => id === callId);
    if (found) return found.function.name;
  }
  return undefined;
}
