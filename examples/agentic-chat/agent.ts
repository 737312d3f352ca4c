import { lastUserText } from "@holodeck/agui";
import type { AgentFunction } from "@holodeck/agui";

/** Chats, and changes the page's background when the page offers a tool for it. */
export const agenticChat: AgentFunction = function* (input, { emit }) {
  // The last message shows whose turn it was: the user's, or that of a tool that ran in the page.
  const last = input.messages.at(-1);

  if (last?.role === "tool") {
    yield* words("Done! Do you like the new background?");
    return;
  }

  const asked = lastUserText(input);
  const colour = /\b(blue|green|red)\b/i.exec(asked)?.[1]?.toLowerCase();
  const background = asked.includes("background") ? colour : undefined;
  const canChange = input.tools?.some((tool) => tool.name === "change_background");

  if (background && canChange) {
    // A frontend tool: we only request it. The page runs it and starts the next run.
    emit.toolCall("change_background", { background });
    return;
  }
  yield* words(background ? "This page has no background to change." : `You said: ${asked}`);
};

// A model sends a few letters at a time. So do we; every string is a text delta.
function* words(text: string): Generator<string> {
  yield* text.match(/\S+\s*/g) ?? [];
}
