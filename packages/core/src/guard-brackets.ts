import { EventType } from "@ag-ui/core";
import type { LooseEvent } from "./guard-events.ts";
import { withTag } from "./guard-parts.ts";
import type { Owner } from "./guard-parts.ts";
import type { Repair } from "./guard-repairs.ts";

/** The steps and subagents of a run. */
export interface Brackets {
  startStep(event: LooseEvent): void;
  finishStep(event: LooseEvent): void;
  startSubagent(event: LooseEvent): void;
  /** SUBAGENT_FINISHED or SUBAGENT_ERROR. */
  finishSubagent(event: LooseEvent): void;
  /** Ends everything, the latest first; subagents with the error, if there is one. */
  closeAll(leftOpen: () => void, error?: { message: string; code: string }): void;
}

interface Step {
  readonly name: string;
  readonly owner: Owner;
}

/** Keeps the rules of steps, which have a name and an owner, and of subagents. */
export function createBrackets(send: (event: LooseEvent) => void, repair: Repair): Brackets {
  const steps: Step[] = [];
  // Ids of subagents; true while one is at work. Most runs have none.
  let subagents: Map<string, boolean> | undefined;

  function find(name: string, owner: Owner): number {
    return steps.findIndex((step) => step.name === name && step.owner === owner);
  }

  function closeStep({ name, owner }: Step): void {
    send(withTag({ type: EventType.STEP_FINISHED, stepName: name }, owner));
  }

  function finishStep(event: LooseEvent): void {
    const name = event.stepName!;
    let closer = event;
    let index = find(name, event.subagentRunId);
    if (index === -1) {
      index = steps.findIndex((step) => step.name === name);
      repair(index === -1 ? "not-open" : "wrong-owner");
      // The step did happen: give it the start it lacks, or to whoever started it.
      if (index === -1) {
        send(withTag({ type: EventType.STEP_STARTED, stepName: name }, event.subagentRunId));
      } else {
        closer = withTag(event, steps[index]!.owner);
      }
    }
    if (index !== -1) steps.splice(index, 1);
    send(closer);
  }

  return {
    finishStep,
    startStep(event) {
      const name = event.stepName!;
      const owner = event.subagentRunId;
      const index = find(name, owner);
      if (index !== -1) {
        repair("duplicate-start");
        closeStep(steps.splice(index, 1)[0]!);
      }
      steps.push({ name, owner });
      send(event);
    },
    startSubagent(event) {
      const id = event.subagentRunId!;
      // An id stands for one invocation; what is tagged with it stays valid without a second start.
      if (subagents?.has(id)) return repair("subagent");
      let opener = event;
      const parent = event.parentSubagentRunId;
      if (parent !== undefined && !subagents?.has(parent)) {
        repair("subagent");
        const { parentSubagentRunId: _, ...rest } = event;
        opener = rest;
      }
      (subagents ??= new Map()).set(id, true);
      send(opener);
    },
    finishSubagent(event) {
      const id = event.subagentRunId;
      if (id === undefined || !subagents?.get(id)) return repair("not-open");
      subagents.set(id, false);
      send(event);
    },
    closeAll(leftOpen, error) {
      while (steps.length > 0) {
        leftOpen();
        closeStep(steps.pop()!);
      }
      for (const [subagentRunId, isActive] of latestFirst(subagents)) {
        if (!isActive) continue;
        leftOpen();
        subagents!.set(subagentRunId, false);
        send(
          error
            ? { type: EventType.SUBAGENT_ERROR, subagentRunId, ...error }
            : { type: EventType.SUBAGENT_FINISHED, subagentRunId },
        );
      }
    },
  };
}

function latestFirst<T>(items: Iterable<T> | undefined): T[] {
  const list: T[] = [];
  for (const item of items ?? []) list.unshift(item);
  return list;
}
