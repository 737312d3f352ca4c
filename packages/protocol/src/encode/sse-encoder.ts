import { EventType } from "@holodeck/agui-core";
import { needsEscape, entryOfDelta } from "@holodeck/agui-core/internal";
import type { BaseEvent, Encoder, LogEntry } from "@holodeck/agui-core";
import { downgrade } from "./downgrade.ts";
import { serialise } from "./serialise.ts";
import { toSnakeEvent } from "../shared/snake-case.ts";

/** Whom the frames are for. */
export interface AguiSseEncoderOptions {
  /** What the client sent. Absent: a client older than 1.0, which gets what it can read. */
  protocolVersion?: string | undefined;
  /** How the names of an event's own members are spelled; payloads stay as they are. By default camelCase. */
  wireCase?: WireCase | undefined;
}

/** `"camel"` is AG-UI; `"snake"` is for clients of the founding API, which read `thread_id`. */
export type WireCase = "camel" | "snake";

// The same for every run. Without parameters, and with LF only: clients compare and split exactly.
const contentType = "text/event-stream";
const headers = { "cache-control": "no-cache, no-transform", "x-accel-buffering": "no" };

/**
 * AG-UI as server-sent events: one event a frame, its offset as `id`.
 *
 * @example
 * ```ts
 * return run.stream(aguiSseEncoder({ protocolVersion: input.protocolVersion }), "start");
 * ```
 */
export function aguiSseEncoder(options: AguiSseEncoderOptions = {}): Encoder {
  const isLegacy = options.protocolVersion === undefined;
  const isSnake = options.wireCase === "snake";
  // Most events of a run are deltas of one message: all but the delta is then the same again.
  let lastType: string | undefined;
  let lastId: string | undefined;
  let prefix = "";

  function encode({ to, event }: LogEntry): string {
    if (isSnake || to <= 0 || !isDelta(event)) return encodeAny(to, event);
    choosePrefix(event);
    const { delta } = event;
    if (isLegacy && delta === "") return "";
    return frame(to, needsEscape.test(delta) ? escape(delta) : delta);
  }

  function encodeDeltas(line: LogEntry, deltas: readonly string[]): string {
    const { from, event } = line;
    let text = "";
    if (isSnake || !isDelta(event)) {
      for (const [index, delta] of deltas.entries())
        text += encode(entryOfDelta(line, index, delta));
      return text;
    }
    choosePrefix(event);
    // One look at all of them says that none needs escaping.
    const isPlain = !needsEscape.test(event.delta);
    let to = from;
    for (const delta of deltas) {
      if (!isLegacy || delta !== "") text += frame(to, isPlain ? delta : escape(delta));
      to++;
    }
    return text;
  }

  function choosePrefix(event: Delta): void {
    const id = event.messageId ?? event.toolCallId;
    if (id === lastId && event.type === lastType) return;
    lastId = id;
    lastType = event.type;
    prefix = prefixOf(event, id!);
  }

  // Few pieces, since each that is added makes another string.
  function frame(to: number, delta: string): string {
    return `id: ${to}${prefix}${delta}"}\n\n`;
  }

  function encodeAny(to: number, event: BaseEvent): string {
    const said = isLegacy ? downgrade(event) : event;
    if (said === undefined) return "";
    const json = isSnake ? serialise(said, toSnakeEvent) : serialise(said);
    // Offsets count from 1; what was never logged has none to resume from.
    return to > 0 ? `id: ${to}\ndata: ${json}\n\n` : `data: ${json}\n\n`;
  }

  return {
    contentType,
    headers,
    key: keyOf(isLegacy, isSnake),
    encode,
    encodeDeltas,
    keepAlive,
  };
}

function keyOf(isLegacy: boolean, isSnake: boolean): string {
  if (isSnake) return isLegacy ? "agui-sse-0-snake" : "agui-sse-1.0-snake";
  return isLegacy ? "agui-sse-0" : "agui-sse-1.0";
}

function keepAlive(): string {
  return ": keep-alive\n\n";
}

function escape(delta: string): string {
  return JSON.stringify(delta).slice(1, -1);
}

/** A delta of a part, and nothing else. */
type Delta = BaseEvent & { delta: string; messageId?: string; toolCallId?: string };

function isDelta(event: BaseEvent): event is Delta {
  if (typeof event.delta !== "string") return false;
  switch (event.type) {
    case EventType.TEXT_MESSAGE_CONTENT:
    case EventType.REASONING_MESSAGE_CONTENT:
      return typeof event.messageId === "string" && hasThreeMembers(event);
    case EventType.TOOL_CALL_ARGS:
      return typeof event.toolCallId === "string" && hasThreeMembers(event);
    default:
      return false;
  }
}

// From the offset to the first character of the delta.
function prefixOf({ type }: BaseEvent, id: string): string {
  const key = type === EventType.TOOL_CALL_ARGS ? "toolCallId" : "messageId";
  return `\ndata: {"type":"${type}","${key}":${JSON.stringify(id)},"delta":"`;
}

function hasThreeMembers(event: BaseEvent): boolean {
  let count = 0;
  for (const key in event) if (event[key] !== undefined) count++;
  return count === 3;
}
