import type { ServerTool } from "@holodeck/agui";
import { defineTool } from "@holodeck/agui-tools";
import type { Feature } from "../feature.ts";

interface Plan {
  title: string;
  steps: { title: string; status: "pending" | "running" | "done" }[];
}

/** Its argument becomes a part of the state, which the page shows as a list. */
export const planTool: ServerTool = defineTool({
  name: "make_plan",
  description: "Puts a plan with its steps into the state.",
  parameters: [{ name: "plan", type: "object", description: "Title and steps" }],
  execute: async ({ plan }, { state }) => {
    await state.set({ ...state.get<Record<string, unknown> | undefined>(), plan });
    return "The plan is in the state.";
  },
});

const titles = ["Choose a place", "Find a train", "Book a room", "Pack a bag"];

export const plan: Feature = {
  example: "Plan a trip",
  words: /\b(plan|trip|travel)\b/i,
  async answer({ context, say, call, pause }) {
    const { emit, state } = context;
    await say("I make a plan, and tick off what is done. ");
    // So that a page can show the plan while its argument still grows.
    await emit.predictState([{ state_key: "plan", tool: "make_plan", tool_argument: "plan" }]);
    const steps: Plan["steps"] = titles.map((title) => ({ title, status: "pending" }));
    const { status, error } = await call("make_plan", { plan: { title: "A weekend away", steps } });
    if (status !== "done") return say(`There is no plan: ${error?.message ?? "no answer."}`);
    for (const [index, title] of titles.entries()) {
      const set = (next: Plan["steps"][number]["status"]): void | Promise<void> =>
        state.update<{ plan: Plan }>((draft) => {
          draft.plan.steps[index]!.status = next;
        });
      await emit.step(title, async () => {
        await set("running");
        await pause(350);
        await set("done");
      });
    }
    await say("All four steps are done. Each of them was one small `STATE_DELTA`.");
  },
};
