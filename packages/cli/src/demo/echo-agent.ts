import type { AgentFunction } from "@holodeck/agui";
import { createTalk } from "./talk.ts";

/** Says what it is told, as Markdown: what a page makes of it is the page's affair. */
export function createEchoAgent(pace: number): AgentFunction {
  return async (input, context) => {
    const { question, say } = createTalk(input, context, pace);
    await say(question.text === "" ? "You said nothing." : question.text);
  };
}
