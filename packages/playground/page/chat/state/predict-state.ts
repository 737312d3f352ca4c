import { isRecord } from "@holodeck/agui-core/internal";
import type { BaseEvent } from "@ag-ui/core";
import type { SeenState } from "../../model.ts";
import { parsePartialJson } from "./partial-json.ts";

/** A state that an agent has announced: the argument of a tool call becomes a part of it. */
export interface Prediction {
  apply(event: BaseEvent): void;
  /** The state with what is on its way. */
  over(state: SeenState): SeenState;
}

interface Entry {
  readonly state_key: string;
  readonly tool: string;
  readonly tool_argument: string;
}

/** Shows a state while the arguments that it will be made of are still arriving. */
export function createPrediction(): Prediction {
  let entries: readonly Entry[] = [];
  let call: { id: string; name: string; args: string } | undefined;
  let shown: { args: string; state: SeenState } | undefined;

  function apply(event: BaseEvent): void {
    switch (event.type) {
      case "CUSTOM":
        if (event.name === "PredictState" && Array.isArray(event.value)) {
          entries = event.value.filter(isEntry);
        }
        return;
      case "TOOL_CALL_START":
        if (entries.some(({ tool }) => tool === event.toolCallName)) {
          call = { id: String(event.toolCallId), name: String(event.toolCallName), args: "" };
        }
        return;
      case "TOOL_CALL_ARGS":
        if (call && call.id === event.toolCallId) call.args += String(event.delta);
        return;
      // The state itself has the last word.
      case "STATE_SNAPSHOT":
      case "STATE_DELTA":
      case "RUN_FINISHED":
      case "RUN_ERROR":
        call = undefined;
        return;
      default:
    }
  }

  function over(state: SeenState): SeenState {
    if (!call) return state;
    if (shown?.args === call.args) return shown.state;
    const args = parsePartialJson(call.args);
    if (!isRecord(args)) return state;
    const { name } = call;
    const news = entries.filter(
      (one) => one.tool === name && args[one.tool_argument] !== undefined,
    );
    if (news.length === 0) return state;
    const value = {
      ...(isRecord(state.value) ? state.value : {}),
      ...Object.fromEntries(news.map((one) => [one.state_key, args[one.tool_argument]])),
    };
    const changed = news.map((one) => `/${one.state_key}`);
    shown = { args: call.args, state: { value, changed } };
    return shown.state;
  }

  return { apply, over };
}

function isEntry(value: unknown): value is Entry {
  if (!isRecord(value)) return false;
  return [value.state_key, value.tool, value.tool_argument].every((one) => typeof one === "string");
}
