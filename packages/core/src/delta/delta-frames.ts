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
  const { frame: frameOf, encode: encodeRest, textOnly, numbered, skipEmpty } = options;
  const isLasting = options.lasts === "always";
  const isTimed = options.lasts === "time";
  let isCall = false;
  let lastType: unknown = none;
  let lastPart: string | undefined;
  let lastAt = 0;
  let head = "";
  let tail = "";

  // Whether the text of a delta is all there is to write.
  function isFramed({ to, event }: LogEntry): boolean {
    return (textOnly === true || isBareDelta(event)) && (!numbered || to > 0);
  }

  // Whether the frame of the last delta is that of this one too.
  function isSame({ event, at }: LogEntry): boolean {
    if (event.type !== lastType || (isTimed && at !== lastAt)) return false;
    return (isCall ? event.toolCallId : event.messageId) === lastPart;
  }

  // Whether there is a frame, which is `head` and `tail` then.
  function hasFrame(entry: LogEntry): boolean {
    if (isSame(entry)) return true;
    const { event } = entry;
    const part = partOf(event);
    const frame = part === undefined ? undefined : frameOf(entry);
    if (frame === undefined) return false;
    lastType = event.type;
    lastPart = part;
    lastAt = entry.at;
    isCall = lastType === EventType.TOOL_CALL_ARGS;
    ({ head, tail } = frame);
    return true;
  }

  function encodeOther(entry: LogEntry): string {
    if (!isLasting) lastType = none;
    return encodeRest(entry);
  }

  function encode(entry: LogEntry): string {
    const { event } = entry;
    const text = event.delta;
    if (typeof text !== "string" || !isFramed(entry) || !hasFrame(entry)) return encodeOther(entry);
    if (skipEmpty && text === "") return "";
    const json = escapeText(text);
    // Few pieces, since each that is added makes another string.
    return numbered ? `id: ${entry.to}${head}${json}${tail}` : `${head}${json}${tail}`;
  }

  function encodeDeltas(line: LogEntry, deltas: readonly string[]): string {
    const { from, event } = line;
    const canFrame = isFramed(line);
    let isReady = canFrame && hasFrame(line);
    // One look at all of them finds out that none needs escaping.
    const isPlain = !needsEscape.test(event.delta as string);
    let frames = "";
    for (let index = 0; index < deltas.length; index++) {
      const text = deltas[index]!;
      if (!isReady) {
        frames += encodeOther(entryOfDelta(line, index, text));
        isReady = canFrame && hasFrame(line);
      } else if (!skipEmpty || text !== "") {
        const json = isPlain ? text : escapeText(text);
        frames += numbered ? `id: ${from + index}${head}${json}${tail}` : `${head}${json}${tail}`;
      }
    }
    return frames;
  }

  return { encode, encodeDeltas };
}
