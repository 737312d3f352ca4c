import { EventType } from "@holodeck/agui-core";
import type { BaseEvent, Json } from "@holodeck/agui-core";

/** What an event can lose and still be itself. */
const dispensable = new Set([
  "timestamp",
  "rawEvent",
  "metadata",
  "result",
  "outcome",
  "usage",
  "input",
]);

/**
 * Serialises any event as JSON. A value that JSON cannot represent is left out where AG-UI allows it,
 * so that a run still ends; otherwise a RAW event replaces the event. `spell` writes the event in
 * another spelling.
 */
export function serialise(event: BaseEvent, spell?: (event: BaseEvent) => Json): string {
  if (spell) {
    const write = (one: BaseEvent): string | undefined => stringify(one, spell);
    return write(event) ?? write(without(event)) ?? JSON.stringify(standIn(event));
  }
  return stringify(event) ?? stringify(without(event)) ?? JSON.stringify(standIn(event));
}

/** The event that takes the place of one that cannot be sent. */
export function standIn(event: BaseEvent): BaseEvent {
  return {
    type: EventType.RAW,
    event: { type: event.type, error: "This event could not be serialised." },
    source: "agui",
  };
}

function without(event: BaseEvent): BaseEvent {
  const kept: BaseEvent = { type: event.type };
  for (const key of Object.keys(event)) {
    if (!dispensable.has(key) || stringify(event[key]) !== undefined) kept[key] = event[key];
  }
  return kept;
}

// Cycles, BigInts, a `toJSON` or a getter that throws.
function stringify<T>(value: T, spell?: (value: T) => unknown): string | undefined {
  try {
    return JSON.stringify(spell ? spell(value) : value);
  } catch {
    return undefined;
  }
}
