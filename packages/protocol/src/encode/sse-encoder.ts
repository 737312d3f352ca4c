import { createDeltaFrames, EventType } from "@holodeck/agui-core";
import type { DeltaFrame, DeltaFramesOptions, Encoder, LogEntry } from "@holodeck/agui-core";
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
  const key = keyOf(isLegacy, isSnake);
  let format = formats.get(key);
  if (!format) formats.set(key, (format = toFormat(isLegacy, isSnake)));
  const { encode, encodeDeltas } = createDeltaFrames(format);
  return { contentType, headers, key, encode, encodeDeltas, keepAlive };
}

// By the key of their encoders, which share them: an open stream holds no copy.
const formats = new Map<string, DeltaFramesOptions>();

function toFormat(isLegacy: boolean, isSnake: boolean): DeltaFramesOptions {
  return {
    frame: isSnake ? noFrame : frameOf,
    encode({ to, event }) {
      const sent = isLegacy ? downgrade(event) : event;
      if (sent === undefined) return "";
      const json = isSnake ? serialise(sent, toSnakeEvent) : serialise(sent);
      // Offsets count from 1; what was never logged has none to resume from.
      return to > 0 ? `id: ${to}\ndata: ${json}\n\n` : `data: ${json}\n\n`;
    },
    lasts: "always",
    numbered: true,
    // Clients up to 0.0.49 reject an empty delta.
    skipEmpty: isLegacy,
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
