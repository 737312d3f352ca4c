import { lastUserText } from "@holodeck/agui";
import type { AgentFunction } from "@holodeck/agui";

/** Says what it was given: the text of the files stands below the message already. */
export const agent: AgentFunction = async function* (input, { files }) {
  for (const { name, mimeType, size } of files) yield `${name}: ${mimeType}, ${size} bytes.\n`;
  yield lastUserText(input) || "There is no text.";
};
