// A second process on a store: follows the runs that it is sent, and reports when it received an entry.
import { openAt } from "./open-store.mjs";

const [name, at] = process.argv.slice(2);
const { store, close } = await openAt(name, at);
const now = () => performance.timeOrigin + performance.now();

process.on("message", async ({ key }) => {
  const left = new AbortController();
  for await (const entries of store.runs.follow(key, 0, left.signal)) {
    const at = now();
    for (const { to } of entries) process.send({ runId: key.runId, offset: to, at });
    if (entries.at(-1).event.type === "RUN_FINISHED") break;
  }
});
process.once("disconnect", async () => {
  await close();
  process.exit(0);
});
process.send({ ready: true });
