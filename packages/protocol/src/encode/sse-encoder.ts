import { createDeltaFrames, EventType } from "@holodeck/agui-core";
import type { DeltaFrame, Encoder, LogEntry } from "@holodeck/agui-core";
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

/** `"camel"` is AG-UI; `"snake"` is for clients that read `thread_id`. */
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

  function encode({ to, event }: LogEntry): string {
    const said = isLegacy ? downgrade(event) : event;
    if (said === undefined) return "";
    const json = isSnake ? serialise(said, toSnakeEvent) : serialise(said);
    // Offsets count from 1; what was never logged has none to resume from.
    return to > 0 ? `id: ${to}\ndata: ${json}\n\n` : `data: ${json}\n\n`;
  }

  const frames = createDeltaFrames({
    frame: isSnake ? noFrame : frameOf,
    encode,
    lasts: "always",
    numbered: true,
    // Clients up to 0.0.49 reject an empty delta.
    skipEmpty: isLegacy,
  });
  return {
    contentType,
    headers,
    key: keyOf(isLegacy, isSnake),
    encode: frames.encode,
    encodeDeltas: frames.encodeDeltas,
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

function noFrame(): undefined {
  return undefined;
}

function frameOf({ event }: LogEntry): DeltaFrame {
  const { type } = event;
  const isCall = type === EventType.TOOL_CALL_ARGS;
  const key = isCall ? "toolCallId" : "messageId";
  const id = JSON.stringify(isCall ? event.toolCallId : event.messageId);
  return { head: `\ndata: {"type":"${type}","${key}":${id},"delta":"`, tail: '"}\n\n' };
}
