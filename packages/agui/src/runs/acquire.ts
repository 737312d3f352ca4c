import { isPromise } from "@holodeck/agui-core/internal";
import { AgentError } from "@holodeck/agui-core";
import type { Awaitable, Clock, Lease, RunLog, RunRecord } from "@holodeck/agui-core";
import type { Launch } from "./to-launch.ts";

/** What happens to a second run on a thread. */
export type BusyPolicy = "reject" | "queue" | "replace";

export interface AcquireOptions {
  readonly runs: RunLog;
  readonly policy: BusyPolicy;
  readonly clock: Clock;
  /** How long a run may take to end after it was asked to stop. */
  readonly patienceMs: number;
  /** Runs of this handler may continue without followers. */
  readonly mayBeUnfollowed: boolean;
  /** Throws when the run may not begin after all; asked before another run is stopped for it. */
  confirm(launch: Launch): Promise<void>;
}

/** The data of a run that is opened. */
interface RunOpening {
  readonly agentId: string;
  readonly protocolVersion?: string | undefined;
}

// A client that has stopped a run and sends its next request at once may be seen to leave after that request
// came. Within half a second all in all: an owner in another process has answered by then, too.
const askMs = [20, 60, 120, 300] as const;

/**
 * Acquires the lease of a thread, or returns its holder. A run that holds it is stopped if the policy
 * requires it. A busy run with the same id was started, and may have ended, before.
 */
export function acquire(
  launch: Launch,
  init: RunOpening,
  options: AcquireOptions,
): Awaitable<Lease | { busy: RunRecord }> {
  const opening = options.runs.open(launch.key, init);
  if (!isPromise(opening) && !("busy" in opening)) return opening;
  return contend(opening, { launch, init }, options);
}

async function contend(
  opening: Awaitable<Lease | { busy: RunRecord }>,
  { launch, init }: { launch: Launch; init: RunOpening },
  options: AcquireOptions,
): Promise<Lease | { busy: RunRecord }> {
  const first = await opening;
  if (!("busy" in first)) return first;
  const { key } = launch;
  const { runs, policy, mayBeUnfollowed, patienceMs } = options;
  const { busy } = first;
  if (busy.runId === key.runId) return first;
  const isReplaced = policy === "replace";
  // In a queue the next run waits anyway.
  if (policy === "queue" && !mayBeUnfollowed) return first;
  await options.confirm(launch);
  // A run that no client follows yields to one that a client waits for, whatever the policy.
  const command = { type: "stop", reason: "replaced", ifUnfollowed: !isReplaced } as const;
  let opened: Lease | { busy: RunRecord } = first;
  for (const waitMs of isReplaced ? [patienceMs] : askMs) {
    const isSent = await runs.send(busy, command);
    if (isSent) await ended(busy, { ...options, patienceMs: waitMs });
    opened = await runs.open(key, init);
    if (!("busy" in opened) || opened.busy.runId !== busy.runId || !isSent) return opened;
  }
  return opened;
}

/** Resolves when a run has ended, or after a while. */
export async function ended(
  run: RunRecord,
  options: Pick<AcquireOptions, "runs" | "clock"> & { patienceMs: number; signal?: AbortSignal },
): Promise<void> {
  const { runs, clock, patienceMs, signal } = options;
  const stop = new AbortController();
  const abort = (): void => stop.abort();
  signal?.addEventListener("abort", abort, { once: true });
  const timer = Number.isFinite(patienceMs) ? clock.setTimeout(abort, patienceMs) : undefined;
  try {
    let after = run.last;
    for await (const entries of runs.follow(run, after, stop.signal)) after = entries.at(-1)!.to;
  } finally {
    if (timer !== undefined) clock.clearTimeout(timer);
    signal?.removeEventListener("abort", abort);
  }
}

export function threadBusy(threadId: string): AgentError {
  return new AgentError("thread-busy", `Thread "${threadId}" is busy with another run.`);
}
