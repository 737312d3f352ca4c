// A child of the bench: starts one subject, reports its address, and answers with what it has used.
const [url] = process.argv.slice(2);
const before = process.cpuUsage();
const { start } = await import(url);
const port = await start();
const { user, system } = process.cpuUsage(before);
process.send({ port, startCpuMs: (user + system) / 1_000, startMs: process.uptime() * 1_000 });

process.on("message", ({ collect }) => {
  // Twice: what the first one finalizes is free only after the second.
  if (collect && globalThis.gc) for (const _ of [1, 2]) globalThis.gc();
  const cpu = process.cpuUsage();
  const { rss, heapUsed, external } = process.memoryUsage();
  process.send({ cpuUs: cpu.user + cpu.system, rss, heapUsed, external });
});
process.on("disconnect", () => process.exit());
