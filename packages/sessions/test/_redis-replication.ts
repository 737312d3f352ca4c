import { Redis } from "ioredis";
import { until } from "./_redis-runs.ts";

/**
 * Resolves when a replica has all that its master has written by now. Replication is asynchronous: what the replica
 * has not received is lost with the master.
 */
export async function isReplicated(masterPort: number, replicaPort: number): Promise<void> {
  const master = new Redis(masterPort, "127.0.0.1");
  const replica = new Redis(replicaPort, "127.0.0.1");
  const written = await offsetOf(master);
  await until(async () => (await offsetOf(replica)) >= written);
  master.disconnect();
  replica.disconnect();
}

async function offsetOf(server: Redis): Promise<number> {
  const info = String(await server.call("INFO", "replication"));
  return Number(/^(?:slave|master)_repl_offset:(\d+)/m.exec(info)?.[1]);
}
