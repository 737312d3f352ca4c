export type { RedisClient } from "./client/commands.ts";
export type { IoRedisClient, IoRedisCluster } from "./client/ioredis.ts";
export type { NodeRedisClient, NodeRedisCluster, NodeRedisSentinel } from "./client/node-redis.ts";
export { redisSessions } from "./redis-sessions.ts";
export type { RedisSessionsOptions } from "./redis-sessions.ts";
