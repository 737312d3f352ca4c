// A process of its own that runs something until it is killed: port, prefix, leaseMs.
import { EventType } from "@holodeck/agui-core";
import { createClient } from "redis";
import { redisSessions } from "../src/redis/index.ts";

const [port, prefix = "", leaseMs] = process.argv.slice(2);
const client = createClient({ socket: { host: "127.0.0.1", port: Number(port) } });
await client.connect();
const { runs } = redisSessions({ client, prefix, leaseMs: Number(leaseMs), commandMs: 20_000 });
const key = { principal: "ann", threadId: "t1", runId: "r1" };
const lease = await runs.open(key, { agentId: "agent" });
if ("busy" in lease) throw new Error("busy");
for (let offset = 1; ; offset++) {
  const event = { type: EventType.CUSTOM, name: "mark", value: offset };
  await runs.append(lease, [{ from: offset, to: offset, at: offset, event }]);
  if (offset === 50) process.stdout.write("running\n");
  await new Promise((resolve) => setTimeout(resolve, 2));
}
