import type { LogEntry, RunKey, RunRecord, RunStatus } from "@holodeck/agui-core";
import { readableAfter, toRunRecord } from "../kit/runs/run-record.ts";
import type { ServerTime } from "../kit/storage/server-time.ts";
import type { RedisConnection } from "./client/connection.ts";
import { encodePart } from "./keys.ts";
import type { Keys } from "./keys.ts";
import { unpackEntries } from "./pack.ts";
import { runScriptKeys } from "./scripts/prelude.ts";
import { loseScript, peekScript, readScript } from "./scripts/run-scripts.ts";

/** A run as the server has it now. */
export interface FoundRun {
  readonly record: RunRecord;
  readonly fence: string;
  /** Milliseconds for which its owner is taken to live. */
  readonly leaseLeft: number;
}

interface LogPage {
  readonly fence: string;
  readonly status: RunStatus;
  readonly last: number;
  readonly entries: readonly LogEntry[];
}

/** Reads records and logs, and ends a run whose owner is found dead. */
export interface LogReader {
  /** A run that claims to be running does. */
  peek(key: RunKey): Promise<FoundRun | undefined>;
  /**
   * Entries after an offset: at least so many if there are, to the end of what was written together. Throws
   * `replay-gone` when some are missing.
   */
  page(key: RunKey, after: number, limit: number): Promise<LogPage | undefined>;
  /** Ends the run if its lease ran out; answers how long it still holds. */
  lose(key: RunKey, fence: string): Promise<number>;
}

export interface LogReaderOptions {
  readonly connection: RedisConnection;
  readonly keys: Keys;
  readonly time: ServerTime;
  readonly runLogMs: number;
  /** The event that ends a lost run, as JSON. */
  readonly lostEvent: string;
}

export function createLogReader(options: LogReaderOptions): LogReader {
  const { connection, keys, time, runLogMs, lostEvent } = options;
  const expected = (): number | "" => time.expected() ?? "";

  async function look(key: RunKey): Promise<FoundRun | undefined> {
    const scriptKeys = [keys.thread(key).lease, keys.run(key).record];
    const answer = await connection.run(peekScript, { keys: scriptKeys, args: [expected()] });
    const [fence, status, first, last, agentId, version, left, now] = answer as string[];
    if (!fence) return undefined;
    time.sample(Number(now));
    const record = toRunRecord(key, {
      agentId: agentId!,
      protocolVersion: version || undefined,
      status: status as RunStatus,
      first: Number(first),
      last: Number(last),
    });
    return { record, fence, leaseLeft: Number(left) };
  }

  async function lose(key: RunKey, fence: string): Promise<number> {
    const scriptKeys = runScriptKeys(keys.thread(key), keys.run(key));
    const args = [encodePart(key.runId), fence, runLogMs, lostEvent, expected()];
    return Number(await connection.run(loseScript, { keys: scriptKeys, args }));
  }

  return {
    lose,
    async peek(key) {
      for (;;) {
        const found = await look(key);
        if (found?.record.status !== "running" || found.leaseLeft > 0) return found;
        await lose(key, found.fence);
      }
    },
    async page(key, after, limit) {
      const { record, log } = keys.run(key);
      const call = { keys: [record, log], args: [after, limit] };
      const answer = (await connection.run(readScript, call)) as [
        string?,
        RunStatus?,
        string?,
        string?,
        string[]?,
      ];
      const [fence, status, first, last, packs] = answer;
      if (!fence) return undefined;
      const entries = unpackEntries(packs!, after);
      const found = { first: Number(first), last: Number(last), entries };
      return {
        fence,
        status: status!,
        last: found.last,
        entries: readableAfter(key.runId, found, after),
      };
    },
  };
}
