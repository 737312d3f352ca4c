import type { BaseEvent } from "@ag-ui/core";
import type { Decoded } from "./exchange.ts";
import { parseRecord } from "./json.ts";
import { protoFrames, protoPayload } from "./proto-frames.ts";
import { sseFrames } from "./sse-frames.ts";

/** AG-UI's events out of server-sent events. */
export async function* decodeSse(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Decoded> {
  for await (const { bytes, data, id } of sseFrames(chunks)) {
    const event = parseRecord(data) as BaseEvent | undefined;
    yield { bytes, events: event ? [event] : [], ...(id !== undefined && { id }) };
  }
}

/** AG-UI's events out of protobuf. The codec is loaded when it is first needed. */
export async function* decodeProto(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Decoded> {
  const { AGUIUnknownEventTypeError, decode } = await import("@ag-ui/proto");
  for await (const bytes of protoFrames(chunks)) {
    const payload = protoPayload(bytes);
    let events: BaseEvent[] = [];
    try {
      if (payload) events = [decode(payload)];
    } catch (error) {
      // An event of a later AG-UI: its bytes are shown, its meaning is not known.
      if (!(error instanceof AGUIUnknownEventTypeError)) throw error;
    }
    yield { bytes, events };
  }
}
