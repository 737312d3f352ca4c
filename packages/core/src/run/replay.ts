import type { BaseEvent } from "@ag-ui/core";
import { endReplay } from "./clients/end-replay.ts";
import { AgentError } from "../contract/errors.ts";
import { Follower } from "./clients/follower.ts";
import type { FollowerHost } from "./clients/follower-host.ts";
import type { SizedEntry } from "../delta/merged-entry.ts";
import { foldRun, foldStart } from "../view/fold-run.ts";
import { isTerminal } from "../view/is-terminal.ts";
import { toPrelude } from "../view/prelude.ts";
import { createRunView } from "../view/run-view.ts";
import { dateOf } from "../base/time/clock.ts";
import { SafeLogger } from "../base/logger.ts";
import type { RunSettings } from "./types.ts";
import { sizeOfEvent } from "../delta/event-size.ts";
import { errorOf, lostRun, toErrorEntry } from "./run-error.ts";
import type { Encoder, Reply, Sink } from "../contract/exchange.ts";
import type { RunResult } from "../contract/protocol.ts";
import type { LogEntry, RunLog, RunRecord } from "../contract/run-log.ts";
import type { Session } from "../contract/session-store.ts";

export interface Replay {
  readonly runs: RunLog;
  readonly record: RunRecord;
  readonly from: number | "join";
  /** For a client that joins: the thread, read before the log. What it holds of the run is not folded again. */
  readonly session?: Session | undefined;
  readonly settings: RunSettings;
}

/** The reply of a run that this process does not own: its log, and then its live tail if it has one. */
export function replayReply(
  { encoder, headers }: { encoder: Encoder; headers?: Readonly<Record<string, string>> },
  replay: Replay,
): Reply {
  const { record, from, session } = replay;
  if (from === "join") assertReadable(record, foldStart(record, session));
  else assertReadable(record, encoder.key === undefined ? 0 : from);
  return {
    status: 200,
    headers: { "content-type": encoder.contentType, ...encoder.headers, ...headers },
    stream: { attach: (sink) => void follow(encoder, sink, replay), discard: () => {} },
  };
}

/** The result of a run that this process does not own, from its log. Waits for the end of one that goes on. */
export async function collectReplay(
  { runs, record, session, settings }: Omit<Replay, "from">,
  onEvent?: (event: BaseEvent) => void,
): Promise<RunResult> {
  const began = settings.clock.now();
  const view = createRunView({ messages: session?.messages ?? [], state: session?.state });
  let last: BaseEvent | undefined;
  for await (const entries of runs.follow(record, 0, new AbortController().signal)) {
    for (const { event, at } of entries) {
      view.apply(event, at);
      onEvent?.(event);
      last = event;
    }
  }
  if (!last || !isTerminal(last)) throw lostRun();
  return {
    messages: view.messages,
    state: view.state,
    error: errorOf(last),
    usage: (last.usage as RunResult["usage"] | undefined) ?? [],
    ms: settings.clock.now() - began,
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
  const { runs, record, session, settings } = replay;
  const after = replay.from === "join" ? 0 : replay.from;
  const { limits, clock, heartbeatMs, ticker } = settings;
  const logger = new SafeLogger(settings.logger);
  const left = new AbortController();
  const host: FollowerHost = {
    // It is only given more when it has taken what it was given.
    maxBytes: Number.POSITIVE_INFINITY,
    stallMs: limits.stallMs,
    heartbeatMs,
    unsent: settings.unsent,
    owner: record.principal,
    now: () => clock.now(),
    post: (task) => ticker.post(place, task),
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
  let isOver = record.status !== "running" && after >= record.last;
  // An encoder with memory is given the log from its start; the follower sends what comes after the offset.
  let from = encoder.key === undefined ? 0 : after;
  try {
    // Only for a client that joins: one that resumes has the past already.
    const folded = replay.from === "join" ? await foldRun(runs, record, session) : undefined;
    if (folded) {
      from = folded.offset;
      isOver ||= folded.terminal !== undefined;
      const offset = folded.terminal ? folded.offset - 1 : folded.offset;
      follower.prelude(toPrelude(record, folded.view, { offset, at: dateOf(clock) }));
      if (folded.terminal) follower.deliver([sized(folded.terminal)]);
    }
    for await (const entries of runs.follow(record, from, left.signal)) {
      follower.deliver(entries.map(sized));
      isOver ||= isTerminal(entries.at(-1)!.event);
      while (follower.blocked && !left.signal.aborted) {
        await new Promise<void>((resolve) => (follower.wake = resolve));
      }
    }
    // The log ended before its run did: the thread was deleted, or its store was closed.
    if (!isOver) follower.deliver([toErrorEntry(lostRun(), dateOf(clock))]);
  } catch (error) {
    logger.error({ error, runId: record.runId }, "A replay failed.");
    return endReplay(follower, error, dateOf(clock));
  }
  follower.close();
}

function sized(entry: LogEntry): SizedEntry {
  return { ...entry, size: sizeOfEvent(entry.event) };
}
