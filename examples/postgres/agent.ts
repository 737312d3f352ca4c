import { lastUserText } from "@holodeck/agui";
import type { AgentFunction } from "@holodeck/agui";

/** Counts what its thread has: the server keeps it, not the client. */
export const agent: AgentFunction = async function* (input) {
  const asked = input.messages.filter(({ role }) => role === "user").length;
  yield `Question ${asked}: `;
  yield lastUserText(input) || "nothing";
};
