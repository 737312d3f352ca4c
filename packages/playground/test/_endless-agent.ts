import { setTimeout as pause } from "node:timers/promises";
import type { AgentFunction } from "@holodeck/agui";

/** Tells a story until it is stopped: a page can be looked at in the middle of it, however slow its browser is. */
export const agent: AgentFunction = async function* agent({ messages }, { signal }) {
  if (!JSON.stringify(messages.at(-1)).includes("story")) return void (yield "No more stories.");
  for (let day = 1; ; day++) {
    yield `Day ${day}. The sea was calm, and we sailed on.\n\n`;
    await pause(50, undefined, { signal });
  }
};
