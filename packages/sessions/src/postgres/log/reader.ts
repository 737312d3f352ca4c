import type { LogEntry, RunKey, RunRecord, RunStatus, ThreadKey } from "@holodeck/agui-core";
import { fromText, toKeyText } from "../../kit/storage/key-text.ts";
import { lostEvent } from "../../kit/runs/lost-run.ts";
import { toRunRecord } from "../../kit/runs/run-record.ts";
import type { ServerTime } from "../../kit/storage/server-time.ts";
import type { Connection } from "../client/connection.ts";

/** A part of a log, and its run at that moment. */
export interface LogPage {
  readonly fence: number;
  readonly first: number;
  readonly last: number;
  readonly status: RunStatus;
  /** Milliseconds for which its owner is taken to live. */
  readonly left: number;
  readonly entries: readonly LogEntry[];
}

/** Reads records and logs; a run whose owner is found dead is ended first. */
export interface LogReader {
  find(principal: string, runId: string): Promise<RunRecord | undefined>;
  active(key: ThreadKey): Promise<RunRecord | undefined>;
  read(key: RunKey, after: number, limit: number): Promise<LogPage | undefined>;
  page(fence: number, after: number, limit: number): Promise<LogPage | undefined>;
  /** Counts a follower, and returns the fence of its run. */
  watch(
    key: RunKey,
    by: { readonly follower: string; readonly process: string; readonly watchMs: number },
  ): Promise<number | undefined>;
}

/** A run as the functions of the schema return it. */
interface FoundRun {
  readonly fence: number;
  readonly principal: string;
  readonly threadId: string;
  readonly runId: string;
  readonly agentId: string;
  readonly protocolVersion: string | null;
  readonly status: RunStatus;
  readonly first: number;
  readonly last: number;
  readonly left: number;
  /** The time of the server. */
  readonly now: number;
}

export const lostText: string = JSON.stringify(lostEvent);

export function createLogReader(
  connection: Connection,
  runLogMs: number,
  time: ServerTime,
): LogReader {
  const expected = (): number | null => time.expected() ?? null;

  function toPage(rows: readonly (string | null)[]): LogPage | undefined {
    const [head, ...texts] = rows;
    if (!head) return undefined;
    const { fence, first, last, status, left, now } = JSON.parse(head) as FoundRun;
    time.sample(now);
    return {
      fence,
      first,
      last,
      status,
      left,
      entries: texts.map((text) => JSON.parse(text!) as LogEntry),
    };
  }

  return {
    async find(principal, runId) {
      const ids = [toKeyText(principal), null, toKeyText(runId)];
      const found = await connection.one("find_run", ...ids, runLogMs, lostText, expected());
      return found === null ? undefined : recordFrom(found, time);
    },
    async active({ principal, threadId }) {
      const ids = [toKeyText(principal), toKeyText(threadId)];
      const found = await connection.one("active_run", ...ids, lostText, expected());
      return found === null ? undefined : recordFrom(found, time);
    },
    async read(key, after, limit) {
      const count = Number.isFinite(limit) ? limit : null;
      const part = [after, count, runLogMs, lostText, expected()];
      return toPage(await connection.call("read_run", ...runTexts(key), ...part));
    },
    page: async (fence, after, limit) =>
      toPage(await connection.call("read_page", fence, after, limit, lostText, expected())),
    async watch(key, { follower, process, watchMs }) {
      const by = [follower, process, watchMs, runLogMs, lostText, expected()];
      const fence = await connection.one("watch", ...runTexts(key), ...by);
      return fence === null ? undefined : Number(fence);
    },
  };
}

/** The ids of a run as the functions of the schema take them. */
export function runTexts({ principal, threadId, runId }: RunKey): [string, string, string] {
  return [toKeyText(principal), toKeyText(threadId), toKeyText(runId)];
}

/** The record that a function of the schema returned as JSON. */
export function recordFrom(json: string, time: ServerTime): RunRecord {
  const found = JSON.parse(json) as FoundRun;
  time.sample(found.now);
  const { agentId, protocolVersion: version } = found;
  const key = {
    principal: fromText(found.principal),
    threadId: fromText(found.threadId),
    runId: fromText(found.runId),
  };
  const protocolVersion = version === null ? undefined : fromText(version);
  return toRunRecord(key, { ...found, agentId: fromText(agentId), protocolVersion });
}
