import type { AgentFunction } from "@holodeck/agui";

interface Step {
  description: string;
  status: "enabled" | "disabled";
}

/** Proposes steps, waits until a person has chosen among them, then reports. */
export const humanInTheLoop: AgentFunction = async (input, { emit }) => {
  const last = input.messages.at(-1);

  if (last?.role === "tool") {
    const { accepted, steps } = readDecision(last.content);
    const chosen = steps.filter((step) => step.status === "enabled");
    return accepted
      ? `Doing ${chosen.length} of ${steps.length} steps: ${list(chosen)}.`
      : "All right, nothing is done. What shall I change?";
  }

  // The arguments leave piece by piece, so that the page can show each step as it arrives.
  await emit.toolCall("generate_task_steps", fragments(plan));
};

const plan: readonly Step[] = [
  { description: "Dig a hole", status: "enabled" },
  { description: "Plant the tree", status: "enabled" },
  { description: "Water it", status: "enabled" },
];

async function* fragments(steps: readonly Step[]): AsyncGenerator<string> {
  yield '{"steps":[';
  for (const [index, step] of steps.entries()) {
    yield (index === 0 ? "" : ",") + JSON.stringify(step);
  }
  yield "]}";
}

// It comes from a browser: whatever is not a decision counts as a no.
function readDecision(content: unknown): { accepted: boolean; steps: Step[] } {
  try {
    const value = JSON.parse(String(content)) as { accepted?: unknown; steps?: unknown } | null;
    const steps = Array.isArray(value?.steps) ? value.steps.filter(isStep) : [];
    return { accepted: value?.accepted === true, steps };
  } catch {
    return { accepted: false, steps: [] };
  }
}

function isStep(value: unknown): value is Step {
  const step = value as Partial<Step> | null;
  return typeof step?.description === "string" && typeof step.status === "string";
}

function list(steps: readonly Step[]): string {
  return steps.map((step) => step.description).join(", ");
}
