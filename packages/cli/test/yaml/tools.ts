import { defineTool } from "@holodeck/agui-tools";
import type { DefinedTool } from "@holodeck/agui-tools";
import { z } from "zod";

export { shout } from "./shout.ts";

export const multiply: DefinedTool = defineTool({
  name: "multiply_numbers",
  description: "Multiplies two numbers.",
  parameters: z.object({ a: z.number(), b: z.number() }),
  execute: ({ a, b }) => a * b,
});

export const answer = 42;
