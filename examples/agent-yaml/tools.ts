import { defineTool } from "@holodeck/agui-tools";
import type { DefinedTool } from "@holodeck/agui-tools";
import { z } from "zod";

export function countWords({ text }: { text: string }): number {
  return text.split(/\s+/).filter(Boolean).length;
}

export const sendLetter: DefinedTool = defineTool({
  name: "send_letter",
  description: "Sends a letter by post.",
  parameters: z.object({ to: z.string(), text: z.string() }),
  execute: ({ to }) => `The letter to ${to} is on its way.`,
});
