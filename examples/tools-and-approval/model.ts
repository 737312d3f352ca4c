import { ulid } from "@holodeck/agui";
import type { AgentEvent, AgentFunction, Message } from "@holodeck/agui";

/** Stands for a language model: it looks up the order that was named, refunds it, and reports. */
export const model: AgentFunction = async function* ({ messages }) {
  const last = messages.at(-1);
  const order = readOrder(last);
  if (last?.role === "user") {
    yield "Let me look that up. ";
    yield* call("find_order", { id: /\d+/.exec(String(last.content))?.[0] ?? "?" });
  } else if (order) {
    yield* call("refund", { id: order.id, amount: order.cost });
  } else {
    yield String(last?.content).includes("approval-denied")
      ? "I was not allowed to refund it."
      : String(last?.content);
  }
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

function readOrder(message: Message | undefined): { id: string; cost: number } | undefined {
  if (message?.role !== "tool") return undefined;
  try {
    const value = JSON.parse(String(message.content)) as { id?: unknown; cost?: unknown };
    const { id, cost } = value;
    return typeof id === "string" && typeof cost === "number" ? { id, cost } : undefined;
  } catch {
    return undefined;
  }
}
