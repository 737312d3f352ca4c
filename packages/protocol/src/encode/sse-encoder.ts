import { createDeltaFrames, EventType } from "@holodeck/agui-core";
import type {
  BaseEvent,
  DeltaFrame,
  DeltaFramesOptions,
  Encoder,
  LogEntry,
} from "@holodeck/agui-core";
import { downgrade } from "./downgrade.ts";
import { downgradeTo10, isCurrent } from "./downgrade-to-1-0.ts";
import { serialise } from "./serialise.ts";
import { toSnakeEvent } from "./snake-case.ts";

/** Whom the frames are for. */
export interface AguiSseEncoderOptions {
  /** What the client sent. An older one receives what it can read; absent: a client older than 1.0. */
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
  const { protocolVersion } = options;
  const version = protocolVersion === undefined ? "0" : isCurrent(protocolVersion) ? "1.1" : "1.0";
  const isSnake = options.wireCase === "snake";
  const key = `agui-sse-${version}${isSnake ? "-snake" : ""}`;
  let format = formats.get(key);
  if (!format) formats.set(key, (format = toFormat(version, isSnake)));
  const { encode, encodeDeltas } = createDeltaFrames(format);
  return { contentType, headers, key, encode, encodeDeltas, keepAlive };
}

// By the key of their encoders, which share them: an open stream holds no copy.
const formats = new Map<string, DeltaFramesOptions>();

/** What clients understand: 0.0.x, 1.0, and 1.1 with all that is newer. */
type Version = keyof typeof conversions;

const conversions = {
  "0": (event: BaseEvent) => downgrade(downgradeTo10(event)),
  "1.0": downgradeTo10,
  "1.1": (event: BaseEvent) => event,
};

function toFormat(version: Version, isSnake: boolean): DeltaFramesOptions {
  const convert = conversions[version];
  return {
    frame: isSnake ? noFrame : frameOf,
    encode({ to, event }) {
      const sent = convert(event);
      if (sent === undefined) return "";
      const json = isSnake ? serialise(sent, toSnakeEvent) : serialise(sent);
      // Offsets count from 1; what was never logged has none to resume from.
      return to > 0 ? `id: ${to}\ndata: ${json}\n\n` : `data: ${json}\n\n`;
    },
    lasts: "always",
    numbered: true,
    // Clients up to 0.0.49 reject an empty delta.
    skipEmpty: version === "0",
  };
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
