import type { Feature } from "../feature.ts";

/** The answer when no other feature matches. */
export function createHelp(features: readonly Feature[]): Feature {
  const list = features.map(({ example }) => `- ${example}`).join("\n");
  return {
    example: "What can you do?",
    words: /\b(help|hello|hi|what can you do)\b/i,
    async answer({ question, say }) {
      const { text } = question;
      const isMeant = text === "" || this.words.test(text);
      if (!isMeant) await say(`You said “${text.slice(0, 200)}”. `);
      await say(
        `I am the demo agent. There is no model behind me, so I know a few sentences only:\n\n` +
          `${list}\n\nOr attach a file, and I read it.`,
      );
    },
  };
}
