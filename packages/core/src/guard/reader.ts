import { isRecord } from "../json/record.ts";
import { EventType } from "@ag-ui/core";
import { describeValue } from "../base/options.ts";
import { bad, id } from "./fields.ts";
import { checkEvent, isKnown } from "./shapes.ts";
import type { LooseEvent } from "./shapes.ts";
import { isPlainObject, notJson, toJson } from "../json/to-json.ts";
import { Violation } from "./repairs.ts";
import type { Repairer, RepairKind } from "./repairs.ts";
import { Thinking } from "./parts/legacy-thinking.ts";
import type { Json } from "../contract/agent.ts";

/** Receives repairs, and what they are about. */
export interface ReaderHost extends Repairer {
  /** What is looked at, in words. */
  subject: string;
}

// What the author most likely meant.
function remedy(type: string): string {
  const upper = type.toUpperCase();
  if (Object.hasOwn(EventType, upper)) return `; it has ${upper}`;
  return upper.startsWith("TEXT") ? "; for text yield a string" : "";
}

/** Reads the output of an agent in one run; the legacy events need a memory. */
export class Reader {
  readonly #listener: ReaderHost;
  #thinking: Thinking | undefined;

  constructor(listener: ReaderHost) {
    this.#listener = listener;
  }

  /**
   * Makes a valid event of AG-UI 1.0 of a value from an agent. Returns undefined when the value contains
   * none. The subject is passed on as soon as it is known.
   */
  read(value: unknown): LooseEvent | undefined {
    try {
      return this.#read(value);
    } catch (reason) {
      if (reason instanceof Violation) throw reason;
      // A getter or a proxy of the agent's that throws when it is looked at.
      this.#listener.repair("not-an-event");
      return undefined;
    }
  }

  #read(value: unknown): LooseEvent | undefined {
    const listener = this.#listener;
    // An instance of a class may be written as something else than it seems.
    const data = isRecord(value) && !isPlainObject(value) ? toJson(value) : value;
    if (!isRecord(data) || typeof data.type !== "string") {
      listener.subject = `${describeValue(value)} instead of a string or an event with a type`;
      listener.repair("not-an-event");
      return undefined;
    }
    listener.subject = data.type;
    const event = isKnown(data) ? data : (this.#thinking ??= new Thinking()).translate(data);
    if (!event) {
      const type = data.type.slice(0, 80);
      listener.subject = `${type}, which AG-UI does not have${remedy(data.type)}`;
      return this.#wrap(data, "unknown-type");
    }
    if (event !== data) listener.repair("legacy-thinking");
    const checked = checkEvent(event, listener);
    if (checked === bad) return this.#wrap(event, "malformed");
    if (checked === notJson) return this.#wrap(event, "not-json");
    return checked;
  }

  #wrap(event: Json, kind: RepairKind): LooseEvent {
    this.#listener.repair(kind);
    const data = toJson(event);
    const raw: LooseEvent = {
      type: EventType.RAW,
      event: data === notJson ? `[${String(event.type)} that is not JSON]` : data,
      source: "agent",
    };
    const { subagentRunId } = event;
    if (typeof subagentRunId === "string") {
      raw.subagentRunId = id(subagentRunId, this.#listener) as string;
    }
    return raw;
  }
}
