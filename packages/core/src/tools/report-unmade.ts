import type { Message } from "@ag-ui/core";
import { answeredIn, callsIn } from "../base/calls-in.ts";
import { SafeLogger } from "../base/logger.ts";
import { isApproved } from "./approval.ts";
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
  if (answeredIn(messages).has(id)) return undefined;
  return call?.name ?? messages.flatMap(callsIn).find((one) => one.id === id)?.function.name;
}
