import type { ServerTool } from "@holodeck/agui";
import { defineTool } from "@holodeck/agui-tools";
import type { Feature } from "../feature.ts";
import { pause } from "../pause.ts";

const skies = ["clear", "cloudy", "overcast", "hazy"] as const;

/** The same weather for the same city, always. */
export function createWeatherTool(pace: number): ServerTool {
  return defineTool({
    name: "get_weather",
    description: "The weather of a city, made up from its name.",
    parameters: [{ name: "city", description: "Name of the city" }],
    execute: async ({ city }, { signal }) => {
      await pause(300 * pace, signal);
      const sum = Array.from(String(city), (letter) => letter.codePointAt(0)!).reduce(
        (a, b) => a + b,
        0,
      );
      return { city, celsius: 5 + (sum % 25), sky: skies[sum % skies.length] };
    },
  });
}

export const weather: Feature = {
  example: "What is the weather in Paris?",
  words: /\b(weather|temperature|rain|sunny)\b/i,
  async answer({ question, say, call, remember }) {
    const city = /\b(?:in|of|for)\s+(\p{Lu}[\p{L}'-]*(?:\s\p{Lu}[\p{L}'-]*)*)/u.exec(
      question.text,
    )?.[1];
    await say("Let me look. ");
    const { status, result, error } = await call("get_weather", { city: city ?? "Berlin" });
    if (status !== "done") return say(`I could not find out: ${error?.message ?? "no answer."}`);
    const found = result as { city: string; celsius: number; sky: string };
    await remember("weather", found);
    await say(`It is **${found.celsius} °C** in ${found.city}, and the sky is ${found.sky}.`);
  },
};
