import { ulid } from "@holodeck/agui-core";
import { createHandleSet } from "@holodeck/agui-core/internal";
import type { Awaitable, Json, ProtocolHost, SessionStore } from "@holodeck/agui-core";
import type { HandleSet, LiveRun, RunSettings } from "@holodeck/agui-core/internal";
import type { Agents } from "./agents.ts";
import type { Settings } from "../options/options.ts";
import type { Resources } from "./resources.ts";

/** The runs of this process. */
export interface RunRegistry {
  /** By principal and run id. */
  readonly live: LiveRuns;
  /** Ended, but with clients that have not taken everything yet. */
  readonly lingering: HandleSet<LiveRun>;
}

interface LiveRuns {
  get(id: string): LiveRun | undefined;
  set(id: string, run: LiveRun): void;
  delete(id: string): void;
  values(): LiveRun[];
  entries(): [id: string, run: LiveRun][];
  readonly size: number;
}

export function createRegistry(): RunRegistry {
  return { live: createLiveRuns(), lingering: createHandleSet() };
}

// In boxes, for the reason that `createBag` gives.
function createLiveRuns(): LiveRuns {
  const boxes = new Map<string, { run: LiveRun | undefined }>();
  return {
    get: (id) => boxes.get(id)?.run,
    set: (id, run) => void boxes.set(id, { run }),
    delete(id) {
      const box = boxes.get(id);
      if (box) box.run = undefined;
      boxes.delete(id);
    },
    values: () => [...boxes.values()].flatMap(({ run }) => run ?? []),
    entries: () => [...boxes].flatMap(([id, { run }]) => (run ? [[id, run]] : [])),
    get size() {
      return boxes.size;
    },
  };
}

export interface HostOptions {
  readonly settings: Settings;
  /** The store for those who read threads and follow runs. */
  readonly readable: SessionStore;
  readonly agents: Agents;
  readonly runs: RunRegistry;
  readonly runSettings: RunSettings;
  readonly resources: Resources | undefined;
  readonly info: ProtocolHost["info"];
  readonly discover: () => Awaitable<Json>;
  /** False: the handler has begun to close. */
  readonly onRun: () => boolean;
}

/** Without a principal an id is its own name: nothing is put together and kept for it. */
export function liveId({ principal, runId }: { principal: string; runId: string }): string {
  if (principal === "" && !runId.startsWith("[")) return runId;
  return JSON.stringify([principal, runId]);
}

/** The id of an ephemeral run, which may have the id of a thread's run in its input. */
export function ephemeralId(): string {
  return `[${ulid()}`;
}
