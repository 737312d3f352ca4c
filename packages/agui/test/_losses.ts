import { EventSchemas } from "@ag-ui/core/schemas";
import { applyPatch } from "@holodeck/agui-core";
import type { BaseEvent } from "@holodeck/agui-core";

type Loose = Record<string, unknown>;

const deltas = [
  ["TEXT_MESSAGE_CONTENT", "TEXT_MESSAGE_CHUNK", "messageId"],
  ["REASONING_MESSAGE_CONTENT", "REASONING_MESSAGE_CHUNK", "messageId"],
  ["TOOL_CALL_ARGS", "TOOL_CALL_CHUNK", "toolCallId"],
] as const;

/**
 * What an agent said, valid in itself, and a client did not get: text, arguments, reasoning, steps,
 * activities and states. Of an older client's stream the steps of subagents are not expected.
 */
export function lossesOf(
  values: readonly unknown[],
  events: readonly BaseEvent[],
  isLegacy: boolean,
): string[] {
  const said = beforeTheEnd(values).map(asEvent).filter(isRecord);
  return [
    ...lostDeltas(said, events),
    ...lostSteps(said, events, isLegacy),
    ...lostActivities(said, events),
    ...lostStates(said, events),
  ];
}

/** The state that an agent meant to leave: what is no patch, or does not apply, changes nothing. */
export function intendedState(initial: unknown, values: readonly unknown[]): unknown {
  let state = initial;
  for (const event of beforeTheEnd(values).filter(isRecord)) {
    if (event.type === "STATE_SNAPSHOT") {
      const snapshot = toJson(event.snapshot);
      if (snapshot !== undefined) state = snapshot;
    }
    if (event.type === "STATE_DELTA") state = patched(state, toJson(event.delta));
  }
  return state;
}

function patched(state: unknown, delta: unknown): unknown {
  if (!EventSchemas.safeParse({ type: "STATE_DELTA", delta }).success) return state;
  try {
    return applyPatch(state, delta as never);
  } catch {
    return state;
  }
}

/** The state that a client has after these events; throws when a delta does not apply. */
export function stateAfter(initial: unknown, events: readonly BaseEvent[]): unknown {
  let state = initial;
  for (const event of events) {
    if (event.type === "STATE_SNAPSHOT") state = event.snapshot;
    if (event.type === "STATE_DELTA") state = applyPatch(state, event.delta as never);
  }
  return state;
}

function lostDeltas(said: readonly Loose[], events: readonly Loose[]): string[] {
  const lost: string[] = [];
  for (const [type, chunk, key] of deltas) {
    const wanted = said.filter((event) => isDelta(event, type) || isDelta(event, chunk));
    const got = events.filter((event) => isDelta(event, type));
    for (const id of [undefined, ...new Set(wanted.map((event) => event[key]))]) {
      const isOf = (event: Loose): boolean => id === undefined || event[key] === id;
      // An id that had to be replaced keeps its deltas, in their order, under another.
      if (id !== undefined && typeof id !== "string") continue;
      const pieces = wanted.filter(isOf).map(({ delta }) => delta);
      if (
        !isPart(
          pieces,
          got.filter(isOf).map(({ delta }) => delta),
        )
      ) {
        lost.push(`${type} of ${id ?? "all"}: ${JSON.stringify(pieces)}`);
      }
    }
  }
  return lost;
}

function lostSteps(said: readonly Loose[], events: readonly Loose[], isLegacy: boolean): string[] {
  // The end of a step belongs to whoever started it, whatever its own tag says.
  const types = isLegacy ? ["STEP_STARTED"] : ["STEP_STARTED", "STEP_FINISHED"];
  return types.flatMap((type) => {
    const names = said
      .filter((event) => event.type === type && typeof event.stepName === "string")
      .filter((event) => !isLegacy || (event.subagentRunId ?? undefined) === undefined)
      .map(({ stepName }) => stepName);
    const got = events.filter((event) => event.type === type).map(({ stepName }) => stepName);
    return isPart(names, got) ? [] : [`${type}: ${JSON.stringify(names)}`];
  });
}

function lostActivities(said: readonly Loose[], events: readonly Loose[]): string[] {
  const views = (list: readonly Loose[]): string[] =>
    list.flatMap(({ type, activityType, content, patch }) => {
      if (type !== "ACTIVITY_SNAPSHOT" && type !== "ACTIVITY_DELTA") return [];
      const payload = toJson(type === "ACTIVITY_SNAPSHOT" ? { content } : { patch });
      const bare = { type, messageId: "any", activityType, ...(payload as object | undefined) };
      const isValid =
        EventSchemas.safeParse(bare).success &&
        !toJsonList(patch).some(movesIntoItself) &&
        !toJsonList(patch).some(endsContent);
      return isValid ? [JSON.stringify(bare)] : [];
    });
  const wanted = views(said);
  return isPart(wanted, views(events)) ? [] : [`activities: ${wanted.join(" ")}`];
}

// RFC 6902 forbids it, which a schema cannot say.
function movesIntoItself(operation: unknown): boolean {
  if (!isRecord(operation) || operation.op !== "move") return false;
  return String(operation.path).startsWith(`${String(operation.from)}/`);
}

// After it the content of an activity would be no object.
function endsContent(operation: unknown): boolean {
  if (!isRecord(operation) || operation.path !== "") return false;
  const { op, value } = operation;
  return op === "remove" || (op !== "test" && "value" in operation && !isRecord(value));
}

function toJsonList(value: unknown): readonly unknown[] {
  const list = toJson(value);
  return Array.isArray(list) ? list : [];
}

function lostStates(said: readonly Loose[], events: readonly Loose[]): string[] {
  const view = ({ snapshot }: Loose): string | undefined => JSON.stringify(toJson(snapshot));
  const wanted = said
    .filter((event) => event.type === "STATE_SNAPSHOT")
    .map(view)
    .filter((snapshot) => snapshot !== undefined);
  const got = events.filter((event) => event.type === "STATE_SNAPSHOT").map(view);
  return isPart(wanted, got) ? [] : [`STATE_SNAPSHOT: ${wanted.join(" ")}`];
}

// A chunk that names no tool may have nothing to continue.
function isDelta(event: Loose, type: string): boolean {
  if (event.type !== type || typeof event.delta !== "string") return false;
  return type !== "TOOL_CALL_CHUNK" || typeof event.toolCallName === "string";
}

function asEvent(value: unknown): unknown {
  return typeof value === "string" ? { type: "TEXT_MESSAGE_CHUNK", delta: value } : value;
}

function beforeTheEnd(values: readonly unknown[]): readonly unknown[] {
  const end = values.findIndex(
    (value) => isRecord(value) && (value.type === "RUN_FINISHED" || value.type === "RUN_ERROR"),
  );
  return end === -1 ? values : values.slice(0, end);
}

/** Whether all pieces occur in this order; empty ones may be missing. */
function isPart(pieces: readonly unknown[], whole: readonly unknown[]): boolean {
  let at = 0;
  for (const piece of pieces) {
    if (piece === "") continue;
    at = whole.indexOf(piece, at) + 1;
    if (at === 0) return false;
  }
  return true;
}

/** A value as a client gets it: as JSON, and without keys that poison whoever merges objects. */
export function onTheWire(value: unknown): unknown {
  const text = JSON.stringify(value) as string | undefined;
  if (text === undefined) return undefined;
  return JSON.parse(text, (key, member: unknown) => (key === "__proto__" ? undefined : member));
}

function toJson(value: unknown): unknown {
  try {
    return onTheWire(value);
  } catch {
    return undefined;
  }
}

function isRecord(value: unknown): value is Loose {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
