import type { Sent } from "../../client/exchange.ts";
import { onNextFrame } from "../../client/frame-log.ts";
import type { RecordedExchange } from "../../model.ts";
import type { ChatFold, Folded } from "./fold.ts";

export interface FollowerOptions {
  readonly fold: ChatFold;
  readonly signal: AbortSignal;
  show(folded: Folded): void;
  showExchange(exchange: RecordedExchange): void;
  /** Follows the run again, after an offset or from snapshots. */
  attach(runId: string, offset: string | undefined, isBinary: boolean): Sent;
  /** The run has its name. */
  onRun(runId: string): void;
  /** The connection was lost, and it is tried again. */
  onCut(): void;
  onBack(): void;
}

export interface RunFollower {
  /** Reads to the end of the run, and returns the exchange that received it. */
  follow(first: Sent): Promise<RecordedExchange>;
}

// Waits before each attempt to come back. A server that restarts is there again within these.
const waits = [0, 500, 1000, 2000, 4000, 8000];

/** Follows a run through connections that break. */
export function createRunFollower(options: FollowerOptions): RunFollower {
  const { fold, signal } = options;
  let isScheduled = false;

  function show(): void {
    isScheduled = false;
    if (!signal.aborted) options.show(fold.read());
  }

  function showSoon(): void {
    if (isScheduled) return;
    isScheduled = true;
    onNextFrame(() => {
      if (isScheduled) show();
    });
  }

  async function read({ exchange, frames }: Sent): Promise<void> {
    options.showExchange(exchange);
    let runId: string | undefined;
    for await (const { events } of frames) {
      events.forEach(fold.apply);
      if (runId === undefined && exchange.runId.value !== undefined) {
        runId = exchange.runId.value;
        options.onRun(runId);
      }
      options.onBack();
      showSoon();
    }
    show();
  }

  async function follow(first: Sent): Promise<RecordedExchange> {
    let sent = first;
    let offset: string | undefined;
    let runId: string | undefined;
    let attempt = 0;
    for (;;) {
      await read(sent);
      const { exchange } = sent;
      const { status, frames, wire } = exchange;
      runId = exchange.runId.value ?? runId;
      // Only server-sent events of AG-UI carry offsets.
      offset = sent.offset() ?? offset;
      if (frames.value.length > 0) attempt = 0;
      const isBroken = status.value === "cut" || (sent !== first && isUnreached(sent));
      if (!isBroken || runId === undefined || signal.aborted) return exchange;
      if (attempt === waits.length) return exchange;
      options.onCut();
      await pause(waits[attempt++]!, signal);
      if (signal.aborted) return exchange;
      sent = options.attach(runId, offset, wire === "agui-proto");
    }
  }

  return { follow };
}

function isUnreached({ exchange, refusal }: Sent): boolean {
  return (
    exchange.status.value === "failed" &&
    refusal() === undefined &&
    exchange.frames.value.length === 0
  );
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener("abort", () => {
      clearTimeout(timer);
      resolve();
    });
  });
}
