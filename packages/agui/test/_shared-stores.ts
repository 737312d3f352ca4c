import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { SessionStore } from "@holodeck/agui-core";
import { memorySessions } from "@holodeck/agui-sessions";
import { redisSessions } from "@holodeck/agui-sessions/redis";
import { sqliteSessions } from "@holodeck/agui-sessions/sqlite";
import { startRedis } from "../../sessions/test/_redis.ts";

/** A store as two servers see it. */
export interface SharedStore {
  readonly owner: SessionStore;
  /** Of the second server; absent where a store belongs to one process. */
  readonly other?: SessionStore;
  close(): Promise<void>;
}

export interface StoreKind {
  readonly name: string;
  /** Nothing: it cannot be had here, and somebody has said so. */
  open(suite: string): Promise<SharedStore | undefined>;
}

/** Every store there is. */
export const storeKinds: readonly StoreKind[] = [
  {
    name: "memory",
    open: async () => ({ owner: memorySessions(), close: async () => undefined }),
  },
  {
    name: "SQLite",
    async open() {
      const folder = await mkdtemp(join(tmpdir(), "agui-"));
      const path = join(folder, "test.db");
      return {
        owner: sqliteSessions({ path }),
        other: sqliteSessions({ path }),
        close: () => rm(folder, { recursive: true, force: true }),
      };
    },
  },
  {
    name: "Redis",
    async open(suite) {
      const redis = await startRedis(suite);
      if (!redis) return undefined;
      // On a busy machine late is not away.
      const patient = { commandMs: 20_000, leaseMs: 60_000 };
      return {
        owner: redisSessions({ client: await redis.nodeRedis(), ...patient }),
        other: redisSessions({ client: await redis.ioRedis(), ...patient }),
        close: () => redis.stop(),
      };
    },
  },
];
