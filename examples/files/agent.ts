import type { AgentFunction } from "@holodeck/agui";

/** Says what it was given: the text of the files stands below the message already. */
export const agent: AgentFunction = async function* (input, { files }) {
  for (const { name, mimeType, size } of files) yield `${name}: ${mimeType}, ${size} bytes.\n`;
  const { content } = input.messages.at(-1)!;
  yield typeof content === "string" ? content : "There are parts that have no text.";
};
