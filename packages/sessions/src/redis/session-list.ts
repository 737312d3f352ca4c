import type { ListedSession, SessionStore, ThreadKey } from "@holodeck/agui-core";
import type { RedisConnection } from "./client/connection.ts";
import { decodePart, encodePart } from "./keys.ts";
import type { Keys } from "./keys.ts";
import { fromStored, fromStoredHead } from "./stored-session.ts";
import { toListed } from "../kit/session-list.ts";

/** A principal's threads, the latest first. */
export interface SessionList {
  add(key: ThreadKey, lastActivity: number): Promise<void>;
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

/** An index of the sessions: its entries for expired ones are removed when it is read. */
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
    async add(key, lastActivity) {
      const index = keys.list(key.principal);
      const oldest = lastActivity - ttlMs - idleMs;
      // The latest has the lowest score: Redis sorts names upwards too.
      await Promise.all([
        connection.call("ZADD", index, "LT", -lastActivity, encodePart(key.threadId)),
        connection.call("ZREMRANGEBYSCORE", index, `(${-oldest}`, "+inf"),
        connection.call("PEXPIRE", index, ttlMs + idleMs),
      ]);
    },
    remove: (key) => connection.call("ZREM", keys.list(key.principal), encodePart(key.threadId)),
    async list({ principal, agentId, limit, cursor }) {
      const index = keys.list(principal);
      const after = parseCursor(cursor);
      const items: ListedSession[] = [];
      const gone: string[] = [];
      let last: Row | undefined;
      let next: string | undefined;
      const size = limit + 1;
      for (let skip = 0; next === undefined; skip += size) {
        const rows = await readRows({ connection, index, from: after.score, skip, size });
        const found = await Promise.all(
          rows.map(({ thread }) => head({ principal, threadId: decodePart(thread) })),
        );
        for (const [place, row] of rows.entries()) {
          const session = found[place];
          if (!session) gone.push(row.thread);
          if (!session || !isAfter(row, after) || (agentId && session.agentId !== agentId))
            continue;
          if (items.length === limit) {
            next = last && `${last.score}:${last.thread}`;
            break;
          }
          items.push(session);
          last = row;
        }
        if (rows.length < size) break;
      }
      if (gone.length > 0) await connection.call("ZREM", index, ...gone);
      return { items, next };
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
  from: number;
  skip: number;
  size: number;
}): Promise<Row[]> {
  const { connection, index, from, skip, size } = range;
  const bounds = [from === Number.NEGATIVE_INFINITY ? "-inf" : from, "+inf", "BYSCORE"];
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

// A place in the order, not a thread: it stays where it is when the thread moves or goes.
function parseCursor(cursor = ""): Row {
  const [, score, thread] = /^(-?\d+):(.*)$/.exec(cursor) ?? [];
  if (score === undefined) return { thread: "", score: Number.NEGATIVE_INFINITY };
  return { thread: thread ?? "", score: Number(score) };
}

function isAfter(row: Row, after: Row): boolean {
  return row.score > after.score || (row.score === after.score && row.thread > after.thread);
}
