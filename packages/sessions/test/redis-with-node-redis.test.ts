import { startRedis } from "./_redis.ts";
import { testRedisSessions } from "./_redis-suites.ts";

const name = "redisSessions with node-redis";
const redis = await startRedis(`${name}: testSessionStore and testRunLog`);
testRedisSessions(name, redis && { connect: () => redis.nodeRedis(), stop: () => redis.stop() });
