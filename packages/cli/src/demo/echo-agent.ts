import type { AgentFunction } from "@holodeck/agui";
import { createTalk } from "./talk.ts";

/** Repeats the message as Markdown; rendering it is up to the page. */
export function createEchoAgent(pace: number): AgentFunction {
  return async (input, context) => {
    const { question, say } = createTalk(input, context, pace);
    await say(question.text === "" ? "You said nothing." : question.text);
  };
}
