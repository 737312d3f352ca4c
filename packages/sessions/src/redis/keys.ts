import type { BlobKey, RunKey, ThreadKey } from "@holodeck/agui-core";

/** The names of a thread's keys: all in one slot of a cluster. */
export interface ThreadKeys {
  readonly session: string;
  readonly lease: string;
  /** The runs whose keys exist, so that a deleted thread takes them along. */
  readonly runs: string;
}

export interface RunKeys {
  readonly record: string;
  readonly log: string;
  readonly commands: string;
  readonly watch: string;
}

export interface Keys {
  thread(key: ThreadKey): ThreadKeys;
  run(key: RunKey): RunKeys;
  /** Stores the thread of a principal's run. */
  pointer(principal: string, runId: string): string;
  /** A principal's threads, all or those of one agent, by their last activity. */
  list(principal: string, agentId?: string): string;
  bucket(name: string): string;
  blob(key: BlobKey): string;
  /** Wakes a blocked reader of one process; with a tag, one of that slot. */
  wake(process: string, tag?: string): string;
  /** Every session by its expiry, for `maxSessions`. */
  readonly sessions: string;
  /** Bytes of all blobs, by when they expire. */
  readonly blobs: string;
}

/** Builds keys of encoded parts: no id can reach another thread's key or move its own to another slot. */
export function createKeys(prefix: string): Keys {
  if (/[{}]/.test(prefix))
    throw new TypeError("A prefix must not contain braces: they select the hash slot.");
  const tag = (key: ThreadKey): string =>
    `${prefix}:{${encodePart(key.principal)}:${encodePart(key.threadId)}}`;
  return {
    thread(key) {
      const base = tag(key);
      return { session: `${base}:session`, lease: `${base}:lease`, runs: `${base}:runs` };
    },
    run(key) {
      const base = tag(key);
      const run = encodePart(key.runId);
      return {
        record: `${base}:run:${run}`,
        log: `${base}:log:${run}`,
        commands: `${base}:cmd:${run}`,
        watch: `${base}:watch:${run}`,
      };
    },
    pointer: (principal, runId) => `${prefix}:run:${encodePart(principal)}:${encodePart(runId)}`,
    list: (principal, agentId) =>
      agentId === undefined
        ? `${prefix}:list:${encodePart(principal)}`
        : `${prefix}:agent:${encodePart(principal)}:${encodePart(agentId)}`,
    blob: ({ principal, id }) => `${prefix}:blob:${encodePart(principal)}:${encodePart(id)}`,
    bucket: (name) => `${prefix}:bucket:${encodePart(name)}`,
    wake: (process, tag) => `${prefix}:${tag === undefined ? "" : `{${tag}}:`}wake:${process}`,
    sessions: `${prefix}:sessions`,
    blobs: `${prefix}:blobs`,
  };
}

/** One to one, also for what UTF-8 cannot represent: a lone surrogate is a valid id. */
export function encodePart(part: string): string {
  return part.replace(/[^\w.-]/g, (unit) => `%${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

export function decodePart(part: string): string {
  return part.replace(/%([0-9a-f]{4})/g, (_, code: string) =>
    String.fromCharCode(Number.parseInt(code, 16)),
  );
}
