import { startCluster } from "./_redis-cluster.ts";
import { testRedisSessions } from "./_redis-suites.ts";

const name = "redisSessions on a cluster with node-redis";
const redis = await startCluster(`${name}: testSessionStore and testRunLog`);
testRedisSessions(name, redis && { connect: () => redis.nodeRedis(), stop: () => redis.stop() });
