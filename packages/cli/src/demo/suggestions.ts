import { suggestQuestions } from "@holodeck/agui";
import type { Middleware } from "@holodeck/agui";
import { features, findFeature } from "./features/index.ts";
import { readQuestion } from "./question.ts";

const count = 3;

/** What the demo agent can show besides what it has just shown. */
export function suggestFeatures(): Middleware {
  return suggestQuestions(({ input, context }) => {
    if (context.agentId !== "demo") return [];
    const shown = findFeature(readQuestion(input, context).text);
    const next = features.indexOf(shown) + 1;
    const names = new Set(input.tools.map(({ name }) => name));
    return [...features.slice(next), ...features.slice(0, next)]
      .filter((one) => one !== shown)
      .filter(({ clientTool }) => clientTool === undefined || names.has(clientTool))
      .slice(0, count)
      .map(({ example }) => example);
  });
}
