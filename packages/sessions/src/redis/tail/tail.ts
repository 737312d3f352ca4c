import { withDeadline } from "@holodeck/agui-core/internal";
import type { Clock } from "@holodeck/agui-core";
import type { RedisCommands } from "../client/commands.ts";
import type { RedisConnection } from "../client/connection.ts";

/** One entry of a stream. */
export interface TailRow {
  readonly id: string;
  readonly fields: Readonly<Record<string, string | undefined>>;
}

/** Reads many streams over one blocking connection. */
export interface Tail {
  /** What follows an id, from now on. A key has one reader. */
  add(key: string, id: string, on: (row: TailRow) => void): void;
  remove(key: string, on: (row: TailRow) => void): void;
  close(): void;
}

export interface TailOptions {
  readonly commands: RedisCommands;
  readonly connection: RedisConnection;
  readonly clock: Clock;
  readonly commandMs: number;
  /** The stream that wakes the reader when a key was added. */
  readonly wakeKey: string;
  /** Called when the connection is ready again after it was lost. */
  readonly onRestored: () => void;
}

interface Stream {
  id: string;
  readonly on: (row: TailRow) => void;
}

// A read that nothing answers ends after so long: a dead connection is noticed, and a key whose wake was lost is read.
const blockMs = 500;
const rowsPerRead = 32;

export function createTail(options: TailOptions): Tail {
  const { commands, connection, clock, commandMs, wakeKey, onRestored } = options;
  const streams = new Map<string, Stream>();
  let own: RedisCommands | undefined;
  let wakeId = "0-0";
  let isClosed = false;
  let isRunning = false;
  let isReading = false;
  // The read that is on its way was woken: it ends, and the next one takes all keys.
  let isWoken = false;
  let failures = 0;

  async function loop(): Promise<void> {
    while (!isClosed && streams.size > 0) {
      try {
        await readOnce();
      } catch {
        if (isClosed) return;
        await pause(Math.min(2_000, 50 * 2 ** failures++));
      }
    }
  }

  async function readOnce(): Promise<void> {
    own ??= await connect();
    if (!own.isReady()) await stands(own);
    if (failures > 0) {
      failures = 0;
      onRestored();
    }
    isWoken = false;
    const names = [...streams.keys()];
    const ids = names.map((name) => streams.get(name)!.id);
    const read = ["XREAD", "COUNT", String(rowsPerRead), "BLOCK", String(blockMs), "STREAMS"];
    isReading = true;
    try {
      dispatch(await limited(own.call([...read, wakeKey, ...names, wakeId, ...ids]), blockMs));
    } catch (error) {
      // A connection that does not respond is not used again, nor is a node that does not have
      // these keys.
      if (error === silent || isMoved(error)) {
        own.close();
        own = undefined;
      }
      throw error;
    } finally {
      isReading = false;
    }
  }

  async function connect(): Promise<RedisCommands> {
    const made = await limited(commands.duplicate(wakeKey), 0);
    if (isClosed) made.close();
    return made;
  }

  async function stands(connecting: RedisCommands): Promise<void> {
    let stop: (() => void) | undefined;
    try {
      await limited(new Promise<void>((resolve) => (stop = connecting.onReady(resolve))), 0);
    } finally {
      stop?.();
    }
  }

  function dispatch(reply: unknown): void {
    for (const [name, rows] of pairs(reply)) {
      const key = String(name).slice(commands.keyPrefix.length);
      for (const [id, fields] of rows as [string, unknown][]) {
        if (key === wakeKey) wakeId = id;
        const stream = streams.get(key);
        if (!stream) continue;
        stream.id = id;
        stream.on({ id, fields: Object.fromEntries(pairs(fields)) as TailRow["fields"] });
      }
    }
  }

  function wake(): void {
    if (!isReading || isWoken) return;
    isWoken = true;
    // If this fails the read has failed too, or ends by itself.
    connection.call("XADD", wakeKey, "MAXLEN", 1, "*", "w", "").catch(() => (isWoken = false));
    connection.call("PEXPIRE", wakeKey, 60_000).catch(() => undefined);
  }

  function pause(ms: number): Promise<void> {
    return new Promise((resolve) => void clock.setTimeout(resolve, ms));
  }

  function limited<T>(work: Promise<T>, ms: number): Promise<T> {
    return withDeadline(work, { ms: ms + commandMs, clock, late: () => silent });
  }

  return {
    add(key, id, on) {
      streams.set(key, { id, on });
      if (isRunning) {
        wake();
        return;
      }
      isRunning = true;
      void loop().finally(() => (isRunning = false));
    },
    remove(key, on) {
      if (streams.get(key)?.on === on) streams.delete(key);
    },
    close() {
      isClosed = true;
      streams.clear();
      own?.close();
    },
  };
}

function isMoved(error: unknown): boolean {
  return error instanceof Error && /^(MOVED|READONLY|CLUSTERDOWN) /.test(error.message);
}

const silent = new Error("Redis does not respond.");

// A map of RESP 3, an object or a list: clients differ in what they make of the same reply.
function pairs(reply: unknown): [unknown, unknown][] {
  if (reply === null || typeof reply !== "object") return [];
  if (reply instanceof Map) return [...reply];
  if (!Array.isArray(reply)) return Object.entries(reply);
  if (Array.isArray(reply[0])) return reply as [unknown, unknown][];
  const flat: [unknown, unknown][] = [];
  for (let at = 0; at + 1 < reply.length; at += 2) flat.push([reply[at], reply[at + 1]]);
  return flat;
}
