import { wrapIoRedis, wrapIoRedisCluster } from "./ioredis.ts";
import type { IoRedisClient, IoRedisCluster } from "./ioredis.ts";
import { wrapNodeRedis, wrapNodeRedisCluster, wrapNodeRedisSentinel } from "./node-redis.ts";
import type { NodeRedisClient, NodeRedisCluster, NodeRedisSentinel } from "./node-redis.ts";

/** A connected client, cluster or sentinel of `redis` (node-redis) 5 and 6, or a client or cluster of `ioredis` 5 and 6. */
export type RedisClient =
  | NodeRedisClient
  | NodeRedisCluster
  | NodeRedisSentinel
  | IoRedisClient
  | IoRedisCluster;

/** All we need of a client. */
export interface RedisCommands {
  /** What the client puts before every key by itself. */
  readonly keyPrefix: string;
  /** One command takes keys of one slot only. */
  readonly isCluster: boolean;
  isReady(): boolean;
  /** Calls back whenever a connection is ready; returns a function that unsubscribes. */
  onReady(listener: () => void): () => void;
  /** What the client reported since a connection was ready last: why it is not. */
  reason(): unknown;
  call(command: readonly string[]): Promise<unknown>;
  /** A separate connection to the node of a key. It connects by itself. */
  duplicate(key: string): Promise<RedisCommands>;
  /** Takes every listener off the client, which stays connected. */
  release(): void;
  /** Ends a separate connection. */
  close(): void;
}

/**
 * Distinguishes the clients by their shape: several copies of each may be loaded in one process.
 */
export function toCommands(client: RedisClient): RedisCommands {
  if ("nodeClient" in client) return wrapNodeRedisCluster(client);
  if ("getMasterNode" in client) return wrapNodeRedisSentinel(client);
  if ("nodes" in client) return wrapIoRedisCluster(client);
  if ("isReady" in client) return wrapNodeRedis(client);
  if ("call" in client) return wrapIoRedis(client);
  throw new TypeError(
    "redisSessions takes a client of `redis` (createClient, createCluster, createSentinel) or of `ioredis` (Redis, Cluster).",
  );
}
