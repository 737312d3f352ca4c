import { createAgentHandler, lastUserText } from "@holodeck/agui";
import type { AgentFunction } from "@holodeck/agui";
import { serve } from "@holodeck/agui-node";

/** What stands for an agent in Python, Go or Rust: all that the gateway knows of it is its address. */
const agent: AgentFunction = async function* (input, { emit, state }) {
  const [answer] = input.resume ?? [];
  if (answer) {
    const { approved } = answer.payload as { approved: boolean };
    await emit.toolResult("order-1", approved ? "Ordered." : "The user said no.");
    yield approved ? "Your pizza is on its way." : "No pizza, then.";
    return;
  }
  const text = lastUserText(input);
  yield `Message ${input.messages.length}: `;
  yield text;
  await state.set({ last: text });
  if (!/pizza/i.test(text)) return;
  const toolCallId = emit.toolCall("order", { dish: "pizza" }, { id: "order-1" });
  emit.interrupt({ reason: "tool_call", toolCallId, message: "Order it?" });
};

/** Starts it on any free port. */
export async function startBackend(): Promise<{ url: string; close(): Promise<void> }> {
  const { url, close } = await serve(createAgentHandler(agent), { port: 0 });
  return { url: `${url}/agui`, close };
}
