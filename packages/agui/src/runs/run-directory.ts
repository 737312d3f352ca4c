import type { RunStatus, SessionStore } from "@holodeck/agui-core";
import type { LiveRun } from "@holodeck/agui-core/internal";
import type { RunRegistry } from "./registry.ts";
import { stopped } from "./thread-run.ts";

/** A run as the host of a handler sees it. */
export interface RunInfo {
  readonly runId: string;
  readonly threadId: string;
  readonly agentId: string;
  readonly principal: string;
  readonly status: RunStatus;
}

/** The runs of this process, for the host of a handler. */
export interface RunDirectory {
  get(runId: string): RunInfo | undefined;
  list(): readonly RunInfo[];
  /** Stops a run, in whichever process it is. False when no such run is going. */
  stop(runId: string, options?: { principal?: string }): Promise<boolean>;
}

export function createRunDirectory(runs: RunRegistry, sessions: SessionStore): RunDirectory {
  const find = (runId: string): LiveRun | undefined =>
    runs.live.values().find((run) => run.context.runId === runId);
  return {
    get(runId) {
      const run = find(runId);
      return run && toInfo(run);
    },
    list: () => runs.live.values().map(toInfo),
    async stop(runId, { principal = "" } = {}) {
      const run = find(runId);
      run?.post(() => run.abort(stopped()));
      if (run) return true;
      const record = await sessions.runs.find(principal, runId);
      return record?.status === "running" && (await sessions.runs.requestStop(record));
    },
  };
}

function toInfo({ context, status }: LiveRun): RunInfo {
  const { runId, threadId, agentId, principal } = context;
  return { runId, threadId, agentId, principal: principal?.id ?? "", status };
}
