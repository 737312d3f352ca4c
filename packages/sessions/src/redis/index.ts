export type { RedisClient } from "./commands.ts";
export type { IoRedisClient } from "./ioredis.ts";
export type { NodeRedisClient } from "./node-redis.ts";
export { redisSessions } from "./redis-sessions.ts";
export type { RedisSessionsOptions } from "./redis-sessions.ts";
