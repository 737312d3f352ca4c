import { EventType } from "@holodeck/agui-core";
import type { BaseEvent, Encoder } from "@holodeck/agui-core";
import { downgrade } from "./downgrade.ts";
import { serialise } from "./serialise.ts";
import { toSnakeEvent } from "./snake-case.ts";

/** Whom the frames are for. */
export interface AguiSseEncoderOptions {
  /** What the client sent. Absent: a client older than 1.0, which gets what it can read. */
  protocolVersion?: string | undefined;
  /** How the names of an event's own members are spelled; payloads stay as they are. By default camelCase. */
  wireCase?: WireCase | undefined;
}

/** `"camel"` is AG-UI; `"snake"` is for clients of the founding API, which read `thread_id`. */
export type WireCase = "camel" | "snake";

// Most events of a run are these; their id repeats, so only the delta is worth stringifying again.
const deltaIds: Readonly<Record<string, "messageId" | "toolCallId" | undefined>> = {
  [EventType.TEXT_MESSAGE_CONTENT]: "messageId",
  [EventType.REASONING_MESSAGE_CONTENT]: "messageId",
  [EventType.TOOL_CALL_ARGS]: "toolCallId",
};

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
  const toJson = isSnake ? toSnakeJson : createSerialiser();
  return {
    // Without parameters, and with LF only: clients compare and split exactly.
    contentType: "text/event-stream",
    headers: { "cache-control": "no-cache, no-transform", "x-accel-buffering": "no" },
    key: `${isLegacy ? "agui-sse-0" : "agui-sse-1.0"}${isSnake ? "-snake" : ""}`,
    encode({ to, event }) {
      const said = isLegacy ? downgrade(event) : event;
      if (said === undefined) return "";
      // Offsets count from 1; what was never logged has none to resume from.
      const id = to > 0 ? `id: ${to}\n` : "";
      return `${id}data: ${toJson(said)}\n\n`;
    },
    keepAlive: () => ": keep-alive\n\n",
  };
}

function toSnakeJson(event: BaseEvent): string {
  return serialise(event, toSnakeEvent);
}

function createSerialiser(): (event: BaseEvent) => string {
  let lastType: string | undefined;
  let lastId: string | undefined;
  let prefix = "";
  return (event) => {
    const idKey = deltaIds[event.type];
    if (idKey === undefined) return serialise(event);
    const { [idKey]: id, delta } = event;
    if (typeof id !== "string" || typeof delta !== "string" || countKeys(event) !== 3) {
      return serialise(event);
    }
    if (id !== lastId || event.type !== lastType) {
      lastId = id;
      lastType = event.type;
      prefix = `{"type":"${event.type}","${idKey}":${JSON.stringify(id)},"delta":`;
    }
    return `${prefix}${JSON.stringify(delta)}}`;
  };
}

function countKeys(event: BaseEvent): number {
  let count = 0;
  for (const key in event) if (event[key] !== undefined) count++;
  return count;
}
