import { testRunLog, testSessionStore } from "@holodeck/agui-testing/vitest";
import type { CreateStore } from "@holodeck/agui-testing/vitest";
import { afterAll, describe } from "vitest";
import { redisSessions } from "../src/redis/index.ts";
import type { RedisClient } from "../src/redis/index.ts";

/** A server or a cluster, and how to reach it. */
export interface RedisUnderTest {
  readonly name: string;
  connect(): Promise<RedisClient>;
  stop(): Promise<void>;
}

/** Both suites with one kind of client. Nothing: there is no Redis, and it was said. */
export function testRedisSessions(redis: RedisUnderTest | undefined): void {
  describe.runIf(redis)("redisSessions", () => {
    if (!redis) return;
    afterAll(() => redis.stop());
    let stores = 0;
    // Late is not away: what is unavailable has tests of its own.
    const common = { commandMs: 20_000 };
    const second: CreateStore = async (setup) =>
      redisSessions({
        client: await redis.connect(),
        prefix: `test-${stores}`,
        ...common,
        ...setup,
      });
    const create: CreateStore = (setup) => {
      stores++;
      return second(setup);
    };
    testSessionStore(redis.name, create, { clock: "real", second });
    testRunLog(redis.name, create, { clock: "real", second });
  });
}
