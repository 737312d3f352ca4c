import { AgentError, ulid } from "@holodeck/agui-core";

const alphabet = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
const letter = "[0-9A-HJKMNP-TV-Z]";
const keyLength = 16;
const idLength = 26;
const idPattern = new RegExp(`^resp_(${letter}{${keyLength}})(${letter}{${idLength}})?$`);
const itemPattern = new RegExp(`^(?:msg|rs|fc)_(${letter}{${keyLength}})_(\\d{1,6})$`);
const ulidPattern = new RegExp(`^${letter}{${idLength}}$`);

/** The ids of a new response: the client's, and that of its run. */
export interface NewResponse {
  readonly responseId: string;
  readonly runId: string;
}

/**
 * The ids of a response on a thread. The id begins with a random key, from which that of the run follows. The id of a
 * thread that this server has named is in it, too, so that the thread is found when the log of the run was removed;
 * neither of them can be read there.
 */
export function newResponseOn(threadId: string): NewResponse {
  const key = randomKey();
  return { responseId: toResponseId(key, threadId), runId: runOfKey(key) };
}

/** Whether a response with this id can be one of the thread. */
export function isOnThread(id: string, threadId: string): boolean {
  return id === toResponseId(idPattern.exec(id)?.[1] ?? "", threadId);
}

function toResponseId(key: string, threadId: string): string {
  return `resp_${key}${ulidPattern.test(threadId) ? mixed(threadId, `thread ${key}`) : ""}`;
}

/** The run of a response. It is looked up among the runs of the caller. Throws a 404 for what is no id of one. */
export function runOfResponse(id: string): string {
  const key = idPattern.exec(id)?.[1];
  if (key === undefined) throw responseNotFound(id);
  return runOfKey(key);
}

/** The thread of a response, also when its log was removed. Undefined for a thread that a client has named. */
export function threadOfResponse(id: string): string | undefined {
  const [, key, thread] = idPattern.exec(id) ?? [];
  return thread && mixed(thread, `thread ${key}`);
}

/** The id of an item of the output; the response and the place in its output can be found by it. */
export function toItemId(kind: "msg" | "rs" | "fc", responseId: string, index: number): string {
  return `${kind}_${idPattern.exec(responseId)?.[1] ?? ""}_${index}`;
}

/** Where an item is found. Undefined for an id of another kind. */
export function placeOfItem(id: string): { runId: string; index: number } | undefined {
  const [, key, index] = itemPattern.exec(id) ?? [];
  return key ? { runId: runOfKey(key), index: Number(index) } : undefined;
}

export function responseNotFound(id: string, path?: string): AgentError {
  const message = `Response with id '${id}' not found.`;
  return new AgentError("run-not-found", message, path ? { errors: [{ path, message }] } : {});
}

// The letters of a ULID that are chance.
function randomKey(): string {
  return ulid().slice(-keyLength);
}

function runOfKey(key: string): string {
  return mixed("0".repeat(idLength), `run ${key}`);
}

/** Each letter with one that follows from the seed. Done twice, it is the text again. */
function mixed(text: string, seed: string): string {
  let [a, b] = [0x6a09e667, 0x3c6ef372];
  const mix = (input: number): number => {
    a = Math.imul(a ^ input ^ (b >>> 15), 0x9e3779b1);
    b = Math.imul(b + a, 0x85ebca77) ^ (a >>> 13);
    return b;
  };
  for (let at = 0; at < seed.length; at++) mix(seed.charCodeAt(at));
  let letters = "";
  for (let at = 0; at < text.length; at++) {
    letters += alphabet[alphabet.indexOf(text[at]!) ^ ((mix(at) >>> 24) & 31)]!;
  }
  return letters;
}
