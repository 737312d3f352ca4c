import type { AgentFunction } from "@holodeck/agui";

/** The smallest agent worth serving: what it yields is what the user reads. */
export const agent: AgentFunction = async function* (input) {
  const last = input.messages.at(-1);
  yield "You said: ";
  yield typeof last?.content === "string" ? last.content : "nothing";
};
