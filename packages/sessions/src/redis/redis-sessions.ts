import { ulid } from "@holodeck/agui-core";
import { dateOf } from "@holodeck/agui-core/internal";
import type { Lease, Logger, Session, SessionStore, ThreadKey } from "@holodeck/agui-core";
import { newSession } from "../kit/sessions/session-record.ts";
import { createUpdates } from "../kit/sessions/updates.ts";
import { sessionExists, tooManySessions } from "../kit/storage/store-errors.ts";
import { createServerTime } from "../kit/storage/server-time.ts";
import { toStoreSettings } from "../kit/storage/store-settings.ts";
import type { StoreOptions } from "../kit/storage/store-settings.ts";
import { toCommands } from "./client/commands.ts";
import type { RedisClient } from "./client/commands.ts";
import { createConnection } from "./client/connection.ts";
import { checkEvictionPolicy } from "./eviction-policy.ts";
import { createRedisBlobs } from "./redis-blobs.ts";
import { createKeys, decodePart, encodePart } from "./keys.ts";
import { createRedisLog } from "./redis-log.ts";
import { createSessionList } from "./session-list.ts";
import {
  admitScript,
  countScript,
  expiredScript,
  takeScript,
  touchScript,
  writeScript,
} from "./scripts/session-scripts.ts";
import { fromStored, toStored, toStoredHead } from "./stored-session.ts";

export interface RedisSessionsOptions extends StoreOptions {
  /** A connected client of `redis` or `ioredis`. It stays the host's: `close` does not end it. */
  readonly client: RedisClient;
  /** Begins every key. By default `agui`. */
  readonly prefix?: string;
  /** How long a command may take before the store is unavailable. By default 2 s. */
  readonly commandMs?: number;
  /** Receives a warning when Redis may evict keys. By default it is printed. */
  readonly logger?: Pick<Logger, "warn">;
}

const cleanupSize = 500;

/**
 * Sessions and run logs on a Redis that several processes share.
 *
 * @example
 * ```ts
 * const client = await createClient({ url: "redis://localhost" }).connect();
 * createAgentHandler(agent, { sessions: redisSessions({ client }) });
 * ```
 */
export function redisSessions(options: RedisSessionsOptions): SessionStore {
  const { prefix = "agui", commandMs = 2_000 } = options;
  const settings = toStoreSettings(options);
  const { clock, leaseMs, maxSessions, prune, ttlMs } = settings;
  const commands = toCommands(options.client);
  const keys = createKeys(prefix);
  const connection = createConnection({ commands, commandMs, clock });
  const time = createServerTime(leaseMs);
  const runs = createRedisLog({
    ...settings,
    time,
    commands,
    connection,
    keys,
    commandMs,
    onRenew: (key) => count(key, ttlMs + leaseMs),
  });
  void checkEvictionPolicy(connection, options.logger);
  const threads = createSessionList({ connection, keys, ttlMs });

  async function get(key: ThreadKey): Promise<Session | undefined> {
    const { session } = keys.thread(key);
    const [json, at] = (await connection.call("HMGET", session, "d", "a")) as (string | null)[];
    return json ? fromStored(key, json, Number(at)) : undefined;
  }

  /** `conflict`: another one was faster. */
  async function put(
    session: Session,
    before: number,
    by?: Lease,
  ): Promise<"ok" | "conflict" | "lost"> {
    const { session: name, lease } = keys.thread(session);
    const { version, lastActivity } = session;
    const json = toStored(session);
    const holder = by ? [encodePart(by.runId), by.fence] : ["", ""];
    const fields = [version, json, ulid(), lastActivity];
    const listed = [toStoredHead(session), session.agentId];
    const args = [ttlMs, leaseMs, before, ...fields, ...holder, ...listed, time.expected() ?? ""];
    const answer = await connection.run(writeScript, { keys: [name, lease], args });
    if (answer !== "ok") return answer === "lost" ? "lost" : "conflict";
    await Promise.all([threads.add(session, lastActivity), count(session, ttlMs)]);
    return "ok";
  }

  /** Moves the expiry of a session in the index. With a limit it may be a new one; false: one too many. */
  async function count(key: ThreadKey, ms: number, limit: number | "" = ""): Promise<boolean> {
    const call = { keys: [keys.sessions], args: [memberOf(key), ms, limit] };
    return (await connection.run(admitScript, call)) === 1;
  }

  const update = createUpdates<{ session: Session; now: number }>({
    prune,
    async find(key) {
      const session = await get(key);
      return session && { session, now: dateOf(clock) };
    },
    write: (changed, { session }, lease) => put(changed, session.version, lease),
    isHeld: runs.isHeld,
    lost: runs.lost,
  });

  async function cleanupExpired(): Promise<number> {
    let removed = 0;
    for (;;) {
      const call = { keys: [keys.sessions], args: [cleanupSize] };
      const expired = (await connection.run(expiredScript, call)) as string[];
      for (const member of expired) {
        const key = keyOf(member);
        // One that a run has kept alive is counted when it is gone.
        if (await get(key)) await count(key, ttlMs, Number.MAX_SAFE_INTEGER);
        else {
          await threads.remove(key);
          removed++;
        }
      }
      if (expired.length < cleanupSize) return removed;
    }
  }

  return {
    runs,
    blobs: createRedisBlobs(connection, keys),
    get,
    async create(key, init) {
      const session = newSession(key, init, dateOf(clock));
      const limit = Math.min(maxSessions, init.maxSessions ?? Infinity);
      const fits = Math.min(limit, Number.MAX_SAFE_INTEGER);
      if (!(await get(key)) && !(await count(key, ttlMs, fits))) {
        throw tooManySessions(limit);
      }
      if ((await put(session, 0)) === "ok") return session;
      throw sessionExists(key);
    },
    update,
    async delete(key) {
      const [isDeleted] = await Promise.all([
        runs.deleteThread(key),
        threads.remove(key),
        connection.call("ZREM", keys.sessions, memberOf(key)),
      ]);
      return isDeleted;
    },
    async touch(key) {
      const { session, lease } = keys.thread(key);
      const now = dateOf(clock);
      const call = { keys: [session, lease], args: [ttlMs, leaseMs, now] };
      const agentId = (await connection.run(touchScript, call)) as string | null;
      if (agentId === null) return;
      await Promise.all([threads.add({ ...key, agentId }, now), count(key, ttlMs)]);
    },
    list: threads.list,
    cleanupExpired,
    async count() {
      return Number(await connection.run(countScript, { keys: [keys.sessions], args: [] }));
    },
    async take(bucket, cost, { tokens, perMs }) {
      const call = { keys: [keys.bucket(bucket)], args: [cost, tokens, perMs] };
      return Number(await connection.run(takeScript, call));
    },
    close() {
      runs.shutdown();
      commands.release();
    },
  };
}

function memberOf({ principal, threadId }: ThreadKey): string {
  return `${encodePart(principal)}:${encodePart(threadId)}`;
}

function keyOf(member: string): ThreadKey {
  const [principal = "", threadId = ""] = member.split(":");
  return { principal: decodePart(principal), threadId: decodePart(threadId) };
}
