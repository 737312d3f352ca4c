import { isOpaqueId } from "@holodeck/agui-core";

const uuid = "[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}";
const key = new RegExp(`^${uuid}$`, "i");
const form = new RegExp(`^(?:[0-9A-HJKMNP-TV-Z]{26}|${uuid})~(.+)$`, "s");

/** A UUID that a client sends with every copy of a request, so that the request starts one run. */
export function readKey(given: string | undefined): string | undefined {
  return given !== undefined && key.test(given) ? given.toLowerCase() : undefined;
}

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
