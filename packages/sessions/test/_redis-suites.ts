import { testRunLog, testSessionStore } from "@holodeck/agui-testing/vitest";
import type { CreateStore } from "@holodeck/agui-testing/vitest";
import { afterAll, describe } from "vitest";
import { redisSessions } from "../src/redis/index.ts";
import type { RedisClient } from "../src/redis/index.ts";
import { faultyClient } from "./_faulty-client.ts";

/** A server or a cluster, and how to reach it. */
export interface RedisUnderTest {
  connect(): Promise<RedisClient>;
  stop(): Promise<void>;
}

/** Both suites with one kind of client; skipped without a Redis. */
export function testRedisSessions(name: string, redis: RedisUnderTest | undefined): void {
  describe.runIf(redis)("redisSessions", () => {
    afterAll(() => redis?.stop());
    let stores = 0;
    // Late is not away, except where calls have a time.
    const second: CreateStore = async ({ through, callMs, ...setup }) =>
      redisSessions({
        client: faultyClient(await redis!.connect(), through),
        prefix: `test-${stores}`,
        commandMs: callMs ?? 20_000,
        ...setup,
      });
    const create: CreateStore = (setup) => {
      stores++;
      return second(setup);
    };
    testSessionStore(name, create, { clock: "real", second, faults: true });
    testRunLog(name, create, { clock: "real", second, faults: true });
  });
}
