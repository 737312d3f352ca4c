// A child of the bench: starts one subject, says where it listens, and answers what it has used.
const [subject] = process.argv.slice(2);
const before = process.cpuUsage();
const { start } = await import(`./subjects/${subject}.mjs`);
const port = await start();
const { user, system } = process.cpuUsage(before);
process.send({ port, startCpuMs: (user + system) / 1_000, startMs: process.uptime() * 1_000 });

process.on("message", (message) => {
  if (message === "usage") {
    if (globalThis.gc) globalThis.gc();
    const cpu = process.cpuUsage();
    process.send({ cpuUs: cpu.user + cpu.system, ...process.memoryUsage() });
  }
});
process.on("disconnect", () => process.exit());
