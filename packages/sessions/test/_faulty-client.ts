import type { StoreSetup } from "@holodeck/agui-testing/vitest";
import type { RedisClient } from "../src/redis/index.ts";

/** A client whose commands go through the suite, which lets some of them fail. */
export function faultyClient(client: RedisClient, through: StoreSetup["through"]): RedisClient {
  if (!through) return client;
  return new Proxy(client, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name, target);
      if (typeof value !== "function") return value;
      const method = value.bind(target) as (...args: unknown[]) => Promise<unknown>;
      if (name !== "sendCommand" && name !== "call") return method;
      return (...args: unknown[]) => through(() => method(...args));
    },
  });
}
