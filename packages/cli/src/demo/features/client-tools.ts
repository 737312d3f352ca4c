import type { Feature } from "../feature.ts";
import type { Talk } from "../talk.ts";

export const color: Feature = {
  example: "Let me pick a colour",
  words: /\bcolou?r\b/i,
  clientTool: "pick_color",
  async answer(talk) {
    const args = { question: "Which colour do you like?" };
    const picked = await ask(talk, "pick_color", args);
    if (picked === undefined) return;
    await talk.remember("color", picked);
    await talk.say(`**${describeResult(picked)}** it is. I have put it into the state.`);
  },
};

export const location: Feature = {
  example: "Where am I?",
  words: /\b(where am i|location|place)\b/i,
  clientTool: "get_location",
  async answer(talk) {
    const found = await ask(talk, "get_location", {});
    if (found === undefined) return;
    await talk.remember("location", found);
    await talk.say(`You are here: ${describeResult(found)}.`);
  },
};

/** What the client answered; nothing while it has not, or cannot. */
async function ask(talk: Talk, name: string, args: Record<string, unknown>): Promise<unknown> {
  const { input, isContinued, say, call } = talk;
  if (!input.tools.some((tool) => tool.name === name)) {
    await say(
      `For this I need the tool \`${name}\` of your client, and it has none. ` +
        `The playground has it; other clients declare it in \`tools\` of their requests.`,
    );
    return undefined;
  }
  if (!isContinued) await say("That is for you to decide. ");
  const outcome = await call(name, args);
  if (outcome.status === "failed") await say(`You did not answer: ${outcome.error.message}`);
  return outcome.status === "done" ? (outcome.result ?? "nothing") : undefined;
}

function describeResult(value: unknown): string {
  if (typeof value === "string") return value;
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  // The playground's colours have a name and a number.
  if ("name" in value) return describeResult(value.name);
  return Object.values(value).map(describeResult).join(", ");
}
