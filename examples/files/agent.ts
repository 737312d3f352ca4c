import { lastUserText } from "@holodeck/agui";
import type { AgentFunction } from "@holodeck/agui";

/** Returns its input: the text of the files is already below the message. */
export const agent: AgentFunction = async function* (input, { files }) {
  for (const { name, mimeType, size } of files) yield `${name}: ${mimeType}, ${size} bytes.\n`;
  yield lastUserText(input) || "There is no text.";
};
