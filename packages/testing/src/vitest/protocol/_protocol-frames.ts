import { EventType } from "@holodeck/agui-core";
import type { BaseEvent, Json } from "@holodeck/agui-core";
import { readSse } from "../../read-sse.ts";

/** One frame as a client of the protocol reads it. */
export interface ProtocolFrame {
  /** The offset to resume after, if the protocol has one. */
  readonly offset?: number;
  /** Its content, without the offset. */
  readonly data: unknown;
  /** True for the frame that ends the run. */
  readonly ends?: boolean;
}

/** Frames of AG-UI over server-sent events. */
export async function* readAguiFrames(
  response: Response,
): AsyncGenerator<ProtocolFrame, void, undefined> {
  for await (const { id, data } of readSse(response)) {
    const event = JSON.parse(data) as BaseEvent;
    const ends = event.type === EventType.RUN_FINISHED || event.type === EventType.RUN_ERROR;
    yield { ...(id === undefined ? {} : { offset: Number(id) }), data: event, ends };
  }
}

/**
 * The content of frames, with neighbours joined that differ only in their `delta`: a store may merge
 * them.
 */
export function joinDeltas(frames: readonly ProtocolFrame[]): unknown[] {
  const joined: unknown[] = [];
  for (const { data } of frames) {
    const last = joined.at(-1);
    if (isDelta(last) && isDelta(data) && sameButDelta(last, data)) {
      joined[joined.length - 1] = { ...last, delta: last.delta + data.delta };
    } else {
      joined.push(data);
    }
  }
  return joined;
}

/** Reads on in the background, and shows what has arrived. */
export function keepReading<T>(source: AsyncIterable<T>): { frames: T[]; done: Promise<void> } {
  const frames: T[] = [];
  const read = async (): Promise<void> => {
    for await (const frame of source) frames.push(frame);
  };
  const done = read();
  // A client that is not awaited may be cut off at the end of the test.
  done.catch(() => {});
  return { frames, done };
}

/** Reads until a frame matches. */
export async function readFramesUntil(
  reader: AsyncIterator<ProtocolFrame>,
  words: string,
): Promise<void> {
  for (let step = await reader.next(); !step.done; step = await reader.next()) {
    if (JSON.stringify(step.value.data).includes(words)) return;
  }
  throw new Error(`The stream ended without "${words}".`);
}

/** A promise and how to keep it. */
export function gate(): { readonly opened: Promise<void>; readonly open: () => void } {
  let resolve: (() => void) | undefined;
  const opened = new Promise<void>((done) => (resolve = done));
  return { opened, open: () => resolve?.() };
}

type Delta = Json & { delta: string };

function isDelta(value: unknown): value is Delta {
  return typeof (value as Delta | null | undefined)?.delta === "string";
}

function sameButDelta(one: Delta, other: Delta): boolean {
  return JSON.stringify({ ...one, delta: "" }) === JSON.stringify({ ...other, delta: "" });
}
