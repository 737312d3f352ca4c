import { lastUserText } from "@holodeck/agui";
import type { AgentFunction } from "@holodeck/agui";

/** The shop's assistant: two tools on the server, one of which is private. */
export const shopAgent: AgentFunction = async function* (input, { emit }) {
  const id = /\d+/.exec(lastUserText(input))?.[0];
  if (id === undefined) {
    yield "Which order? Please give me its number.";
    return;
  }

  yield "One moment. ";
  const order = emit.toolCall("find_order", { id });
  await emit.toolResult(order, { id, status: "packed" });

  // `toolFilter` keeps this call and its result from the client.
  const credit = emit.toolCall("check_credit", { customer: "Grace" });
  await emit.toolResult(credit, { rating: "doubtful" });

  yield `Order ${id} is packed and leaves today.`;
};
