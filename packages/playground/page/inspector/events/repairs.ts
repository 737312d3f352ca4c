import type { RepairKind } from "@holodeck/agui-core";

/** What had to be repaired in the output of an agent or middleware. */
export interface StageRepairs {
  readonly stage: string;
  readonly repairs: Readonly<Record<string, number>>;
  /** A description of the first one. */
  readonly first?: string;
}

/** What is known of a run's repairs. */
export type Repairs =
  | { readonly kind: "waiting" }
  | { readonly kind: "untold" }
  | { readonly kind: "told"; readonly stages: readonly StageRepairs[] }
  | { readonly kind: "failed"; readonly reason: string };

/** What each kind of repair means, for the author of the agent. */
export const repairMeanings: Readonly<Record<RepairKind, string>> = {
  "after-end": "Came after the end of the run. It was dropped.",
  "chunk-conflict":
    "A chunk contradicts the message or call it continues. The contradicting fields were ignored.",
  "duplicate-start":
    "Started a part that was already open. It was dropped, or the first one was closed.",
  id: "An id that clients could not send back: empty, or longer than 1,024 characters. It was replaced.",
  "left-open": "Left open at the end of the run. It was closed.",
  "legacy-thinking": "A THINKING event of AG-UI 0.0. It was translated to REASONING.",
  malformed: "Not usable as the event it claims to be. It was wrapped as RAW.",
  "missing-field": "A required field is missing. It was filled in.",
  "not-an-event": "Neither an event nor text. It was dropped.",
  "not-json": "Cannot be written as JSON. It was left out or described.",
  "not-open": "Ended a part that is not open. It was dropped, or given a start.",
  "not-started": "Content of a part that never started. It was started.",
  "null-field": "null in an optional field. It was left out.",
  reopened: "Content of a part that had ended. It was started again.",
  "reused-call":
    "A call was begun under the id of another one that has its result. It was given a new id.",
  "run-ids": "The ids of another run. They were replaced.",
  "run-started": "A second RUN_STARTED. It was dropped.",
  "state-delta": "A patch that does not apply to the state. A snapshot was sent instead.",
  subagent: "A subagent's id that was used before, or a parent that was never announced.",
  "unknown-type": "A type that AG-UI does not have. It was wrapped as RAW.",
  "wrong-owner":
    "Attributed to another owner than the part it continues. It was assigned to that part's owner.",
  "wrong-type": "A field of the wrong type. It was converted or left out.",
};

/** Asks the server what it repaired in a run. Only `holodeck serve` has this route. */
export async function fetchRepairs(runId: string, base: string): Promise<Repairs> {
  try {
    const url = new URL(`_holodeck/runs/${encodeURIComponent(runId)}/repairs`, base);
    const response = await fetch(url, { headers: { accept: "application/json" } });
    if (response.status === 404) return { kind: "untold" };
    if (!response.ok) return { kind: "failed", reason: `The server answered ${response.status}.` };
    const { repairs } = (await response.json()) as { repairs?: unknown };
    return { kind: "told", stages: Array.isArray(repairs) ? repairs.filter(isStage) : [] };
  } catch (error) {
    return { kind: "failed", reason: error instanceof Error ? error.message : String(error) };
  }
}

/** How many repairs there were in all. */
export function countRepairs(repairs: Repairs): number {
  if (repairs.kind !== "told") return 0;
  const counts = repairs.stages.flatMap((stage) => Object.values(stage.repairs));
  return counts.reduce((sum, count) => sum + count, 0);
}

function isStage(value: unknown): value is StageRepairs {
  const { repairs } = (value ?? {}) as { repairs?: unknown };
  return typeof repairs === "object" && repairs !== null;
}
