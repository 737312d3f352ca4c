// A thousand threads of a megabyte in a memory store, as they come: each parsed from JSON in its own turn.
import { memorySessions } from "../src/index.ts";

const MiB = 1024 * 1024;
const threads = 1_000;
const store = memorySessions({ memoryBytes: 256 * MiB });
const body = JSON.stringify([{ id: "m", role: "user", content: "x".repeat(MiB) }]);
let rss = 0;
for (let thread = 0; thread < threads; thread++) {
  const key = { principal: "ann", threadId: `t${thread}` };
  await store.create(key, { agentId: "agent" });
  await store.update(key, { messages: JSON.parse(body) as never });
  rss = Math.max(rss, process.memoryUsage.rss());
  await new Promise((resolve) => setImmediate(resolve));
}
const { items } = await store.list({ principal: "ann", limit: threads });
const kept = items.map(({ threadId }) => Number(threadId.slice(1))).sort((a, b) => a - b);
process.stdout.write(JSON.stringify({ rss, kept }));
