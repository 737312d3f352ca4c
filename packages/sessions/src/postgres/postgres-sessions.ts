import { AgentError, ulid } from "@holodeck/agui-core";
import type { Logger, Session, SessionStore, ThreadKey, UpdateOptions } from "@holodeck/agui-core";
import { toKeyText } from "../kit/key-text.ts";
import { changeSession, newSession } from "../kit/session-record.ts";
import { sessionExists, sessionNotFound, tooManySessions } from "../kit/store-errors.ts";
import { toStoreSettings } from "../kit/store-settings.ts";
import type { StoreOptions, StoreSettings } from "../kit/store-settings.ts";
import { createTurns } from "../kit/turns.ts";
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

// With one writer per thread a conflict is rare; so many in a row mean that something is wrong.
const writeAttempts = 50;

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
  const runs = createPostgresLog({ ...settings, database, connection, schema, listen, logger });
  const sweeping = createSweeping(connection, settings);
  const turns = createTurns();

  async function find(key: ThreadKey): Promise<FoundSession | undefined> {
    return toFound(key, await connection.call("read_session", ...threadTexts(key), ttlMs));
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
      toArrayText(written.map(({ place }) => place)),
      toArrayText(written.map(({ value }) => value)),
    );
  }

  async function change(...[key, changes, guard = {}]: UpdateArguments): Promise<Session> {
    const { ifVersion, lease } = guard;
    for (let attempt = 0; attempt < writeAttempts; attempt++) {
      const found = await find(key);
      if (!found) {
        if (lease) await assertHeld(key, lease);
        throw sessionNotFound(key);
      }
      const { session, now } = found;
      let changed: Session;
      try {
        changed = changeSession(session, changes, { ...prune, now, ifVersion });
      } catch (error) {
        if (lease) await assertHeld(key, lease);
        throw error;
      }
      const places = { before: session.version, fence: lease?.fence };
      const answer = await write(changed, found, places);
      if (answer === "ok") return changed;
      if (answer === "lost") throw runs.lost(lease!);
    }
    throw new AgentError(
      "thread-busy",
      `Session "${key.threadId}" has too many concurrent writes.`,
    );
  }

  /** A lost lease is the reason that counts. Writes nothing: there is no version 0. */
  async function assertHeld(
    key: ThreadKey,
    lease: NonNullable<UpdateOptions["lease"]>,
  ): Promise<void> {
    const nothing = newSession(key, { agentId: "" }, 0);
    const answer = await write(nothing, { messages: [] }, { before: 0, fence: lease.fence });
    if (answer === "lost") throw runs.lost(lease);
  }

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
    // In turn within a process: only two processes can be in each other's way.
    update: (...update) => turns(threadTexts(update[0]).join("\n"), () => change(...update)),
    async delete(key) {
      return (await connection.one("delete_session", ...threadTexts(key), ttlMs)) === "ok";
    },
    async touch(key) {
      await connection.one("touch_session", ...threadTexts(key), ttlMs);
    },
    async list({ principal, agentId, limit, cursor }) {
      const start = cursor === undefined ? undefined : fromCursor(cursor);
      const rows = await connection.call(
        "list_sessions",
        toKeyText(principal),
        agentId ? toKeyText(agentId) : null,
        ttlMs,
        limit + 1,
        start?.activity ?? null,
        start?.id ?? null,
      );
      const heads = rows.slice(0, limit).map((row) => toHead(row!));
      const items = heads.map((head) => toListedSession(principal, head));
      const last = heads.at(-1);
      return { items, next: rows.length > limit && last ? toCursor(last) : undefined };
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

type UpdateArguments = Parameters<SessionStore["update"]>;

function threadTexts({ principal, threadId }: ThreadKey): [string, string] {
  return [toKeyText(principal), toKeyText(threadId)];
}

// Those of one moment are in the order in which they were created.
function toCursor({ lastActivity, id }: { lastActivity: number; id: number }): string {
  return `${lastActivity}:${id}`;
}

function fromCursor(cursor: string): { activity: number; id: number } {
  const [, activity, id] = /^(\d{1,15}):(\d{1,15})$/.exec(cursor) ?? [];
  if (!activity || !id) {
    throw new AgentError("invalid-request", `The cursor "${cursor}" is not valid.`);
  }
  return { activity: Number(activity), id: Number(id) };
}
