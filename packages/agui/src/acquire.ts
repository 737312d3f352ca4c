import { AgentError } from "@holodeck/agui-core";
import type { Awaitable, Clock, Lease, RunLog, RunRecord } from "@holodeck/agui-core";
import { isPromise } from "./is-promise.ts";
import type { Launch } from "./launch.ts";

/** What happens to a second run on a thread. */
export type BusyPolicy = "reject" | "queue" | "replace";

export interface AcquireOptions {
  readonly runs: RunLog;
  readonly policy: BusyPolicy;
  readonly clock: Clock;
  /** How long a run may take to end after it was told to. */
  readonly patienceMs: number;
  /** Runs here may go on without anybody following. */
  readonly mayBeUnfollowed: boolean;
  /** Throws when the run may not begin after all; asked before another run is stopped for it. */
  confirm(launch: Launch): Promise<void>;
}

/** What is told of a run that is opened. */
interface RunOpening {
  readonly agentId: string;
  readonly protocolVersion?: string | undefined;
}

// An owner in another process that has nobody following answers within this, or not at all.
const askMs = 500;

/**
 * The lease of a thread, or who holds it. A run in the way is stopped as the policy requires. A busy run with
 * the same id has been started, and perhaps has ended, before.
 */
export function acquire(
  launch: Launch,
  init: RunOpening,
  options: AcquireOptions,
): Awaitable<Lease | { busy: RunRecord }> {
  const first = options.runs.open(launch.key, init);
  if (isPromise(first)) return first.then((opened) => contend(opened, { launch, init }, options));
  return "busy" in first ? contend(first, { launch, init }, options) : first;
}

async function contend(
  first: Lease | { busy: RunRecord },
  { launch, init }: { launch: Launch; init: RunOpening },
  options: AcquireOptions,
): Promise<Lease | { busy: RunRecord }> {
  if (!("busy" in first)) return first;
  const { key } = launch;
  const { runs, policy, mayBeUnfollowed, patienceMs } = options;
  const { busy } = first;
  if (busy.runId === key.runId) return first;
  const isReplaced = policy === "replace";
  // A run that nobody follows any more yields to one that somebody wants to see, whatever the policy.
  if (!isReplaced && !mayBeUnfollowed) return first;
  await options.confirm(launch);
  const command = { type: "stop", reason: "replaced", ifUnfollowed: !isReplaced } as const;
  if (!(await runs.send(busy, command))) return runs.open(key, init);
  await ended(busy, { ...options, patienceMs: isReplaced ? patienceMs : askMs });
  return runs.open(key, init);
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
