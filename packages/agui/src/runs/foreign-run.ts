import { collectReplay, replayReply } from "@holodeck/agui-core/internal";
import type { ActiveRun, RunLog, RunRecord, Session } from "@holodeck/agui-core";
import type { RunSettings } from "@holodeck/agui-core/internal";

/** A run that this process does not own, and what is needed to follow it. */
export interface ForeignRun {
  readonly runs: RunLog;
  readonly record: RunRecord;
  /** As it was read before the log; needed by clients that join. */
  readonly session: Session | undefined;
  readonly settings: RunSettings;
}

/** A run that is active in another process, or has ended: its clients receive it from its log. */
export function toForeign(run: ForeignRun): ActiveRun {
  const { record } = run;
  return {
    record,
    stream: (encoder, from, headers = {}) =>
      replayReply({ encoder, headers }, { ...run, from: from === "start" ? 0 : from }),
    collect: (onEvent) => collectReplay(run, onEvent),
  };
}
