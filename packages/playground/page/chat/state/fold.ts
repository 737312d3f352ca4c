import type { BaseEvent, Interrupt, JsonPatchOperation, Message } from "@ag-ui/core";
import { applyPatch, createReducer, PatchError } from "@holodeck/agui-core";
import type { SeenState } from "../../model.ts";
import { createPrediction } from "./predict-state.ts";

/** A step of the run, or a subagent at work. */
export interface Step {
  readonly key: string;
  readonly name: string;
  readonly status: "running" | "done" | "failed";
}

/** What a run has come to so far. */
export interface Folded {
  readonly messages: readonly Message[];
  /** Ids of the messages that are still streaming. */
  readonly open: ReadonlySet<string>;
  readonly state: SeenState;
  readonly steps: readonly Step[];
  readonly suggestions: readonly string[];
  readonly interrupts: readonly Interrupt[];
}

export interface ChatFold {
  apply(event: BaseEvent): void;
  read(): Folded;
}

/** Folds AG-UI's events, from whichever wire, into what the chat shows. */
export function createFold(history: readonly Message[], before: SeenState): ChatFold {
  const reducer = createReducer(history);
  const steps = new Map<string, Step>();
  const prediction = createPrediction();
  let state = before;
  let suggestions: readonly string[] = [];
  let interrupts: readonly Interrupt[] = [];

  function setStep(key: string, change: Partial<Step>): void {
    const known = steps.get(key) ?? { key, name: key, status: "running" as const };
    steps.set(key, { ...known, ...change });
  }

  function patchState(operations: readonly JsonPatchOperation[]): void {
    try {
      const value = applyPatch(state.value ?? {}, operations);
      state = { value, changed: operations.map(({ path }) => path) };
    } catch (error) {
      // As AG-UI's own client: what it has stays when a patch does not apply.
      if (!(error instanceof PatchError)) throw error;
    }
  }

  function apply(event: BaseEvent): void {
    reducer.apply(event);
    prediction.apply(event);
    const { type, stepName, subagentRunId, name, value, outcome } = event;
    switch (type) {
      case "STATE_SNAPSHOT":
        state = { value: event.snapshot, changed: [""] };
        return;
      case "STATE_DELTA":
        return patchState(event.delta as JsonPatchOperation[]);
      case "STEP_STARTED":
        return setStep(String(stepName), { status: "running" });
      case "STEP_FINISHED":
        return setStep(String(stepName), { status: "done" });
      case "SUBAGENT_STARTED":
        return setStep(String(subagentRunId), { name: String(name ?? subagentRunId) });
      case "SUBAGENT_FINISHED":
        return setStep(String(subagentRunId), { status: "done" });
      case "SUBAGENT_ERROR":
        return setStep(String(subagentRunId), { status: "failed" });
      case "CUSTOM":
        if (name === "suggested_questions") suggestions = toQuestions(value);
        return;
      case "RUN_FINISHED":
        interrupts = (outcome as { interrupts?: Interrupt[] } | undefined)?.interrupts ?? [];
        return;
      default:
    }
  }

  return {
    apply,
    read: () => ({
      messages: reducer.messages,
      open: new Set(reducer.open().map(({ id }) => id)),
      state: prediction.over(state),
      steps: [...steps.values()],
      suggestions,
      interrupts,
    }),
  };
}

function toQuestions(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((one) => typeof one === "string") : [];
}
