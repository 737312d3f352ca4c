import { testRedisSessions } from "./_redis-suites.ts";

await testRedisSessions("nodeRedis");
