import { startRedis } from "./_redis.ts";
import { testRedisSessions } from "./_redis-suites.ts";

const name = "redisSessions with ioredis";
const redis = await startRedis(`${name}: testSessionStore and testRunLog`);
testRedisSessions(redis && { name, connect: () => redis.ioRedis(), stop: () => redis.stop() });
