import { isOpaqueId } from "@holodeck/agui-core";

const form = /^[0-9A-HJKMNP-TV-Z]{26}~(.+)$/s;

/**
 * The id of a run that continues an assistant message. It contains that message's id, so that every
 * follower of the run, in any process, sends it under the same id.
 */
export function toRunId(id: string, continues: string | undefined): string {
  if (continues === undefined) return id;
  const runId = `${id}~${continues}`;
  // A client's id may be too long or hold what an id of ours may not; then it is not repeated.
  return isOpaqueId(runId) ? runId : id;
}

/** The id of the message that a run continues, if it continues one. */
export function continuedBy(runId: string): string | undefined {
  return form.exec(runId)?.[1];
}
