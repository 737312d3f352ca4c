import type { AgentFunction } from "@holodeck/agui";

/**
 * Every string is text for the user. `context` has the rest: tools, state, steps, reasoning, files.
 * Put your model here.
 */
export const agent: AgentFunction = async function* (input, { state }) {
  const said = input.messages.findLast((message) => message.role === "user")?.content;
  await state.set({ turns: input.messages.filter(({ role }) => role === "user").length });

  yield "You said: ";
  yield typeof said === "string" ? said : "something that is not text";
};
