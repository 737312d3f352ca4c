import { EventType } from "@ag-ui/core";
import { AgentError } from "./errors.ts";
import { Follower, noOffset } from "./follower.ts";
import type { FollowerHost } from "./follower.ts";
import type { SizedEntry } from "./line.ts";
import { isTerminal, toPrelude } from "./join.ts";
import type { FoldedRun } from "./join.ts";
import { SafeLogger } from "./logger.ts";
import type { RunSettings } from "./run-types.ts";
import { sizeOf } from "./size.ts";
import type { Encoder, LogEntry, Reply, RunLog, RunRecord, Sink } from "./types.ts";

export interface Replay {
  readonly runs: RunLog;
  readonly record: RunRecord;
  /** `'join'` needs `folded`. */
  readonly from: number | "join";
  readonly folded?: FoldedRun | undefined;
  readonly settings: RunSettings;
}

/** The reply of a run that this process does not own: its log, and then its live tail if it has one. */
export function replayReply(
  { encoder, headers }: { encoder: Encoder; headers?: Readonly<Record<string, string>> },
  replay: Replay,
): Reply {
  if (replay.from !== "join") {
    assertReadable(replay.record, encoder.key === undefined ? 0 : replay.from);
  }
  return {
    status: 200,
    headers: { "content-type": encoder.contentType, ...encoder.headers, ...headers },
    stream: { attach: (sink) => void follow(encoder, sink, replay), discard: () => {} },
  };
}

/** Throws `replay-gone` when what follows an offset was trimmed. */
export function assertReadable(record: RunRecord, after: number): void {
  if (after >= record.first - 1) return;
  throw new AgentError(
    "replay-gone",
    `Run "${record.runId}" can be read from offset ${record.first}; ${after + 1} was trimmed.`,
  );
}

async function follow(encoder: Encoder, sink: Sink, replay: Replay): Promise<void> {
  const { runs, record, folded, settings } = replay;
  const after = replay.from === "join" ? 0 : replay.from;
  const { limits, clock, heartbeatMs, ticker } = settings;
  const logger = new SafeLogger(settings.logger);
  // An encoder with memory hears the log from its start; the follower keeps what was seen to itself.
  const from = folded ? folded.offset : encoder.key === undefined ? 0 : after;
  const left = new AbortController();
  const host: FollowerHost = {
    // It is only given more when it has taken what it was given.
    maxBytes: Number.POSITIVE_INFINITY,
    stallMs: limits.stallMs,
    heartbeatMs,
    now: () => clock.now(),
    left: () => {
      left.abort();
      ticker.remove(place);
    },
    paceChanged: () => {},
    failed: (error) =>
      logger.error({ error, runId: record.runId }, "A client could not be written to."),
  };
  const follower = new Follower(host, { encoder, sink, after });
  const place = ticker.add(follower);
  follower.open();
  let isOver = record.status !== "running" || folded?.terminal !== undefined;
  try {
    if (folded) {
      const offset = folded.terminal ? folded.offset - 1 : folded.offset;
      follower.prelude(toPrelude(record, folded.view, { offset, at: clock.now() }));
      if (folded.terminal) follower.deliver([sized(folded.terminal)]);
    }
    for await (const entries of runs.follow(record, from, left.signal)) {
      follower.deliver(entries.map(sized));
      isOver ||= isTerminal(entries.at(-1)!.event);
      while (follower.blocked && !left.signal.aborted) {
        await new Promise<void>((resolve) => (follower.wake = resolve));
      }
    }
    if (!isOver) follower.deliver([lostEntry(clock.now())]);
    follower.close();
  } catch (error) {
    logger.error({ error, runId: record.runId }, "A replay failed.");
    follower.cut();
  }
}

function sized(entry: LogEntry): SizedEntry {
  return { ...entry, size: sizeOf(entry.event) };
}

// The log ended before its run did: the thread was deleted, or its store was closed.
function lostEntry(at: number): SizedEntry {
  const message = "The run was lost.";
  const event = { type: EventType.RUN_ERROR, message, code: "run-lost" };
  return { from: noOffset, to: noOffset, at, event, size: 64 };
}
