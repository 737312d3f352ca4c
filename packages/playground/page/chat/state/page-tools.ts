import type { Tool } from "@ag-ui/core";

/** The tools that this page offers to every agent, and answers in place. */
export const pageTools: readonly Tool[] = [
  {
    name: "pick_color",
    description: "Lets the user pick a colour. Returns its name and its hex value.",
    parameters: {
      type: "object",
      properties: { question: { type: "string", description: "What the colour is for." } },
    },
  },
  {
    name: "get_location",
    description: "Asks the user where they are. Returns a place, as the user writes it.",
    parameters: {
      type: "object",
      properties: { reason: { type: "string", description: "Why it is asked." } },
    },
  },
];
