import { lastUserText, ulid } from "@holodeck/agui";
import type { AgentEvent, AgentFunction } from "@holodeck/agui";

/** Stands for a language model: it looks up the order that was named, refunds it, and reports. */
export const model: AgentFunction = async function* (input) {
  const last = input.messages.at(-1);
  if (last?.role !== "tool") {
    yield "Let me look that up. ";
    yield* call("find_order", { id: /\d+/.exec(lastUserText(input))?.[0] ?? "?" });
    return;
  }
  const result = typeof last.content === "string" ? last.content : JSON.stringify(last.content);
  const order = readOrder(result);
  if (order) yield* call("refund", { id: order.id, amount: order.cost });
  else yield result.includes("approval-denied") ? "I was not allowed to refund it." : result;
};

// As models do: the name first, then the arguments piece by piece.
function* call(toolCallName: string, args: object): Generator<AgentEvent> {
  const toolCallId = ulid();
  yield { type: "TOOL_CALL_START", toolCallId, toolCallName };
  for (const delta of JSON.stringify(args).match(/.{1,8}/g) ?? []) {
    yield { type: "TOOL_CALL_ARGS", toolCallId, delta };
  }
  yield { type: "TOOL_CALL_END", toolCallId };
}

function readOrder(result: string): { id: string; cost: number } | undefined {
  try {
    const value = JSON.parse(result) as { id?: unknown; cost?: unknown };
    const { id, cost } = value;
    return typeof id === "string" && typeof cost === "number" ? { id, cost } : undefined;
  } catch {
    return undefined;
  }
}
