// What the two halves of the page share: the chat fills it, the inspector shows it.
import type { BaseEvent, RunAgentInput } from "@ag-ui/core";
import { signal } from "@preact/signals";
import type { Signal } from "@preact/signals";

/** How the page talks to the server. */
export type Wire = "agui-sse" | "agui-proto" | "vercel" | "rest";

/** A request as it was sent, for showing and for copying. */
export interface SentRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** One piece of the answer as it came over the wire, in order. */
export interface RecordedFrame {
  readonly index: number;
  /** Milliseconds since the request was sent. */
  readonly at: number;
  /** The bytes of this frame, comments and separators included. */
  readonly bytes: Uint8Array;
  /** The frame as AG-UI events; several when a dialect's frame means several, none for a keep-alive. */
  readonly events: readonly BaseEvent[];
}

export type ExchangeStatus = "waiting" | "streaming" | "done" | "failed" | "stopped" | "cut";

/** One run as one client received it: a request and its response. */
export interface RecordedExchange {
  readonly wire: Wire;
  readonly agentId: string;
  readonly threadId: string;
  readonly runId: Signal<string | undefined>;
  /** The request as AG-UI input, for any protocol. */
  readonly input: RunAgentInput;
  readonly request: SentRequest;
  /** Grows by replacement, at most once per animation frame. */
  readonly frames: Signal<readonly RecordedFrame[]>;
  readonly status: Signal<ExchangeStatus>;
  /** The problem or RUN_ERROR that ended it. */
  readonly error: Signal<string | undefined>;
  /** `performance.now()` when it was sent. */
  readonly startedAt: number;
  /** How much of the oldest frames' bytes was let go of, so that memory stays bounded. */
  readonly dropped?: Signal<DroppedBytes>;
}

/** Frames that still have their events, but not their bytes. */
export interface DroppedBytes {
  readonly frames: number;
  readonly bytes: number;
}

/** What the agent's state is now, and which JSON pointers the last event changed. */
export interface SeenState {
  readonly value: unknown;
  readonly changed: readonly string[];
}

/** The exchange that the inspector shows: the newest, or one picked from a message. */
export const current: Signal<RecordedExchange | undefined> = signal(undefined);
/** All exchanges of the open thread, oldest first. */
export const exchanges: Signal<readonly RecordedExchange[]> = signal([]);
export const state: Signal<SeenState> = signal({ value: undefined, changed: [] });
export const wire: Signal<Wire> = signal("agui-sse");
