import { AgentError, ulid } from "@holodeck/agui-core";

// A ULID, or two of them: the thread and the run.
const idPattern = /^resp_([0-9A-HJKMNP-TV-Z]{26}(?:[0-9A-HJKMNP-TV-Z]{26})?)$/;
const itemPattern = /^(?:msg|rs|fc)_([0-9A-HJKMNP-TV-Z]{26,52})_(\d{1,6})$/;
const ulidLength = 26;

/** A response is a run; its id is that of the run. It is looked up among the runs of the caller. */
export function toResponseId(runId: string): string {
  return `resp_${runId}`;
}

/** The run of a response. Throws a 404 for what was never the id of one. */
export function runOfResponse(id: string): string {
  const runId = idPattern.exec(id)?.[1];
  if (runId === undefined) throw responseNotFound(id);
  return runId;
}

/** A new run on a thread that this server has named: the id of the run has the thread's in front. */
export function newRunOn(threadId: string): string {
  return isUlid(threadId) ? threadId + ulid() : ulid();
}

/** The thread of such a run, also when its log was removed. Undefined for a thread that a client has named. */
export function threadOfRun(runId: string): string | undefined {
  return runId.length === 2 * ulidLength ? runId.slice(0, ulidLength) : undefined;
}

/** The id of an item of the output; the run and the place in its output can be read from it. */
export function toItemId(kind: "msg" | "rs" | "fc", runId: string, index: number): string {
  return `${kind}_${runId}_${index}`;
}

/** Where an item is found. Undefined for an id of another kind. */
export function placeOfItem(id: string): { runId: string; index: number } | undefined {
  const found = itemPattern.exec(id);
  return found ? { runId: found[1]!, index: Number(found[2]) } : undefined;
}

export function responseNotFound(id: string, path?: string): AgentError {
  const message = `Response with id '${id}' not found.`;
  return new AgentError("run-not-found", message, path ? { errors: [{ path, message }] } : {});
}

function isUlid(id: string): boolean {
  return /^[0-9A-HJKMNP-TV-Z]{26}$/.test(id);
}
