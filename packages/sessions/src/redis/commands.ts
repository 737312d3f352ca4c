import { wrapIoRedis } from "./ioredis.ts";
import type { IoRedisClient } from "./ioredis.ts";
import { wrapNodeRedis } from "./node-redis.ts";
import type { NodeRedisClient } from "./node-redis.ts";

/** A connected client of `redis` (node-redis) 5 and 6, or of `ioredis` 5 and 6. */
export type RedisClient = NodeRedisClient | IoRedisClient;

/** All we need of a client. */
export interface RedisCommands {
  /** What the client puts before every key by itself. */
  readonly keyPrefix: string;
  isReady(): boolean;
  /** Calls back whenever a connection stands; returns how to stop that. */
  onReady(listener: () => void): () => void;
  call(command: readonly string[]): Promise<unknown>;
  /** A connection of its own, which connects by itself and never throws. */
  duplicate(): RedisCommands;
  close(): void;
}

/** Tells the clients apart by their shape: both have been seen in several copies in one process. */
export function toCommands(client: RedisClient): RedisCommands {
  if ("isReady" in client && typeof client.sendCommand === "function") return wrapNodeRedis(client);
  if ("status" in client && typeof client.call === "function" && !("nodes" in client)) {
    return wrapIoRedis(client);
  }
  throw new TypeError(
    "redisSessions takes a client of `redis` or of `ioredis` for one server, not for a cluster.",
  );
}
