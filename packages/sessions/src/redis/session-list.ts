import type { ListedSession, SessionStore, ThreadKey } from "@holodeck/agui-core";
import type { RedisConnection } from "./client/connection.ts";
import { decodePart, encodePart } from "./keys.ts";
import type { Keys } from "./keys.ts";
import { fromStored, fromStoredHead } from "./stored-session.ts";
import { fromCursor, toListed, toPage } from "../kit/sessions/session-list.ts";
import type { ListPlace } from "../kit/sessions/session-list.ts";

/** A principal's threads, the latest first. */
export interface SessionList {
  add(session: ThreadKey & { readonly agentId: string }, lastActivity: number): Promise<unknown>;
  /** From the list of all; that of its agent is corrected when it is read. */
  remove(key: ThreadKey): Promise<unknown>;
  list: SessionStore["list"];
}

export interface SessionListOptions {
  readonly connection: RedisConnection;
  readonly keys: Keys;
  readonly ttlMs: number;
}

// A run may keep its thread alive without a word for so long before the list forgets it.
const idleMs = 24 * 60 * 60_000;

/** Indexes of the sessions: entries for those that are gone are removed when an index is read. */
export function createSessionList(options: SessionListOptions): SessionList {
  const { connection, keys, ttlMs } = options;

  async function head(key: ThreadKey): Promise<ListedSession | undefined> {
    const { session } = keys.thread(key);
    const [json, at] = (await connection.call("HMGET", session, "h", "a")) as (string | null)[];
    if (json) return fromStoredHead(key, json, Number(at));
    if (!at) return undefined;
    // Written by a release that had no such field.
    const whole = (await connection.call("HGET", session, "d")) as string | null;
    return whole ? toListed(fromStored(key, whole, Number(at))) : undefined;
  }

  return {
    async add({ principal, threadId, agentId }, lastActivity) {
      const { score, thread } = toRow({ lastActivity, name: threadId });
      const oldest = lastActivity - ttlMs - idleMs;
      const indexes = [keys.list(principal), keys.list(principal, agentId)];
      await Promise.all(
        indexes.flatMap((index) => [
          connection.call("ZADD", index, "LT", score, thread),
          connection.call("ZREMRANGEBYSCORE", index, `(${-oldest}`, "+inf"),
          connection.call("PEXPIRE", index, ttlMs + idleMs),
        ]),
      );
    },
    remove: (key) => connection.call("ZREM", keys.list(key.principal), encodePart(key.threadId)),
    async list({ principal, agentId: agent, limit, cursor }) {
      const agentId = agent || undefined;
      const index = keys.list(principal, agentId);
      const after = cursor === undefined ? undefined : toRow(fromCursor(cursor));
      const found: { readonly row: Row; readonly session: ListedSession }[] = [];
      const gone: string[] = [];
      const size = limit + 1;
      for (let skip = 0; found.length < size; skip += size) {
        const rows = await readRows({ connection, index, from: after?.score, skip, size });
        const heads = await Promise.all(
          rows.map(({ thread }) => head({ principal, threadId: decodePart(thread) })),
        );
        for (const [place, row] of rows.entries()) {
          const session = heads[place];
          // A thread that was deleted and made again may have another agent.
          if (!session || (agentId !== undefined && session.agentId !== agentId)) {
            gone.push(row.thread);
          } else if (!after || isAfter(row, after)) found.push({ row, session });
        }
        if (rows.length < size) break;
      }
      if (gone.length > 0) await connection.call("ZREM", index, ...gone);
      return toPage(found, limit, {
        item: ({ session }) => session,
        place: ({ row }) => ({ lastActivity: -row.score, name: decodePart(row.thread) }),
      });
    },
  };
}

interface Row {
  readonly thread: string;
  readonly score: number;
}

async function readRows(range: {
  connection: RedisConnection;
  index: string;
  from: number | undefined;
  skip: number;
  size: number;
}): Promise<Row[]> {
  const { connection, index, from, skip, size } = range;
  const bounds = [from ?? "-inf", "+inf", "BYSCORE"];
  const limit = ["LIMIT", skip, size, "WITHSCORES"];
  const reply = (await connection.call("ZRANGE", index, ...bounds, ...limit)) as unknown[];
  // RESP 3 answers in pairs, RESP 2 in one list.
  const flat = reply.flat();
  const rows: Row[] = [];
  for (let at = 0; at < flat.length; at += 2) {
    rows.push({ thread: String(flat[at]), score: Number(flat[at + 1]) });
  }
  return rows;
}

// The latest has the lowest score: Redis sorts names upwards too.
function toRow({ lastActivity, name }: ListPlace): Row {
  return { thread: encodePart(name), score: -lastActivity };
}

function isAfter(row: Row, after: Row): boolean {
  return row.score > after.score || (row.score === after.score && row.thread > after.thread);
}
