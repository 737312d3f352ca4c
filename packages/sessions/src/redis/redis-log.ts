import { ulid } from "@holodeck/agui-core";
import type {
  AgentError,
  Clock,
  Lease,
  LogEntry,
  RunCommand,
  RunKey,
  RunLog,
  ThreadKey,
} from "@holodeck/agui-core";
import { lostEvent } from "../kit/runs/lost-run.ts";
import { assertConsecutive } from "../kit/runs/assert-follows.ts";
import { doesNotFollow, runNotFound, storeUnavailable } from "../kit/storage/store-errors.ts";
import type { ServerTime } from "../kit/storage/server-time.ts";
import { createWriteIds } from "../kit/storage/write-ids.ts";
import type { RedisCommands } from "./client/commands.ts";
import type { RedisConnection, RedisScript, ScriptCall } from "./client/connection.ts";
import { createLogFollowers } from "./tail/follow.ts";
import { createGate } from "./client/gate.ts";
import { decodePart, encodePart } from "./keys.ts";
import type { Keys } from "./keys.ts";
import { createLeases } from "./leases.ts";
import { packEntries } from "./pack.ts";
import { createOpening } from "./opening.ts";
import { createLogReader } from "./reader.ts";
import { appendScript, closeScript } from "./scripts/owner-scripts.ts";
import { runScriptKeys } from "./scripts/prelude.ts";
import { deleteScript, sendScript, watchScript } from "./scripts/run-scripts.ts";
import { createTails } from "./tail/tails.ts";

export interface RedisLogOptions {
  readonly commands: RedisCommands;
  readonly connection: RedisConnection;
  readonly keys: Keys;
  readonly clock: Clock;
  readonly time: ServerTime;
  readonly commandMs: number;
  readonly leaseMs: number;
  readonly ttlMs: number;
  readonly runLogEvents: number;
  readonly runLogBytes: number;
  readonly runLogMs: number;
  /** Called when a run starts and on every renewal, for other data that must live as long. */
  readonly onRenew: (key: ThreadKey) => Promise<unknown>;
}

export interface RedisLog extends RunLog {
  /** Whether no other process has ended the run or taken its thread. */
  isHeld(lease: Lease): Promise<boolean>;
  /** The owner of this lease has to stop: the run is not its own. */
  lost(lease: Lease): AgentError;
  /** The session, its runs and their logs. False: there was none. */
  deleteThread(key: ThreadKey): Promise<boolean>;
  shutdown(): void;
}

// More at once only makes every one of them slower.
const appendsInFlight = 16;

/** Run logs on a Redis that several processes share. */
export function createRedisLog(options: RedisLogOptions): RedisLog {
  const { connection, keys, clock, time, leaseMs, ttlMs, runLogMs, runLogEvents, runLogBytes } =
    options;
  // Unlike that of a run that has ended, the log of one whose process died is needed until its loss is noticed.
  const keepMs = leaseMs + Math.max(runLogMs, ttlMs);
  const packBounds = {
    // A log is trimmed by whole packs, so one must not be most of it.
    count: Math.max(1, Math.floor(runLogEvents / 4)),
    length: Math.max(1, Math.min(64 * 1024, runLogBytes / 4)),
  };
  const appendBounds = [leaseMs, keepMs, runLogEvents, runLogBytes];
  const lostJson = JSON.stringify(lostEvent);
  const gate = createGate(appendsInFlight);
  const self = ulid();
  const writeId = createWriteIds(self);
  const reader = createLogReader({ connection, keys, time, runLogMs, lostEvent: lostJson });
  const open = createOpening({ ...options, reader, keepMs, lostEvent: lostJson });
  const tail = createTails({
    ...options,
    wakeKey: (tag) => keys.wake(self, tag),
    onRestored() {
      leases.renew();
      followers.restored();
    },
  });
  const followers = createLogFollowers({ connection, keys, tail, reader, clock, leaseMs });
  const leases = createLeases({
    ...options,
    tail,
    keepMs,
    onRenew: (key) =>
      Promise.all([
        connection.call("PEXPIRE", keys.pointer(key.principal, key.runId), keepMs),
        options.onRenew(key),
      ]),
  });

  async function write(lease: Lease, entries: readonly LogEntry[]): Promise<void> {
    const run = keys.run(lease);
    assertConsecutive(lease.runId, entries);
    const packs = packEntries(entries, packBounds);
    await store(lease, entries[0]!.from, {
      script: appendScript,
      keys: [keys.thread(lease).lease, run.record, run.log],
      args: [
        encodePart(lease.runId),
        lease.fence,
        entries[0]!.from,
        entries.at(-1)!.to,
        ...appendBounds,
        writeId(),
        ...packs.flatMap(({ from, json, count }) => [from, json, count]),
      ],
    });
  }

  async function store(
    lease: Lease,
    from: number,
    { script, ...call }: ScriptCall & { script: RedisScript },
  ): Promise<void> {
    let answer: unknown;
    try {
      answer = await connection.run(script, call);
    } catch (error) {
      leases.wrote(lease, "silent");
      throw error;
    }
    if (answer === "lost") throw leases.lost(lease);
    if (answer !== "ok") {
      leases.wrote(lease, "refused");
      throw doesNotFollow(lease.runId, from, String(answer));
    }
    leases.wrote(lease, "ok");
  }

  async function send(key: RunKey, command: RunCommand): Promise<boolean> {
    const answer = (await connection.run(sendScript, {
      keys: [keys.thread(key).lease, keys.run(key).commands],
      args: [encodePart(key.runId), JSON.stringify(command), ulid(), keepMs, time.expected() ?? ""],
    })) as string;
    if (answer !== "ok" && answer !== "none") await reader.lose(key, answer);
    return answer === "ok";
  }

  return {
    async open(key, init) {
      // Late by one renewal at worst; no reason to refuse a run that has its thread.
      options.onRenew(key).catch(() => undefined);
      const opened = await open(key, init);
      return "busy" in opened ? opened : leases.add(key, opened.fence);
    },
    append(lease, entries) {
      if (entries.length === 0) return;
      const since = clock.now();
      return gate(() => {
        // Those before it have not been answered for so long: Redis is away, and it would wait in vain.
        if (clock.now() - since < options.commandMs) return write(lease, entries);
        leases.wrote(lease, "refused");
        throw storeUnavailable(new Error("The appends before it were not answered."));
      });
    },
    async close(lease, terminal, status) {
      // After a write without a response only the server knows the next offset.
      const from = leases.isDoubtful(lease) ? "" : terminal.from;
      leases.closing(lease);
      await store(lease, terminal.from, {
        script: closeScript,
        keys: runScriptKeys(keys.thread(lease), keys.run(lease)),
        args: [
          encodePart(lease.runId),
          lease.fence,
          status,
          runLogMs,
          ttlMs,
          from,
          terminal.at,
          JSON.stringify(terminal.event),
          runLogEvents,
          runLogBytes,
          writeId(),
        ],
      });
      leases.release(lease);
      const pointer = keys.pointer(lease.principal, lease.runId);
      connection.call("PEXPIRE", pointer, runLogMs).catch(() => undefined);
    },
    async find(principal, runId) {
      const thread = await connection.call("GET", keys.pointer(principal, runId));
      if (typeof thread !== "string") return undefined;
      return (await reader.peek({ principal, threadId: decodePart(thread), runId }))?.record;
    },
    async active(key) {
      const run = await connection.call("HGET", keys.thread(key).lease, "run");
      if (typeof run !== "string") return undefined;
      const { principal, threadId } = key;
      const found = await reader.peek({ principal, threadId, runId: decodePart(run) });
      return found?.record.status === "running" ? found.record : undefined;
    },
    async read(key, after, limit = Number.POSITIVE_INFINITY) {
      const entries: LogEntry[] = [];
      for (let at = after; ; at = entries.at(-1)!.to) {
        const page = await reader.page(key, at, Math.min(256, limit - entries.length));
        if (!page) throw runNotFound(key.runId);
        entries.push(...page.entries);
        const isAll = page.entries.length === 0 || entries.at(-1)!.to >= page.last;
        if (isAll || entries.length >= limit) return entries.slice(0, limit);
      }
    },
    follow: followers.follow,
    async watchers(key) {
      const watch = [keys.run(key).watch];
      return Number(await connection.run(watchScript, { keys: watch, args: [0] }));
    },
    send,
    requestStop: (key) => send(key, { type: "stop" }),
    commands: leases.listen,
    async isHeld(lease) {
      const name = keys.thread(lease).lease;
      const [run, fence] = (await connection.call("HMGET", name, "run", "fence")) as unknown[];
      return run === encodePart(lease.runId) && fence === String(lease.fence);
    },
    lost: leases.lost,
    async deleteThread(key) {
      const thread = keys.thread(key);
      for (;;) {
        const runs = (await connection.call("ZRANGE", thread.runs, 0, -1)) as string[];
        const perRun = runs.flatMap((run) => {
          const { record, log, commands, watch } = keys.run({ ...key, runId: decodePart(run) });
          return [record, log, commands, watch];
        });
        const answer = await connection.run(deleteScript, {
          keys: [thread.lease, thread.session, thread.runs, ...perRun],
          args: [lostJson, ...runs],
        });
        if (answer !== "more") return answer === "ok";
      }
    },
    shutdown() {
      leases.close();
      followers.close();
      tail.close();
    },
  };
}
