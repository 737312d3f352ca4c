import { asText, isRecord } from "@holodeck/agui-core/internal";

interface PlanStep {
  readonly title: string;
  readonly status: "pending" | "running" | "done" | "failed";
}

export interface Plan {
  readonly title: string;
  readonly steps: readonly PlanStep[];
}

/** The plan in an agent's state: `plan`, or whatever else is a list of steps with titles and statuses. */
export function planIn(state: unknown): Plan | undefined {
  if (!isRecord(state)) return undefined;
  const [first] = [["plan", state.plan] as const, ...Object.entries(state)].flatMap(
    ([key, value]): Plan[] => {
      const list = isRecord(value) ? value.steps : value;
      const steps = Array.isArray(list) ? list.map(toStep) : [];
      if (steps.length === 0 || steps.includes(undefined)) return [];
      const title = isRecord(value) ? asText(value.title) : undefined;
      return [{ title: title ?? key, steps: steps as PlanStep[] }];
    },
  );
  return first;
}

function toStep(value: unknown): PlanStep | undefined {
  if (!isRecord(value)) return undefined;
  const title = asText(value.title) ?? asText(value.description) ?? asText(value.name);
  const status = asText(value.status);
  if (title === undefined || status === undefined) return undefined;
  return { title, status: statuses[status] ?? "pending" };
}

const statuses: Readonly<Record<string, PlanStep["status"]>> = {
  running: "running",
  active: "running",
  in_progress: "running",
  "in-progress": "running",
  done: "done",
  completed: "done",
  complete: "done",
  success: "done",
  failed: "failed",
  error: "failed",
};
