import { EventType } from "@ag-ui/core";
import { describeValue } from "./check-options.ts";
import { bad, isRecord } from "./guard-check.ts";
import { checkEvent, isKnown } from "./guard-events.ts";
import type { LooseEvent } from "./guard-events.ts";
import { isPlainObject, notJson, toJson } from "./guard-json.ts";
import { Violation } from "./guard-repairs.ts";
import type { Repair, RepairKind } from "./guard-repairs.ts";
import { createThinking } from "./guard-thinking.ts";
import type { Json } from "./types.ts";

/**
 * Makes an event of AG-UI 1.0 of what an agent said, whose fields are all right; `undefined` when
 * there is none in it. The type is told as soon as it is known.
 */
export type Reader = (value: unknown, onType: (type: string) => void) => LooseEvent | undefined;

// What the author most likely meant.
function remedy(type: string): string {
  const upper = type.toUpperCase();
  if (Object.hasOwn(EventType, upper)) return `; it has ${upper}`;
  return upper.startsWith("TEXT") ? "; for text yield a string" : "";
}

/** A reader for one run; the legacy events need a memory. */
export function createReader(repair: Repair): Reader {
  const translate = createThinking();

  function readEvent(value: unknown, onType: (type: string) => void): LooseEvent | undefined {
    // An instance of a class may be written as something else than it seems.
    const data = isRecord(value) && !isPlainObject(value) ? toJson(value) : value;
    if (!isRecord(data) || typeof data.type !== "string") {
      onType(`${describeValue(value)} instead of a string or an event with a type`);
      repair("not-an-event");
      return undefined;
    }
    onType(data.type);
    const event = isKnown(data) ? data : translate(data);
    if (!event) {
      onType(`${data.type.slice(0, 80)}, which AG-UI does not have${remedy(data.type)}`);
      return wrap(data, "unknown-type");
    }
    if (event !== data) repair("legacy-thinking");
    const checked = checkEvent(event, repair);
    if (checked === bad) return wrap(event, "malformed");
    if (checked === notJson) return wrap(event, "not-json");
    return checked;
  }

  function wrap(event: Json, kind: RepairKind): LooseEvent {
    repair(kind);
    const data = toJson(event);
    const raw: LooseEvent = {
      type: EventType.RAW,
      event: data === notJson ? `[${String(event.type)} that is not JSON]` : data,
      source: "agent",
    };
    if (typeof event.subagentRunId === "string") raw.subagentRunId = event.subagentRunId;
    return raw;
  }

  return (value, onType) => {
    try {
      return readEvent(value, onType);
    } catch (reason) {
      if (reason instanceof Violation) throw reason;
      // A getter or a proxy of the agent's that throws when it is looked at.
      repair("not-an-event");
      return undefined;
    }
  };
}
