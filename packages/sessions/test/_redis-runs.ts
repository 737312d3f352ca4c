import { EventType, isAgentError } from "@holodeck/agui-core";
import type { BaseEvent, Lease, LogEntry, RunKey, RunLog } from "@holodeck/agui-core";
import { vi } from "vitest";

const init = { agentId: "agent" };
// As long as a busy machine may take. Not `expect.poll`: it is for tests alone, and a cluster is waited for
// before there are any.
const patience = { timeout: 30_000, interval: 5 };

export const until = (condition: () => unknown): Promise<void> =>
  vi.waitFor(async () => {
    if (!(await condition())) throw new Error("It did not happen.");
  }, patience);

export function mark(offset: number, value: unknown = offset): LogEntry {
  const event = { type: EventType.CUSTOM, name: "mark", value } as BaseEvent;
  return { from: offset, to: offset, at: offset, event };
}

export function ending(offset: number): LogEntry {
  return { from: offset, to: offset, at: offset, event: { type: EventType.RUN_FINISHED } };
}

export async function open(runs: RunLog, key: RunKey): Promise<Lease> {
  const lease = await runs.open(key, init);
  if ("busy" in lease) throw new Error(`Busy with run "${lease.busy.runId}".`);
  return lease;
}

export interface Following {
  readonly entries: LogEntry[];
  readonly ended: Promise<void>;
  leave(): void;
}

export function follow(runs: RunLog, key: RunKey, after = 0): Following {
  const entries: LogEntry[] = [];
  const left = new AbortController();
  const read = async (): Promise<void> => {
    for await (const batch of runs.follow(key, after, left.signal)) entries.push(...batch);
  };
  const ended = read();
  ended.catch(() => undefined);
  return { entries, ended, leave: () => left.abort() };
}

export function offsets(entries: readonly LogEntry[]): number[] {
  return entries.flatMap(({ from, to }) =>
    Array.from({ length: to - from + 1 }, (_, index) => from + index),
  );
}

export async function codeOf(work: () => unknown): Promise<string | undefined> {
  try {
    await work();
  } catch (error) {
    if (isAgentError(error)) return error.code;
    throw error;
  }
  return undefined;
}
