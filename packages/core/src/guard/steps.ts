import { EventType } from "@ag-ui/core";
import type { RunFailure } from "./ending.ts";
import type { EventSink, LooseEvent } from "./shapes.ts";
import { withTag } from "./parts/owners.ts";
import { BudgetError } from "./history/budget-error.ts";
import type { Owner } from "./parts/known.ts";

interface Step {
  readonly name: string;
  readonly owner: Owner;
}

/** Keeps the rules of steps, which have a name and an owner, and of subagents. */
export class StepsAndSubagents {
  readonly #exit: EventSink;
  readonly #steps: Step[] = [];
  // Ids of subagents; true while one is at work. Most runs have none.
  #subagents: Map<string, boolean> | undefined;

  constructor(exit: EventSink) {
    this.#exit = exit;
  }

  push(event: LooseEvent): void {
    switch (event.type) {
      case EventType.STEP_STARTED:
        return this.#startStep(event);
      case EventType.STEP_FINISHED:
        return this.#finishStep(event);
      case EventType.SUBAGENT_STARTED:
        return this.#startSubagent(event);
      default:
        return this.#finishSubagent(event);
    }
  }

  /** Ends everything, the latest first; subagents with the error, if there is one. */
  closeAll(isFault: boolean, error?: RunFailure): void {
    while (this.#steps.length > 0) {
      if (isFault) this.#exit.repair("left-open");
      this.#closeStep(this.#steps.pop()!);
    }
    for (const [subagentRunId, isActive] of latestFirst(this.#subagents)) {
      if (!isActive) continue;
      if (isFault) this.#exit.repair("left-open");
      this.#subagents!.set(subagentRunId, false);
      this.#exit.send(
        error
          ? { type: EventType.SUBAGENT_ERROR, subagentRunId, ...error }
          : { type: EventType.SUBAGENT_FINISHED, subagentRunId },
      );
    }
  }

  #startStep(event: LooseEvent): void {
    const name = event.stepName!;
    const owner = event.subagentRunId;
    const index = this.#find(name, owner);
    if (index !== -1) {
      this.#exit.repair("duplicate-start");
      this.#closeStep(this.#steps.splice(index, 1)[0]!);
    }
    const step: Step = { name, owner };
    this.#steps.push(step);
    this.#begin(event, () => void this.#steps.splice(this.#steps.indexOf(step), 1));
  }

  // What was refused was not sent, so there is nothing to end.
  #begin(event: LooseEvent, undo: () => void): void {
    try {
      this.#exit.send(event);
    } catch (reason) {
      if (reason instanceof BudgetError) undo();
      throw reason;
    }
  }

  #finishStep(event: LooseEvent): void {
    const name = event.stepName!;
    let closer = event;
    let index = this.#find(name, event.subagentRunId);
    if (index === -1) {
      index = this.#steps.findIndex((step) => step.name === name);
      this.#exit.repair(index === -1 ? "not-open" : "wrong-owner");
      // The step did happen: give it the start it lacks, or the owner that started it.
      if (index === -1) {
        const opener: LooseEvent = { type: EventType.STEP_STARTED, stepName: name };
        this.#exit.send(withTag(opener, event.subagentRunId));
      } else {
        closer = withTag(event, this.#steps[index]!.owner);
      }
    }
    if (index !== -1) this.#steps.splice(index, 1);
    this.#exit.send(closer);
  }

  #startSubagent(event: LooseEvent): void {
    const id = event.subagentRunId!;
    // An id stands for one invocation; what is tagged with it stays valid without a second start.
    if (this.#subagents?.has(id)) return this.#exit.repair("subagent");
    let opener = event;
    const parent = event.parentSubagentRunId;
    if (parent !== undefined && !this.#subagents?.has(parent)) {
      this.#exit.repair("subagent");
      const { parentSubagentRunId: _, ...rest } = event;
      opener = rest;
    }
    const subagents = (this.#subagents ??= new Map<string, boolean>()).set(id, true);
    this.#begin(opener, () => void subagents.delete(id));
  }

  // With SUBAGENT_FINISHED or SUBAGENT_ERROR.
  #finishSubagent(event: LooseEvent): void {
    const id = event.subagentRunId;
    if (id === undefined || !this.#subagents?.get(id)) return this.#exit.repair("not-open");
    const subagents = this.#subagents.set(id, false);
    this.#begin(event, () => void subagents.set(id, true));
  }

  #find(name: string, owner: Owner): number {
    return this.#steps.findIndex((step) => step.name === name && step.owner === owner);
  }

  #closeStep({ name, owner }: Step): void {
    this.#exit.send(withTag({ type: EventType.STEP_FINISHED, stepName: name }, owner));
  }
}

function latestFirst<T>(items: Iterable<T> | undefined): T[] {
  const list: T[] = [];
  for (const item of items ?? []) list.unshift(item);
  return list;
}
