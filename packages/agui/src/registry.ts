import type { LiveRun, ProtocolHost, RunSettings } from "@holodeck/agui-core";
import type { Agents } from "./agents.ts";
import type { Settings } from "./options.ts";
import type { Resources } from "./resources.ts";

/** The runs of this process, by principal and run id. */
export interface RunRegistry {
  readonly live: Map<string, LiveRun>;
  /** Ended, but with clients that have not taken everything yet. */
  readonly lingering: Set<LiveRun>;
}

export interface HostOptions {
  readonly settings: Settings;
  readonly agents: Agents;
  readonly runs: RunRegistry;
  readonly runSettings: RunSettings;
  readonly resources: Resources | undefined;
  readonly info: ProtocolHost["info"];
  /** False: the handler has begun to close. */
  readonly onRun: () => boolean;
}

export function liveId(key: { principal: string; runId: string }): string {
  return JSON.stringify([key.principal, key.runId]);
}
