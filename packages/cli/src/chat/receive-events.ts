import type { BaseEvent } from "@ag-ui/core";
import { createParser } from "eventsource-parser";
import type { EventSourceMessage, ParseError } from "eventsource-parser";
import { DroppedError } from "./dropped-error.ts";

// A server that never ends an event must not cost the memory of this machine.
const maxBufferSize = 32 * 1024 * 1024;

/** An event and the id that a resume names. */
export interface ReceivedEvent {
  readonly event: BaseEvent;
  readonly id?: string;
}

/**
 * Yields the events of a body as they arrive. A body that breaks off ends here like one that is over: the
 * missing terminal event shows it.
 */
export async function* receiveEvents(
  response: Response,
  signal: AbortSignal,
): AsyncGenerator<ReceivedEvent, void, undefined> {
  const frames: EventSourceMessage[] = [];
  const onEvent = (frame: EventSourceMessage): number => frames.push(frame);
  const parser = createParser({ onEvent, onError: refuseEndless, maxBufferSize });
  const decoder = new TextDecoder();
  const reader = response.body?.getReader();
  while (reader) {
    const { done, value } = await reader.read().catch((error: unknown) => {
      if (signal.aborted) throw error;
      return { done: true, value: undefined };
    });
    if (done || value === undefined) return;
    parser.feed(decoder.decode(value, { stream: true }));
    for (const { data, id } of frames.splice(0)) {
      yield { event: parse(data), ...(id === undefined ? {} : { id }) };
    }
  }
}

// Fields that are not known are passed over, as the standard asks.
function refuseEndless({ type }: ParseError): void {
  if (type === "max-buffer-size-exceeded") {
    throw new DroppedError("The server sent an event without an end.");
  }
}

function parse(data: string): BaseEvent {
  try {
    return JSON.parse(data) as BaseEvent;
  } catch (error) {
    const message = `The server sent something that is not an event: ${data.slice(0, 200)}`;
    throw new DroppedError(message, { cause: error });
  }
}
