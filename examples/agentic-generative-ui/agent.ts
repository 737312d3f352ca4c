import { setTimeout as sleep } from "node:timers/promises";
import type { AgentFunction } from "@holodeck/agui";

interface Plan {
  steps: { description: string; status: "pending" | "completed" }[];
}

/** Works through a plan and shows its progress as state that the page renders. */
export const agenticGenerativeUi: AgentFunction = async (input, { state, signal }) => {
  const plan = ["Look up the route", "Book the train", "Reserve a hotel room", "Pack the bags"];

  // The first change is sent as a snapshot …
  await state.set({ steps: plan.map((description) => ({ description, status: "pending" })) });

  for (const index of plan.keys()) {
    await work(signal);
    // … and every later one as the smallest patch: `replace /steps/0/status`.
    await state.update<Plan>((draft) => {
      draft.steps[index]!.status = "completed";
    });
  }
  return `All ${plan.length} steps are done.`;
};

// Stands for something that takes time. It ends at once when the client leaves.
async function work(signal: AbortSignal): Promise<void> {
  await sleep(10, undefined, { signal });
}
