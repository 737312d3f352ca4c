import { AgentError, describeError } from "@holodeck/agui-core";
import type {
  ActiveRun,
  Awaitable,
  Call,
  Encoder,
  Lease,
  RunRecord,
  RunResult,
  Sink,
} from "@holodeck/agui-core";
import { dateOf, isRequestBound } from "@holodeck/agui-core/internal";
import type { LiveRun, RunSettings } from "@holodeck/agui-core/internal";
import { ended, threadBusy } from "./acquire.ts";
import type { Settings } from "../options/options.ts";

/** How a waiting run gets on. */
interface Turn {
  /** Reports when a client that waits for the whole result has left. */
  readonly client: Pick<Call, "onLeave">;
  acquire(): Promise<Lease | { busy: RunRecord }>;
  begin(lease: Lease): Awaitable<LiveRun>;
  /** The run has ended, or will not begin. Called once. */
  over(): void;
}

export interface Queue {
  /** A run that waits for its thread. Throws `thread-busy` when too many wait already. */
  enter(record: RunRecord, turn: Turn): ActiveRun;
}

/** Runs that wait for their thread, first come first served; each is kept alive while it waits. */
export function createQueue(settings: Settings, runSettings: RunSettings): Queue {
  const { limits, clock, logger, heartbeatMs, debug } = settings;
  const { ticker } = runSettings;
  const waiting = new Map<string, { count: number; last: Promise<unknown> }>();

  async function wait(
    record: RunRecord,
    turn: Turn,
    signal: AbortSignal,
  ): Promise<LiveRun | undefined> {
    while (!signal.aborted) {
      const lease = await turn.acquire();
      if (!("busy" in lease)) return turn.begin(lease);
      const { sessions } = settings;
      await ended(lease.busy, { runs: sessions.runs, clock, patienceMs: Infinity, signal });
    }
    return undefined;
  }

  function take(record: RunRecord): { place: Promise<unknown>; leave: () => void } {
    const id = JSON.stringify([record.principal, record.threadId]);
    const line = waiting.get(id) ?? { count: 0, last: Promise.resolve() };
    if (line.count >= limits.queuedRuns) throw threadBusy(record.threadId);
    let leave!: () => void;
    const place = line.last;
    const gone = new Promise<void>((resolve) => (leave = resolve));
    line.count++;
    line.last = place.then(() => gone);
    waiting.set(id, line);
    return {
      place,
      leave() {
        if (--line.count === 0) waiting.delete(id);
        leave();
      },
    };
  }

  return {
    enter(record, turn) {
      const { place, leave } = take(record);
      const stop = new AbortController();
      let isTaken = false;
      let finish!: () => void;
      const done = new Promise<void>((resolve) => (finish = resolve));
      void done.then(() => turn.over());
      const run = async (): Promise<LiveRun | undefined> => {
        isTaken = true;
        let begun: LiveRun | undefined;
        try {
          // Where no request waits for another's promise, the thread goes to the first that finds it free.
          if (!isRequestBound) await place;
          begun = await wait(record, turn, stop.signal);
          return begun;
        } finally {
          leave();
          void Promise.resolve(begun?.done).then(finish);
        }
      };

      async function attach(encoder: Encoder, sink: Sink): Promise<void> {
        const { clock: time } = settings;
        let last = time.now();
        const beat = {
          tick(now: number) {
            if (now - last < heartbeatMs) return;
            last = now;
            const chunk = encoder.keepAlive?.(false);
            if (chunk?.length) sink.write(chunk);
          },
        };
        sink.onClose = () => stop.abort();
        const place = ticker.add(beat);
        try {
          const begun = await run();
          if (begun && stop.signal.aborted) begun.discard();
          else begun?.follow(encoder, sink);
        } catch (error) {
          logger.error({ error, runId: record.runId }, "A queued run could not start.");
          refuse(encoder, sink, describeError(error, debug));
        } finally {
          ticker.remove(place);
        }
      }

      return {
        record,
        stream: (encoder, _from, headers) => ({
          status: 200,
          headers: { "content-type": encoder.contentType, ...encoder.headers, ...headers },
          stream: {
            attach: (sink) => void attach(encoder, sink),
            discard() {
              stop.abort();
              if (isTaken) return;
              leave();
              finish();
            },
            done,
          },
        }),
        async collect(onEvent): Promise<RunResult> {
          let isQueued = true;
          turn.client.onLeave(() => {
            if (isQueued) stop.abort();
          });
          const begun = await run().finally(() => (isQueued = false));
          if (!begun) throw new AgentError("disconnected", "The client disconnected while queued.");
          return begun.collect(turn.client, onEvent);
        },
      };
    },
  };

  // The head is out already: the refusal has to be an event.
  function refuse(encoder: Encoder, sink: Sink, error: { code: string; message: string }): void {
    const event = { type: "RUN_ERROR", ...error } as never;
    const chunks = [
      encoder.open?.(),
      encoder.encode({ from: 0, to: 0, at: dateOf(clock), event }),
      encoder.close?.(),
    ];
    for (const chunk of chunks) if (chunk?.length) sink.write(chunk);
    sink.end();
  }
}
