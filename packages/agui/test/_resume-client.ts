import { AbstractAgent } from "@ag-ui/client";
import type { BaseEvent, Message } from "@holodeck/agui-core";
import { readSse } from "@holodeck/agui-testing";
import { AbstractAgent as AbstractAgent0 } from "ag-ui-client-0";
import { Observable } from "rxjs";

/** An event and the offset that came with it, if one did. */
export interface Frame {
  readonly id: number | undefined;
  readonly event: BaseEvent;
}

export type FrameSource = AsyncIterable<Frame>;

/** The frames of an answer, as they arrive. Who stops reading cuts the connection. */
export async function* framesOf(response: Response): AsyncGenerator<Frame, void, undefined> {
  for await (const { id, data } of readSse(response)) {
    yield { id: id === undefined ? undefined : Number(id), event: JSON.parse(data) as BaseEvent };
  }
}

/** A reader that can be waited for. */
export interface FrameReader {
  readonly frames: readonly Frame[];
  /** Resolves when that offset has come, or the stream has ended. */
  reach(offset: number): Promise<void>;
  readonly done: Promise<void>;
}

export function readFrames(source: FrameSource): FrameReader {
  const frames: Frame[] = [];
  const waiting: { offset: number; resolve: () => void }[] = [];
  const isAt = (offset: number): boolean => (frames.at(-1)?.id ?? 0) >= offset;
  const read = async (): Promise<void> => {
    try {
      for await (const frame of source) {
        frames.push(frame);
        for (const { offset, resolve } of waiting) if (isAt(offset)) resolve();
      }
    } finally {
      for (const { resolve } of waiting) resolve();
    }
  };
  return {
    frames,
    done: read(),
    reach: (offset) =>
      isAt(offset)
        ? Promise.resolve()
        : new Promise((resolve) => waiting.push({ offset, resolve })),
  };
}

/** An official client that is told where its events come from. */
export interface ResumeClient {
  readonly messages: readonly Message[];
  readonly state: unknown;
  /** Everything it was sent, over all connections. */
  readonly heard: Frame[];
  /** Listens to one connection; its end without a terminal event is an error, as for any client. */
  listen(source: FrameSource): Promise<void>;
}

export interface ClientStart {
  readonly isLegacy: boolean;
  readonly threadId: string;
  readonly runId: string;
  readonly messages?: readonly Message[];
}

/** The client of AG-UI 1.0.0, or of 0.0.59. Neither's HttpAgent can re-attach by itself. */
export function resumeClient(start: ClientStart): ResumeClient {
  // Only the types of the two differ in what is used here.
  const Base = (start.isLegacy ? AbstractAgent0 : AbstractAgent) as typeof AbstractAgent;
  const heard: Frame[] = [];
  class Attached extends Base {
    source: FrameSource | undefined;

    run(): ReturnType<AbstractAgent["run"]> {
      const { source } = this;
      const events = new Observable<BaseEvent>((subscriber) => {
        const speak = async (): Promise<void> => {
          for await (const frame of source!) {
            heard.push(frame);
            subscriber.next(frame.event);
          }
          subscriber.complete();
        };
        speak().catch((error: unknown) => subscriber.error(error));
      });
      // The client has an rxjs of its own.
      return events as unknown as ReturnType<AbstractAgent["run"]>;
    }
  }
  const { threadId, runId, messages = [] } = start;
  const agent = new Attached({ threadId, initialMessages: structuredClone([...messages]) });
  return {
    heard,
    get messages() {
      return agent.messages as readonly Message[];
    },
    get state() {
      return agent.state as unknown;
    },
    async listen(source) {
      agent.source = source;
      await agent.runAgent({ runId });
    },
  };
}

/** Frames that came before a connection broke. */
export async function* brokenAfter(frames: readonly Frame[]): FrameSource {
  yield* structuredClone(frames);
  throw new Cut();
}

export class Cut extends Error {
  override readonly message = "The connection was cut.";
}
