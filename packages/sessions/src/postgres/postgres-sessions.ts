import { ulid } from "@holodeck/agui-core";
import type { Logger, Session, SessionStore, ThreadKey } from "@holodeck/agui-core";
import { fromCursor, invalidCursor, toPage } from "../kit/sessions/session-list.ts";
import { newSession } from "../kit/sessions/session-record.ts";
import { createUpdates } from "../kit/sessions/updates.ts";
import { toKeyText } from "../kit/storage/key-text.ts";
import { sessionExists, tooManySessions } from "../kit/storage/store-errors.ts";
import { createServerTime } from "../kit/storage/server-time.ts";
import { toStoreSettings } from "../kit/storage/store-settings.ts";
import type { StoreOptions, StoreSettings } from "../kit/storage/store-settings.ts";
import { toArrayText } from "./client/array-text.ts";
import { createConnection } from "./client/connection.ts";
import { toDatabase } from "./client/database.ts";
import type { PostgresClient } from "./client/database.ts";
import { createPostgresLog } from "./log/postgres-log.ts";
import { createPostgresBlobs } from "./postgres-blobs.ts";
import { toSchema } from "./schema/steps.ts";
import { compareStored, dataText, toFound, toHead, toListedSession } from "./session-codec.ts";
import type { FoundSession } from "./session-codec.ts";
import { createSweeping } from "./sweeping.ts";

export interface PostgresSessionsOptions extends StoreOptions {
  /** A `Pool` of `pg`, or an instance of `postgres`. It stays the host's: `close` does not end it. */
  readonly client: PostgresClient;
  /** The schema with our tables; `migrate` makes them. By default `agui`. */
  readonly schema?: string;
  /** How long a call may take, connecting included, before the store is unavailable. By default 5 s. */
  readonly commandMs?: number;
  /**
   * `false`: other processes are noticed by polling only. By default one connection listens, and polling takes its place
   * where notifications do not arrive.
   */
  readonly listen?: boolean;
  /** Receives a warning when the store polls. */
  readonly logger?: Logger;
}

/**
 * Sessions, run logs and uploads in a PostgreSQL database that several processes share.
 *
 * @example
 * ```ts
 * const client = new Pool({ connectionString: "postgres://localhost/app" });
 * await migrate({ client });
 * createAgentHandler(agent, { sessions: postgresSessions({ client }) });
 * ```
 */
export function postgresSessions(options: PostgresSessionsOptions): SessionStore {
  const { commandMs = 5_000, listen = true, logger } = options;
  const settings = toWholeTimes(toStoreSettings(options));
  const { ttlMs, maxSessions, prune, clock } = settings;
  const schema = toSchema(options.schema);
  const database = toDatabase(options.client);
  const stopUse = database.use();
  const connection = createConnection({ database, schema, commandMs, clock });
  const time = createServerTime(settings.leaseMs);
  const log = { database, connection, schema, time, listen, logger };
  const runs = createPostgresLog({ ...settings, ...log });
  const sweeping = createSweeping(connection, settings);

  async function find(key: ThreadKey): Promise<FoundSession | undefined> {
    const found = toFound(key, await connection.call("read_session", ...threadTexts(key), ttlMs));
    if (found) time.sample(found.now);
    return found;
  }

  /** Returns what became of it: 'ok', 'conflict', 'lost' or 'missing'. */
  async function write(
    session: Session,
    found: Pick<FoundSession, "messages">,
    { before, fence }: { before: number; fence: number | undefined },
  ): Promise<string | null> {
    const { removed, written } = compareStored(found.messages, session.messages);
    return connection.one(
      "write_session",
      ...threadTexts(session),
      before,
      fence ?? null,
      ttlMs,
      ulid(),
      session.lastActivity,
      session.messageCount,
      JSON.stringify(session.metadata),
      session.lastRunId === undefined ? null : toKeyText(session.lastRunId),
      JSON.stringify(session.size),
      JSON.stringify(session.state) ?? null,
      dataText(session),
      toArrayText(removed),
      toArrayText(written.map(({ position }) => position)),
      toArrayText(written.map(({ value }) => value)),
      time.expected() ?? null,
    );
  }

  const update = createUpdates<FoundSession>({
    prune,
    find,
    async write(changed, found, lease) {
      const before = found.session.version;
      const answer = await write(changed, found, { before, fence: lease?.fence });
      return answer === "ok" || answer === "lost" ? answer : "conflict";
    },
    async isHeld(lease) {
      // Writes nothing: there is no version 0.
      const nothing = newSession(lease, { agentId: "" }, 0);
      const places = { before: 0, fence: lease.fence };
      return (await write(nothing, { messages: [] }, places)) !== "lost";
    },
    lost: runs.lost,
  });

  return {
    runs,
    blobs: createPostgresBlobs(connection),
    get: async (key) => (await find(key))?.session,
    async create(key, init) {
      const { metadata, size } = newSession(key, init, 0);
      const limit = Math.min(maxSessions, init.maxSessions ?? Number.POSITIVE_INFINITY);
      const answer = await connection.one(
        "create_session",
        ...threadTexts(key),
        toKeyText(init.agentId),
        JSON.stringify(metadata),
        JSON.stringify(size),
        ulid(),
        ttlMs,
        Number.isFinite(limit) ? limit : null,
      );
      if (answer === "exists") throw sessionExists(key);
      if (answer === "full") throw tooManySessions(limit);
      return newSession(key, init, Number(answer));
    },
    update,
    async delete(key) {
      return (await connection.one("delete_session", ...threadTexts(key), ttlMs)) === "ok";
    },
    async touch(key) {
      await connection.one("touch_session", ...threadTexts(key), ttlMs);
    },
    async list({ principal, agentId, limit, cursor }) {
      const start = cursor === undefined ? undefined : placeOf(cursor);
      const rows = await connection.call(
        "list_sessions",
        toKeyText(principal),
        agentId ? toKeyText(agentId) : null,
        ttlMs,
        limit + 1,
        start?.lastActivity ?? null,
        start?.id ?? null,
      );
      const heads = rows.map((row) => toHead(row!));
      return toPage(heads, limit, {
        item: (head) => toListedSession(principal, head),
        place: ({ lastActivity, id }) => ({ lastActivity, name: String(id) }),
      });
    },
    cleanupExpired: sweeping.cleanupExpired,
    async count() {
      return Number(await connection.one("count_sessions", ttlMs));
    },
    async take(bucket, cost, { tokens, perMs }) {
      return Number(await connection.one("take", toKeyText(bucket), cost, tokens, perMs));
    },
    async close() {
      sweeping.close();
      await runs.shutdown();
      stopUse();
    },
  };
}

// 31 years: for ever, and still a time after 1970 when it is subtracted from this one.
const longestMs = 1e12;

/** Times as the database takes them: whole milliseconds, and none that is infinite. */
function toWholeTimes(settings: StoreSettings): StoreSettings {
  const whole = (ms: number): number => Math.min(Math.ceil(ms), longestMs);
  const { ttlMs, runLogMs, leaseMs } = settings;
  return { ...settings, ttlMs: whole(ttlMs), runLogMs: whole(runLogMs), leaseMs: whole(leaseMs) };
}

function threadTexts({ principal, threadId }: ThreadKey): [string, string] {
  return [toKeyText(principal), toKeyText(threadId)];
}

// Those of one moment are in the order in which they were created.
function placeOf(cursor: string): { lastActivity: number; id: number } {
  const { lastActivity, name } = fromCursor(cursor);
  if (!/^\d{1,15}$/.test(name)) throw invalidCursor(cursor);
  return { lastActivity, id: Number(name) };
}
