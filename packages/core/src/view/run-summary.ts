import type { BaseEvent } from "@ag-ui/core";
import type { RunView } from "./run-view.ts";
import type { Json } from "../contract/agent.ts";
import type { RunStatus } from "../contract/run-log.ts";
import type { AskedCall } from "../contract/tools.ts";

/** How a run ended and what is kept of it. */
export interface RunSummary {
  readonly status: RunStatus;
  readonly terminal: BaseEvent;
  readonly messages: RunView["messages"];
  readonly state: unknown;
  readonly times: RunView["times"];
  readonly metadata: Readonly<Json>;
  /** The calls that people were asked about, by the id of the interrupt. */
  readonly asked: ReadonlyMap<string, AskedCall>;
  /** The calls of the run that are for the client to answer, in order. */
  readonly pendingCalls: readonly string[];
  /** False: the run was given up before its agent was called. */
  readonly hasBegun: boolean;
}
