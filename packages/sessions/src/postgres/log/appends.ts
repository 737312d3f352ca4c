import type { Clock, Lease, LogEntry } from "@holodeck/agui-core";
import type { OwnedRuns } from "../../kit/runs/owned-runs.ts";
import { doesNotFollow } from "../../kit/storage/store-errors.ts";
import { toArrayText } from "../client/array-text.ts";
import type { Connection } from "../client/connection.ts";
import { joinBatches, toBatch } from "./batch.ts";
import type { Batch } from "./batch.ts";
import { createRecentBatches } from "./recent-batches.ts";

export interface Appends {
  append(lease: Lease, entries: readonly LogEntry[]): Promise<void>;
  /**
   * Appends again what the server has lost after an offset: up to another, or everything. False when nothing is lost,
   * or when that is not possible.
   */
  restore(lease: Lease, last: number, before?: number): Promise<boolean>;
  forget(fence: number): void;
}

export interface AppendsOptions {
  readonly connection: Connection;
  readonly owned: OwnedRuns<number>;
  readonly clock: Clock;
  readonly leaseMs: number;
  readonly runLogEvents: number;
  readonly runLogBytes: number;
  /** A name for one write, so that it is recognized when it is sent twice. */
  readonly writeId: () => string;
}

interface Waiting {
  readonly fence: number;
  readonly batch: Batch;
  readonly done: string;
  resolve(answer: string): void;
  reject(reason: unknown): void;
}

// So many connections of the host's pool at most; what comes meanwhile is one call.
const callsInFlight = 2;
const runsPerCall = 64;
const lengthPerCall = 1024 * 1024;

/** Appends of all runs of this process: what waits at the same time is one statement and one commit. */
export function createAppends(options: AppendsOptions): Appends {
  const { connection, owned, clock, leaseMs, runLogEvents, runLogBytes, writeId } = options;
  const recent = createRecentBatches(clock);
  const bounds = [leaseMs, runLogEvents, runLogBytes];
  let waiting: Waiting[] = [];
  let inFlight = 0;
  let isScheduled = false;

  function write(fence: number, batch: Batch): Promise<string> {
    return new Promise((resolve, reject) => {
      waiting.push({ fence, batch, done: writeId(), resolve, reject });
      if (isScheduled) return;
      isScheduled = true;
      // After everything that this turn of the event loop brings.
      queueMicrotask(() => {
        isScheduled = false;
        flush();
      });
    });
  }

  function flush(): void {
    while (waiting.length > 0 && inFlight < callsInFlight) {
      const group = takeGroup();
      inFlight++;
      void send(group).finally(() => {
        inFlight--;
        flush();
      });
    }
  }

  function takeGroup(): Waiting[] {
    let length = 0;
    const fences = new Set<number>();
    for (const { fence, batch } of waiting) {
      // One batch of a run per statement: it is checked against what is stored before the statement.
      if (fences.size === runsPerCall || fences.has(fence)) break;
      if (fences.size > 0 && length + batch.length > lengthPerCall) break;
      length += batch.length;
      fences.add(fence);
    }
    return waiting.splice(0, fences.size);
  }

  async function send(group: readonly Waiting[]): Promise<void> {
    const rows = group.flatMap(({ fence, batch }) => batch.rows.map((row) => ({ ...row, fence })));
    try {
      const answers = await connection.call(
        "append",
        toArrayText(group.map(({ fence }) => fence)),
        toArrayText(group.map(({ batch }) => batch.first)),
        toArrayText(group.map(({ batch }) => batch.last)),
        toArrayText(group.map(({ done }) => done)),
        toArrayText(rows.map(({ fence }) => fence)),
        toArrayText(rows.map(({ first }) => first)),
        toArrayText(rows.map(({ last }) => last)),
        toArrayText(rows.map(({ at }) => at)),
        toArrayText(rows.map(({ cuts }) => cuts)),
        toArrayText(rows.map(({ event }) => event)),
        ...bounds,
        group.some(({ batch }) => batch.isDurable) ? 1 : 0,
      );
      for (const [index, one] of group.entries()) one.resolve(answers[index] ?? "lost");
    } catch (error) {
      for (const { reject } of group) reject(error);
    }
  }

  async function store(lease: Lease, batch: Batch): Promise<string> {
    try {
      return await write(lease.fence, batch);
    } catch (error) {
      owned.wrote(lease, "silent");
      throw error;
    }
  }

  async function restore(
    lease: Lease,
    last: number,
    before: number = recent.last(lease.fence) + 1,
  ): Promise<boolean> {
    const missing = recent.between(lease.fence, last, before);
    if (!missing) return false;
    const answer = await store(lease, joinBatches(missing));
    // Another call may have done it in the same moment.
    return answer === "ok" || Number(answer) >= before - 1;
  }

  return {
    async append(lease, entries) {
      const batch = toBatch(lease.runId, entries);
      let answer = await store(lease, batch);
      if (isBehind(answer, batch.first) && (await restore(lease, Number(answer), batch.first))) {
        answer = await store(lease, batch);
      }
      if (answer === "lost") throw owned.lost(lease);
      if (answer !== "ok") {
        owned.wrote(lease, "refused");
        throw doesNotFollow(lease.runId, batch.first, answer);
      }
      owned.wrote(lease, "ok");
      recent.add(lease.fence, batch);
    },
    restore,
    forget: recent.forget,
  };
}

/** Whether the server has less than this process has written. */
export function isBehind(answer: string, first: number): boolean {
  return answer !== "ok" && answer !== "lost" && Number(answer) < first - 1;
}
