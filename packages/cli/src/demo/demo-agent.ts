import type { AgentFunction } from "@holodeck/agui";
import { findFeature } from "./features/index.ts";
import { answerFiles } from "./features/files.ts";
import { createTalk } from "./talk.ts";

/** An agent without a model that understands a few sentences, and shows one thing with each. */
export function createDemoAgent(pace: number): AgentFunction {
  return async (input, context) => {
    const talk = createTalk(input, context, pace);
    const { question, spent } = talk;
    try {
      if (question.files.length > 0) await answerFiles(talk);
      else await findFeature(question.text).answer(talk);
    } finally {
      // A word is not a token, but there is no model that would count tokens.
      context.emit.usage({
        provider: "holodeck",
        model: "demo",
        inputTokens: countWords(question.text),
        outputTokens: spent.words + spent.thoughts,
        reasoningTokens: spent.thoughts,
      });
    }
  };
}

function countWords(text: string): number {
  return text.match(/\S+/g)?.length ?? 0;
}
