import type { Feature } from "../feature.ts";
import { color, location } from "./client-tools.ts";
import { failure } from "./failure.ts";
import { createHelp } from "./help.ts";
import { mail } from "./mail.ts";
import { markdown } from "./markdown.ts";
import { plan } from "./plan.ts";
import { reasoning } from "./reasoning.ts";
import { research } from "./research.ts";
import { story } from "./story.ts";
import { weather } from "./weather.ts";

/** In the order in which they are looked at, and suggested. */
export const features: readonly Feature[] = [
  weather,
  plan,
  mail,
  markdown,
  color,
  reasoning,
  research,
  location,
  story,
  failure,
];

export const help: Feature = createHelp(features);

/** What a question means. */
export function findFeature(question: string): Feature {
  return features.find(({ words }) => words.test(question)) ?? help;
}
