export type { RedisClient } from "./commands.ts";
export type { IoRedisClient, IoRedisCluster } from "./ioredis.ts";
export type { NodeRedisClient, NodeRedisCluster } from "./node-redis.ts";
export { redisSessions } from "./redis-sessions.ts";
export type { RedisSessionsOptions } from "./redis-sessions.ts";
