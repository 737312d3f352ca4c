import type { BaseEvent, RunAgentInput } from "@ag-ui/core";
import { signal } from "@preact/signals";
import type {
  DroppedBytes,
  RecordedExchange,
  ExchangeStatus,
  RecordedFrame,
  SentRequest,
  Wire,
} from "../model.ts";
import { createFrameLog } from "./frame-log.ts";
import { problemText } from "./problem.ts";

/** A frame as a wire's decoder understands it. */
export interface Decoded {
  readonly bytes: Uint8Array;
  readonly events: readonly BaseEvent[];
  /** Where the stream can be taken up again. */
  readonly id?: string;
}

type Decode = (chunks: AsyncIterable<Uint8Array>) => AsyncIterable<Decoded>;

/** What is to be sent, and how its answer is read. */
export interface ExchangePlan {
  readonly wire: Wire;
  readonly agentId: string;
  readonly input: RunAgentInput;
  readonly request: SentRequest;
  readonly decode: Decode;
  readonly signal?: AbortSignal;
  /** What the run is called, where that is known before it begins. */
  readonly runId?: string;
}

/** An exchange that begins when its frames are read. */
export interface Sent {
  readonly exchange: RecordedExchange;
  readonly frames: AsyncIterable<RecordedFrame>;
  /** Where to go on when the connection was cut. */
  readonly offset: () => string | undefined;
  /** The status that the server refused with. */
  readonly refusal: () => number | undefined;
}

/** Sends a request and reads its answer into an exchange, frame by frame. */
export function send(plan: ExchangePlan): Sent {
  const { wire, agentId, input, request } = plan;
  const status = signal<ExchangeStatus>("waiting");
  const error = signal<string | undefined>(undefined);
  const runId = signal<string | undefined>(plan.runId);
  const frames = signal<readonly RecordedFrame[]>([]);
  const dropped = signal<DroppedBytes>({ frames: 0, bytes: 0 });
  const startedAt = performance.now();
  const log = createFrameLog({ frames, dropped });
  const { threadId } = input;
  let offset: string | undefined;
  let refusal: number | undefined;

  function end(next: ExchangeStatus, why?: string): void {
    status.value = next;
    if (why !== undefined) error.value = why;
  }

  function note(event: BaseEvent): void {
    const { type, outcome, message } = event;
    if (type === "RUN_STARTED" && typeof event.runId === "string") runId.value = event.runId;
    if (type === "RUN_ERROR") end("failed", typeof message === "string" ? message : "It failed.");
    if (type !== "RUN_FINISHED") return;
    end((outcome as { type?: string } | undefined)?.type === "cancelled" ? "stopped" : "done");
  }

  async function* read(): AsyncGenerator<RecordedFrame> {
    try {
      const { method, headers, body } = request;
      const response = await fetch(request.url, {
        method,
        headers,
        body: body ?? null,
        signal: plan.signal ?? null,
      });
      if (!response.ok || !response.body) {
        refusal = response.status;
        return end("failed", await problemText(response));
      }
      status.value = "streaming";
      let index = 0;
      for await (const { bytes, events, id } of plan.decode(chunksOf(response.body))) {
        if (id !== undefined) offset = id;
        events.forEach(note);
        const frame = { index: index++, at: performance.now() - startedAt, bytes, events };
        log.add(frame);
        yield frame;
      }
      if (isOpen(status.value)) end("cut", "The connection ended before the answer did.");
    } catch (reason) {
      if (plan.signal?.aborted) {
        if (isOpen(status.value)) end("stopped");
      } else if (isOpen(status.value)) {
        if (status.value === "waiting") end("failed", "The server could not be reached.");
        else end("cut", reason instanceof RangeError ? garbled : lost);
      }
    } finally {
      log.flush();
      // A caller that stopped reading has stopped the exchange.
      if (isOpen(status.value)) end("stopped");
    }
  }

  return {
    exchange: {
      wire,
      agentId,
      threadId,
      runId,
      input,
      request,
      frames,
      status,
      error,
      startedAt,
      dropped,
    },
    frames: read(),
    offset: () => offset,
    refusal: () => refusal,
  };
}

function isOpen(status: ExchangeStatus): boolean {
  return status === "waiting" || status === "streaming";
}

const lost = "The connection was lost.";
// The protobuf codec throws these.
const garbled = "The answer cannot be read.";

// Not every browser lets a stream be iterated.
async function* chunksOf(body: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array> {
  const reader = body.getReader();
  try {
    for (let step = await reader.read(); !step.done; step = await reader.read()) yield step.value;
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}
