import { startRedis } from "./_redis.ts";
import { testRedisSessions } from "./_redis-suites.ts";

const name = "redisSessions with ioredis";
const redis = await startRedis(`${name}: testSessionStore and testRunLog`);
testRedisSessions(name, redis && { connect: () => redis.ioRedis(), stop: () => redis.stop() });
