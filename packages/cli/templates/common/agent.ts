import { lastUserText } from "@holodeck/agui";
import type { AgentFunction } from "@holodeck/agui";

/**
 * Every string is text for the user. `context` has the rest: tools, state, steps, reasoning, files.
 * Put your model here.
 */
export const agent: AgentFunction = async function* (input, { state }) {
  await state.set({ turns: input.messages.filter(({ role }) => role === "user").length });

  yield "You said: ";
  yield lastUserText(input) || "something that is not text";
};
