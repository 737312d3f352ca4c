import type { Feature } from "../feature.ts";

export const reasoning: Feature = {
  example: "Think about why the sky is blue",
  words: /\b(think|reason|why)\b/i,
  async answer({ say, think, pause }) {
    await think(
      "The user asks why the sky is blue. Sunlight has all colours in it. Air scatters short waves " +
        "much more than long ones: with the fourth power of the frequency. Violet is scattered even " +
        "more, yet the sun sends less of it and our eyes hardly see it. So blue is left.",
    );
    await pause(150);
    await say(
      "Because air scatters **blue** light about *five times* as much as red light. What we see away " +
        "from the sun is the light that was scattered.",
    );
  },
};
