import { lastUserText } from "@holodeck/agui";
import type { AgentFunction } from "@holodeck/agui";

/** The smallest agent worth serving: what it yields is what the user reads. */
export const agent: AgentFunction = async function* (input) {
  yield "You said: ";
  yield lastUserText(input) || "nothing";
};
