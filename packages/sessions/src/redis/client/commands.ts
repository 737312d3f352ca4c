import { wrapIoRedis, wrapIoRedisCluster } from "./ioredis.ts";
import type { IoRedisClient, IoRedisCluster } from "./ioredis.ts";
import { wrapNodeRedis, wrapNodeRedisCluster } from "./node-redis.ts";
import type { NodeRedisClient, NodeRedisCluster } from "./node-redis.ts";

/** A connected client or cluster of `redis` (node-redis) 5 and 6, or of `ioredis` 5 and 6. */
export type RedisClient = NodeRedisClient | NodeRedisCluster | IoRedisClient | IoRedisCluster;

/** All we need of a client. */
export interface RedisCommands {
  /** What the client puts before every key by itself. */
  readonly keyPrefix: string;
  /** One command takes keys of one slot only. */
  readonly isCluster: boolean;
  isReady(): boolean;
  /** Calls back whenever a connection is ready; returns a function that unsubscribes. */
  onReady(listener: () => void): () => void;
  call(command: readonly string[]): Promise<unknown>;
  /** A separate connection to the node of a key. It connects by itself. */
  duplicate(key: string): Promise<RedisCommands>;
  close(): void;
}

/**
 * Distinguishes the clients by their shape: several copies of each may be loaded in one process.
 */
export function toCommands(client: RedisClient): RedisCommands {
  if ("nodeClient" in client) return wrapNodeRedisCluster(client);
  if ("nodes" in client) return wrapIoRedisCluster(client);
  if ("isReady" in client) return wrapNodeRedis(client);
  if ("call" in client) return wrapIoRedis(client);
  throw new TypeError("redisSessions takes a client or a cluster of `redis` or of `ioredis`.");
}
