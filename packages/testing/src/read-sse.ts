import type { BaseEvent } from "@holodeck/agui-core";
import { createParser } from "eventsource-parser";
import type { EventSourceMessage } from "eventsource-parser";

/** One server-sent event. */
export interface SseMessage {
  readonly id?: string;
  readonly event?: string;
  readonly data: string;
}

/** Anything that holds server-sent events. */
export type SseSource =
  | string
  | Response
  | ReadableStream<Uint8Array>
  | AsyncIterable<Uint8Array | string>;

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

async function* readText(source: SseSource): AsyncGenerator<string, void, undefined> {
  if (typeof source === "string") {
    yield source;
    return;
  }
  const body = source instanceof Response ? source.body : source;
  if (!body) return;
  const decoder = new TextDecoder();
  for await (const chunk of Symbol.asyncIterator in body ? body : readStream(body)) {
    yield typeof chunk === "string" ? chunk : decoder.decode(chunk, { stream: true });
  }
}

// Safari's streams cannot be iterated.
async function* readStream(
  stream: ReadableStream<Uint8Array>,
): AsyncGenerator<Uint8Array, void, undefined> {
  const reader = stream.getReader();
  try {
    for (let step = await reader.read(); !step.done; step = await reader.read()) yield step.value;
  } finally {
    await reader.cancel();
  }
}

function toMessage({ id, event, data }: EventSourceMessage): SseMessage {
  return {
    ...(id === undefined ? {} : { id }),
    ...(event === undefined ? {} : { event }),
    data,
  };
}
