import { EventType } from "@ag-ui/core";
import type { BaseEvent, JsonPatchOperation } from "@ag-ui/core";
import { isDeeperThan } from "../../json/bytes.ts";

// Where a payload stands in a body: in it, its messages, one of them, and for data a part in a list of those.
const stateLevels = 2;
const dataLevels = 5;

interface NestingRules {
  /** What a body may have. */
  readonly jsonDepth: number;
  /** Whether its client keeps custom events and state in its messages. */
  readonly keepsData: boolean;
  /** The state with the event in it. */
  readonly state: { readonly value: unknown };
}

/** Whether the body that an event is sent back in would be nested too deep. */
export function isNestedTooDeep(event: BaseEvent, rules: NestingRules): boolean {
  const { jsonDepth, keepsData, state } = rules;
  const stateDepth = jsonDepth - (keepsData ? dataLevels : stateLevels);
  const dataDepth = jsonDepth - dataLevels;
  if (isDeep(event.metadata, dataDepth)) return true;
  switch (event.type) {
    case EventType.STATE_SNAPSHOT:
      return isDeeperThan(event.snapshot, stateDepth);
    case EventType.STATE_DELTA: {
      const patch = event.delta as readonly JsonPatchOperation[];
      // What was there already is found deeper only by moving it.
      const moves = patch.some(({ op }) => op === "move" || op === "copy");
      return moves ? isDeeperThan(state.value, stateDepth) : isPatchDeep(patch, stateDepth);
    }
    case EventType.ACTIVITY_DELTA:
      return isPatchDeep(event.patch as readonly JsonPatchOperation[], dataDepth);
    case EventType.MESSAGES_SNAPSHOT:
      return isDeeperThan(event.messages, dataDepth + 1);
    case EventType.CUSTOM:
      return isDeeperThan(event.value, dataDepth);
    default:
      return isDeep(event.content, dataDepth) || isDeep(event.result, dataDepth - 1);
  }
}

// Most events have no such member, or a text.
function isDeep(value: unknown, levels: number): boolean {
  return typeof value === "object" && isDeeperThan(value, levels);
}

function isPatchDeep(patch: readonly JsonPatchOperation[], levels: number): boolean {
  return patch.some((operation) => {
    if (!("value" in operation)) return false;
    const above = operation.path.split("/").length - 1;
    return isDeeperThan(operation.value, levels - above);
  });
}
