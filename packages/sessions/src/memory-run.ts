import { AgentError } from "@holodeck/agui-core";
import type {
  LazyAbort,
  LogEntry,
  RunCommand,
  RunKey,
  RunRecord,
  RunStatus,
} from "@holodeck/agui-core";
import { cutAfter } from "./merge.ts";
import type { StoredEntry } from "./merge.ts";

export interface StoredRun {
  readonly key: RunKey;
  readonly agentId: string;
  readonly protocolVersion: string | undefined;
  readonly fence: number;
  /** The next five only while it runs, and only if anybody asked. */
  lost: LazyAbort | undefined;
  onLost: (() => void) | undefined;
  listeners: Set<(command: RunCommand) => void> | undefined;
  waiters: Set<() => void> | undefined;
  status: RunStatus;
  /** Commands from before the owner listened; absent once it does. */
  unheard: RunCommand[] | undefined;
  entries: StoredEntry[];
  first: number;
  last: number;
  bytes: number;
  closedAt: number;
  followers: number;
}

// What an entry costs besides its text: the objects around it.
const entryOverhead = 160;

/** What others may know of a run. */
export function toRecord(run: StoredRun): RunRecord {
  const { key, agentId, protocolVersion, status, first, last } = run;
  const { principal, threadId, runId } = key;
  return {
    principal,
    threadId,
    runId,
    format: 1,
    agentId,
    protocolVersion,
    status,
    first,
    last,
  };
}

/** Copies of the entries after an offset. */
export function slice(run: StoredRun, after: number, limit: number): readonly LogEntry[] {
  if (after < run.first - 1) {
    throw new AgentError(
      "replay-gone",
      `Run "${run.key.runId}" can be read from offset ${run.first}; ${after + 1} was trimmed.`,
    );
  }
  const { entries } = run;
  let low = 0;
  let high = entries.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (entries[middle]!.to > after) high = middle;
    else low = middle + 1;
  }
  const found = entries.slice(low, low + limit);
  // Copies: the newest entry may still grow while a reader holds it.
  return found.map((entry) => {
    const cut = cutAfter(entry, after);
    return { ...cut, event: { ...cut.event }, cuts: cut.cuts && [...cut.cuts] };
  });
}

/** About how many bytes an entry takes. */
export function cost({ event, cuts }: StoredEntry): number {
  const { delta } = event;
  if (typeof delta === "string") return entryOverhead + delta.length * 2 + (cuts?.length ?? 0) * 8;
  return entryOverhead + (JSON.stringify(event)?.length ?? 0) * 2;
}

/**
 * Merged text is a tree of its pieces until somebody looks inside. Of small pieces that is ten times
 * the memory of their characters; large ones are better shared with the message they also stand in.
 */
export function flatten({ event, cuts }: StoredEntry): void {
  const { delta } = event;
  if (cuts && typeof delta === "string" && delta.length < cuts.length * 256) delta.charCodeAt(0);
}

/** Resolves at the next news of a run, or when its reader leaves. */
export function woken(waiters: Set<() => void>, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const wake = (): void => {
      waiters.delete(wake);
      signal.removeEventListener("abort", wake);
      resolve();
    };
    waiters.add(wake);
    signal.addEventListener("abort", wake, { once: true });
  });
}
