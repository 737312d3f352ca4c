import { testRunLog, testSessionStore } from "@holodeck/agui-testing/vitest";
import type { CreateStore } from "@holodeck/agui-testing/vitest";
import { afterAll, describe } from "vitest";
import { redisSessions } from "../src/redis/index.ts";
import { startRedis } from "./_redis.ts";
import type { clientKinds } from "./_redis.ts";

/** Both suites with one kind of client. */
export async function testRedisSessions(kind: (typeof clientKinds)[number]): Promise<void> {
  const name = `redisSessions with ${kind}`;
  const redis = await startRedis(`${name}: testSessionStore and testRunLog`);

  describe.runIf(redis)("redisSessions", () => {
    afterAll(() => redis!.stop());
    let stores = 0;
    const second: CreateStore = async (setup) =>
      redisSessions({ client: await redis![kind](), prefix: `test-${stores}`, ...setup });
    const create: CreateStore = (setup) => {
      stores++;
      return second(setup);
    };
    testSessionStore(name, create, { clock: "real", second });
    testRunLog(name, create, { clock: "real", second });
  });
}
