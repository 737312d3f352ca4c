import { EventType } from "@ag-ui/core";
import type { Encoder } from "../contract/exchange.ts";
import type { LogEntry } from "../contract/run-log.ts";
import { escapeText, needsEscape } from "./escape.ts";
import { isBareDelta, partOf } from "./bare-delta.ts";
import { entryOfDelta } from "./merged-entry.ts";

// Not undefined, which is the type of what has none.
const none: unique symbol = Symbol("none");

/** What stands around the text of a delta, from the first byte of its frame to the last. */
export interface DeltaFrame {
  /** Ends with the quote before the text, which is written as JSON. */
  readonly head: string;
  /** Begins with the quote after it. */
  readonly tail: string;
}

export interface DeltaFramesOptions {
  /** Returns what stands around the text of this delta, or undefined when `encode` writes it. */
  readonly frame: (entry: LogEntry) => DeltaFrame | undefined;
  /** Writes any other entry. */
  readonly encode: (entry: LogEntry) => string;
  /**
   * How long a frame is good for the deltas of its part: `"always"`, until `encode` has written another entry, or
   * until then and for the time of its entry.
   * @default "next"
   */
  readonly lasts?: "always" | "next" | "time";
  /**
   * The format has a place for the text of a delta, and for nothing else that a delta may have. By default only
   * bare deltas are framed: see `isBareDelta`.
   */
  readonly textOnly?: boolean;
  /** `id: ` and the offset stand before each head. Entries without an offset are left to `encode`. */
  readonly numbered?: boolean;
  /** An empty delta has no frame. */
  readonly skipEmpty?: boolean;
}

/** The two methods of an encoder that write deltas. */
export interface DeltaFrames extends Pick<Encoder, "encode" | "encodeDeltas"> {
  readonly encode: (entry: LogEntry) => string;
  readonly encodeDeltas: (entry: LogEntry, deltas: readonly string[]) => string;
}

/**
 * Writes deltas that have nothing else in them as head, text and tail, for a format that puts each into a frame of
 * JSON. Nearly every delta follows one of the same part, whose frame is then known, and few texts need escaping:
 * that is half of what `JSON.stringify` takes. Every other entry is left to `encode`.
 *
 * @example
 * ```ts
 * const frames = createDeltaFrames({
 *   frame: ({ event }) =>
 *     event.type === "TEXT_MESSAGE_CONTENT" ? { head: '{"text":"', tail: '"}\n' } : undefined,
 *   encode: ({ event }) => `${JSON.stringify(event)}\n`,
 * });
 * return { contentType: "application/x-ndjson", ...frames };
 * ```
 */
export function createDeltaFrames(options: DeltaFramesOptions): DeltaFrames {
  const { lasts = "next", textOnly = false, numbered = false, skipEmpty = false } = options;
  let isCall = false;
  let lastType: unknown = none;
  let lastPart: string | undefined;
  // The same when it is a message.
  let lastMessage: unknown = none;
  let lastAt = 0;
  let head = "";
  let tail = "";

  // Whether the text of this delta is all there is to write, and has a frame, which is `head` and `tail` then.
  function hasFrame(entry: LogEntry): boolean {
    const { event } = entry;
    if (!(textOnly || isBareDelta(event)) || (numbered && entry.to <= 0)) return false;
    // As a rule it is the frame of the last delta.
    if (event.type === lastType && (isCall ? event.toolCallId : event.messageId) === lastPart) {
      if (lasts !== "time" || entry.at === lastAt) return true;
    }
    const part = partOf(event);
    const frame = part === undefined ? undefined : options.frame(entry);
    if (frame === undefined) return false;
    lastType = event.type;
    lastPart = part;
    lastAt = entry.at;
    isCall = lastType === EventType.TOOL_CALL_ARGS;
    lastMessage = isCall ? none : part;
    ({ head, tail } = frame);
    return true;
  }

  function encode(entry: LogEntry): string {
    const text = entry.event.delta;
    if (typeof text !== "string" || !hasFrame(entry)) {
      if (lasts !== "always") lastType = none;
      return options.encode(entry);
    }
    if (skipEmpty && text === "") return "";
    const json = escapeText(text);
    // Few pieces, since each that is added makes another string.
    return numbered ? `id: ${entry.to}${head}${json}${tail}` : `${head}${json}${tail}`;
  }

  // The same for a delta that follows one of its message, in a format of text only. Each option that is looked up
  // costs as much as a comparison, and these are most of the work for a delta that comes alone.
  function encodeText(entry: LogEntry): string {
    const { event } = entry;
    const text = event.delta;
    const isNext = event.type === lastType && event.messageId === lastMessage;
    if (!isNext || typeof text !== "string" || text === "") return encode(entry);
    if (!numbered) return `${head}${escapeText(text)}${tail}`;
    return entry.to > 0 ? `id: ${entry.to}${head}${escapeText(text)}${tail}` : encode(entry);
  }

  function encodeDeltas(line: LogEntry, deltas: readonly string[]): string {
    let frames = "";
    let index = 0;
    // Up to the one that shows the part, as a rule; the frame is that of all that follow.
    while (index < deltas.length && !hasFrame(line)) {
      frames += encode(entryOfDelta(line, index, deltas[index]!));
      index++;
    }
    if (index === deltas.length) return frames;
    // One look at all of them finds out that none needs escaping.
    const isPlain = !needsEscape.test(line.event.delta as string);
    // The end of a frame and the beginning of the next are one piece.
    const first = numbered ? "id: " : head;
    const between = tail + first;
    let lead = first;
    for (; index < deltas.length; index++) {
      const text = deltas[index]!;
      if (skipEmpty && text === "") continue;
      const json = isPlain ? text : escapeText(text);
      frames += numbered ? `${lead}${line.from + index}${head}${json}` : `${lead}${json}`;
      lead = between;
    }
    return lead === first ? frames : frames + tail;
  }

  const isTextFormat = textOnly && lasts !== "time";
  return { encode: isTextFormat ? encodeText : encode, encodeDeltas };
}
