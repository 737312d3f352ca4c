import { once } from "node:events";
import { Redis } from "ioredis";
import { createClient } from "redis";
import type { IoRedisClient, NodeRedisClient } from "../src/redis/index.ts";

/** The two kinds of clients, as a host makes them: connected, and left open. */
export const hostClients = {
  async "node-redis"(port: number): Promise<NodeRedisClient> {
    const client = createClient({ socket: { host: "127.0.0.1", port } });
    client.on("error", () => undefined);
    await client.connect();
    return client;
  },
  async ioredis(port: number): Promise<IoRedisClient> {
    const client = new Redis(port, "127.0.0.1");
    client.on("error", () => undefined);
    await once(client, "ready");
    return client;
  },
};
