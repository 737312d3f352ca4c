import type { BaseEvent } from "@holodeck/agui-core";
import { createParser } from "eventsource-parser";
import type { EventSourceMessage } from "eventsource-parser";
import { readText } from "./read-text.ts";
import type { TextSource } from "./read-text.ts";

/** One server-sent event. */
export interface SseMessage {
  readonly id?: string;
  readonly event?: string;
  readonly data: string;
}

/** Anything that holds server-sent events. */
export type SseSource = TextSource;

/**
 * Reads server-sent events as they arrive. Comments are skipped; stopping early ends the stream.
 *
 * @example
 * ```ts
 * for await (const { id, data } of readSse(await handler.fetch(request))) console.log(id, data);
 * ```
 */
export async function* readSse(source: SseSource): AsyncGenerator<SseMessage, void, undefined> {
  const arrived: SseMessage[] = [];
  const parser = createParser({ onEvent: (message) => arrived.push(toMessage(message)) });
  for await (const text of readText(source)) {
    parser.feed(text);
    yield* arrived.splice(0);
  }
}

/** The AG-UI events of a stream of server-sent events, as they arrive. */
export async function* readEvents(source: SseSource): AsyncGenerator<BaseEvent, void, undefined> {
  for await (const { data } of readSse(source)) yield JSON.parse(data) as BaseEvent;
}

function toMessage({ id, event, data }: EventSourceMessage): SseMessage {
  return {
    ...(id === undefined ? {} : { id }),
    ...(event === undefined ? {} : { event }),
    data,
  };
}
