import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { once } from "node:events";
import { Cluster, Redis } from "ioredis";
import { createCluster } from "redis";
import type { RedisClient } from "../src/redis/index.ts";
import { freePort, hasRedis, killRedis, onFreePort, spawnRedis } from "./_redis.ts";
import { isReplicated } from "./_redis-replication.ts";
import { until } from "./_redis-runs.ts";

export interface TestCluster {
  nodeRedis(): Promise<RedisClient>;
  ioRedis(): Promise<RedisClient>;
  /** SIGKILL for the node of the first slots once its replica has its data; resolves when that has taken over. */
  failOver(): Promise<void>;
  stop(): Promise<void>;
}

interface Node {
  port: number;
  bus: number;
  server: Awaited<ReturnType<typeof spawnRedis>>;
}

/** Three masters that share the slots; the first may have a replica. */
export async function startCluster(
  suite: string,
  { hasReplica = false }: { readonly hasReplica?: boolean } = {},
): Promise<TestCluster | undefined> {
  if (!hasRedis(suite)) return undefined;
  const dir = await mkdtemp(join(tmpdir(), "agui-cluster-"));
  const closers: (() => unknown)[] = [];
  const nodes: (Node & { readonly client: Redis })[] = [];
  for (let index = 0; index < (hasReplica ? 4 : 3); index++) {
    const { port, bus, server } = await onFreePort(startNode);
    const client = new Redis(port, "127.0.0.1");
    closers.push(() => killRedis(server));
    nodes.push({ port, bus, client, server });
  }
  async function startNode(port: number): Promise<Node> {
    const bus = await freePort();
    const files = ["--dir", dir, "--cluster-config-file", `${port}.conf`];
    const flags = ["--cluster-enabled", "yes", "--cluster-port", String(bus)];
    // Else a replica waits for long before it takes over; and a busy machine must not look like a dead one.
    if (hasReplica) flags.push("--cluster-node-timeout", "2000");
    return { port, bus, server: await spawnRedis(port, [...flags, ...files]) };
  }
  const bounds = [0, 5_461, 10_923, 16_384];
  for (const [index, { client }] of nodes.slice(0, 3).entries()) {
    await client.call("CLUSTER", "ADDSLOTSRANGE", bounds[index]!, bounds[index + 1]! - 1);
  }
  for (const { port, bus } of nodes.slice(1)) {
    await nodes[0]!.client.call("CLUSTER", "MEET", "127.0.0.1", port, bus);
  }
  const replica = nodes[3];
  const isWhole = async (client: Redis): Promise<boolean> => {
    const info = String(await client.call("CLUSTER", "INFO"));
    const isKnown = info.includes(`cluster_known_nodes:${nodes.length}`);
    return info.includes("cluster_state:ok") && isKnown;
  };
  for (const { client } of nodes) await until(() => isWhole(client));
  if (replica) {
    const id = String(await nodes[0]!.client.call("CLUSTER", "MYID"));
    await replica.client.call("CLUSTER", "REPLICATE", id);
    await until(async () => {
      const info = String(await replica.client.call("INFO", "replication"));
      return info.includes("master_link_status:up");
    });
    // The others know it too: they vote.
    for (const { client } of nodes.slice(0, 3)) {
      await until(async () => String(await client.call("CLUSTER", "NODES")).includes(" slave "));
    }
  }
  for (const { client } of nodes) client.disconnect();
  const addresses = nodes.map(({ port }) => ({ host: "127.0.0.1", port }));
  return {
    async nodeRedis() {
      const rootNodes = addresses.map((socket) => ({ socket }));
      const cluster = createCluster({ rootNodes });
      await cluster.connect();
      closers.unshift(() => cluster.destroy());
      return cluster;
    },
    async ioRedis() {
      const cluster = new Cluster(addresses);
      await once(cluster, "ready");
      closers.unshift(() => cluster.disconnect());
      return cluster;
    },
    async failOver() {
      await isReplicated(nodes[0]!.port, replica!.port);
      const promoted = new Redis(replica!.port, "127.0.0.1");
      await killRedis(nodes[0]!.server);
      await until(async () => {
        const info = String(await promoted.call("INFO", "replication"));
        return info.includes("role:master") && (await isWhole(promoted));
      });
      promoted.disconnect();
    },
    async stop() {
      for (const close of closers) await close();
      await rm(dir, { recursive: true });
    },
  };
}
