import type { Feature } from "../feature.ts";

const days = 40;
const weathers = ["calm", "foggy", "bright", "stormy"];
const sights = ["a whale", "an island", "a light in the distance", "nothing but water", "gulls"];

/** Long and slow, so that there is time to stop it, or to reload the page. */
export const story: Feature = {
  example: "Tell me a long story",
  words: /\b(story|long|slow|tale)\b/i,
  async answer({ say }) {
    await say("# The log of the *Albatross*\n\n");
    for (let day = 1; day <= days; day += 1) {
      const weather = weathers[day % weathers.length];
      const sight = sights[day % sights.length];
      await say(`**Day ${day}.** The sea was ${weather}. We saw ${sight}, and sailed on.\n\n`);
    }
    await say("And so we came home.");
  },
};
