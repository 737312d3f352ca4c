import { EventType } from "@holodeck/agui-core";
import { needsEscape } from "@holodeck/agui-core/internal";
import type { BaseEvent, Encoder, Json, LogEntry } from "@holodeck/agui-core";
import { streamHeaders } from "../shared/wire.ts";
import { ResponseBuilder } from "./response-builder.ts";
import type { OpenItem } from "./response-builder.ts";

/** Where a stream begins. */
export interface ResponseEncoderOptions {
  /** The last `sequence_number` that the client has; what follows it is sent. By default everything is. */
  readonly startingAfter?: number;
}

/**
 * A response as a stream of events with a `sequence_number` each. Every delta of the log has one number, however the
 * store has merged them, so a client may resume after any.
 *
 * @example
 * ```ts
 * return run.stream(responseEncoder({ startingAfter: 41 }), "start");
 * ```
 */
export function responseEncoder({ startingAfter = -1 }: ResponseEncoderOptions = {}): Encoder {
  let frames = "";
  let next = 0;
  // The first two events have the same.
  let lastFields: Json | undefined;
  let lastJson = "";
  const builder = new ResponseBuilder((type, fields) => {
    const number = next++;
    if (number <= startingAfter) return;
    if (fields !== lastFields) {
      lastFields = fields;
      lastJson = JSON.stringify(fields).slice(1);
    }
    frames += `event: ${type}\ndata: {"type":"${type}","sequence_number":${number},${lastJson}\n\n`;
  });
  /** The message whose text the last frame had, and what stands around the text. */
  let shown: ShownText | undefined;

  function read(event: BaseEvent, at: number): void {
    builder.read(event, at);
    const item = isText(event) ? builder.openText(event.messageId) : undefined;
    shown = item && { messageId: event.messageId, item, middle: middleOf(item) };
  }

  function isShown(event: BaseEvent): boolean {
    return shown !== undefined && isText(event) && event.messageId === shown.messageId;
  }

  function encode(entry: LogEntry): string {
    const { cuts, event, at } = entry;
    if (typeof event.delta === "string") {
      const text = event.delta;
      const deltas =
        cuts && cuts.length > 1
          ? cuts.map((end, index) => text.slice(cuts[index - 1] ?? 0, end))
          : [text];
      return encodeDeltas(entry, deltas);
    }
    frames = "";
    read(event, at);
    return frames;
  }

  function encodeDeltas({ event, at }: LogEntry, deltas: readonly string[]): string {
    frames = "";
    let from = 0;
    // The first piece of a message opens its item.
    while (from < deltas.length && !isShown(event)) read({ ...event, delta: deltas[from++]! }, at);
    if (!shown || from === deltas.length) return frames;
    const text = event.delta as string;
    const isPlain = !needsEscape.test(text);
    const { item, middle } = shown;
    item.text += from === 0 ? text : deltas.slice(from).join("");
    // The end of a frame and the beginning of the next are one piece.
    let lead = head;
    for (; from < deltas.length; from++) {
      const delta = deltas[from]!;
      if (delta === "") continue;
      const number = next++;
      if (number <= startingAfter) continue;
      frames += `${lead}${number}${middle}${isPlain ? delta : JSON.stringify(delta).slice(1, -1)}`;
      lead = between;
    }
    return lead === head ? frames : frames + tail;
  }

  return {
    contentType: "text/event-stream",
    headers: streamHeaders,
    encode,
    encodeDeltas,
    keepAlive: () => ": keep-alive\n\n",
    close: () => "data: [DONE]\n\n",
  };
}

interface ShownText {
  readonly messageId: unknown;
  readonly item: OpenItem;
  /** Between the number and the text. */
  readonly middle: string;
}

const head =
  'event: response.output_text.delta\ndata: {"type":"response.output_text.delta","sequence_number":';
const tail = '","logprobs":[]}\n\n';
const between = tail + head;

// As the builder reports a delta, without an object for each.
function middleOf({ id, index }: OpenItem): string {
  return `,"item_id":${JSON.stringify(id)},"output_index":${index},"content_index":0,"delta":"`;
}

function isText({ type }: BaseEvent): boolean {
  return type === EventType.TEXT_MESSAGE_CONTENT;
}
