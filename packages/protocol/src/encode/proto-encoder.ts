import { AgentError, EventType } from "@holodeck/agui-core";
import { createOnce } from "@holodeck/agui-core/internal";
import type { BaseEvent, Encoder } from "@holodeck/agui-core";
import { loadSchemas } from "../schemas.ts";
import { downgradeTo10 } from "./downgrade-to-1-0.ts";
import { serialise, standIn } from "./serialise.ts";

/** The media type of AG-UI's binary binding. */
export const protoMediaType = "application/vnd.ag-ui.event+proto";

/** One event to its frame, a big-endian length and so many bytes; nothing if the codec cannot. */
type Codec = (event: BaseEvent) => Uint8Array | undefined;

let ready: Codec | undefined;

/**
 * AG-UI as length-prefixed protobuf. The codec is loaded on the first call, never before.
 *
 * @example
 * ```ts
 * return run.stream(await loadProtoEncoder(), "start");
 * ```
 */
export async function loadProtoEncoder(): Promise<Encoder> {
  ready = await loadCodec();
  return aguiProtoEncoder();
}

/** The same encoder without waiting, once `loadProtoEncoder()` has resolved; throws before. */
export function aguiProtoEncoder(): Encoder {
  const frame = ready;
  if (frame === undefined) {
    throw new AgentError("not-ready", "Await loadProtoEncoder() before aguiProtoEncoder().");
  }
  return {
    // The client compares with ===, so no parameters.
    contentType: protoMediaType,
    headers: { "cache-control": "no-cache, no-transform", "x-accel-buffering": "no" },
    key: "agui-proto-1.0",
    encode({ event }) {
      // The codec writes the messages of 1.0, whatever the client understands.
      const plain = toPlain(downgradeTo10(event));
      return frame(plain) ?? frame(toBare(plain)) ?? frame(standIn(event)) ?? "";
    },
    // Binary has no comments: an empty frame is an error to the client, CUSTOM would end open chunks,
    // and any event at all before RUN_STARTED fails the run.
    keepAlive: (begun) => (begun ? (frame(heartbeat) ?? "") : ""),
  };
}

const heartbeat: BaseEvent = {
  type: EventType.RAW,
  event: { type: "keep-alive" },
  source: "agui",
};

const loadCodec = /* @__PURE__ */ createOnce(createCodec);

async function createCodec(): Promise<Codec> {
  const [{ EventEncoder }, { EventSchema }] = await Promise.all([
    import("@ag-ui/encoder"),
    loadSchemas(),
  ]);
  const encoder = new EventEncoder();
  return (event) => {
    // What it does not understand the codec writes as a frame that kills the client.
    if (!EventSchema.safeParse(event).success) return undefined;
    try {
      return encoder.encodeProtobuf(event);
    } catch {
      return undefined;
    }
  };
}

/** JSON's view of the event: what an SSE client would see, and all that the codec can write. */
function toPlain(event: BaseEvent): BaseEvent {
  const plain: BaseEvent = JSON.parse(serialise(event));
  // `performance.now()` is a float and `NaN` is null by now; the codec throws on both.
  if (typeof plain.timestamp === "number") plain.timestamp = Math.round(plain.timestamp);
  if (!Number.isSafeInteger(plain.timestamp)) delete plain.timestamp;
  return plain;
}

/** A terminal event must arrive even if what it carries cannot. */
function toBare({ type, threadId, runId, message, code }: BaseEvent): BaseEvent {
  if (type === EventType.RUN_FINISHED) return { type, threadId, runId };
  if (type === EventType.RUN_ERROR) return { type, message, code };
  return { type };
}
