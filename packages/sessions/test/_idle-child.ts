/** Has threads in memory that would expire in an hour, and nothing to do. */
import { memorySessions } from "../src/index.ts";

const store = memorySessions({ ttlMs: 3_600_000 });
await store.create({ principal: "ann", threadId: "t" }, { agentId: "a" });
process.stdout.write("Nothing left to do.\n");
