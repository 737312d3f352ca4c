// A separate Redis for the bench, without a disk, and its statistics.
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { createClient } from "redis";
import { freePort } from "./free-port.mjs";

/** Starts one, or reports why there is none. */
export async function startRedis(report) {
  if (spawnSync("redis-server", ["--version"]).status !== 0) {
    report("NOT MEASURED: redis. It needs redis-server: apt-get install redis-server.");
    return undefined;
  }
  const port = await freePort();
  const flags = ["--port", String(port), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no"];
  const server = spawn("redis-server", flags, { stdio: ["ignore", "pipe", "inherit"] });
  const kill = () => server.kill("SIGKILL");
  process.once("exit", kill);
  for await (const chunk of server.stdout) {
    if (String(chunk).includes("Ready to accept connections")) break;
  }
  const url = `redis://127.0.0.1:${port}`;
  const client = await createClient({ url }).connect();
  return {
    url,
    client,
    /** CPU, commands, bytes in and out so far, and memory. */
    async usage() {
      const info = parseInfo(await client.info());
      return {
        cpuUs: (Number(info.used_cpu_user) + Number(info.used_cpu_sys)) * 1e6,
        commands: Number(info.total_commands_processed),
        netBytes: Number(info.total_net_input_bytes) + Number(info.total_net_output_bytes),
        memory: Number(info.used_memory),
      };
    },
    async end() {
      client.destroy();
      const exited = once(server, "exit");
      process.off("exit", kill);
      kill();
      await exited;
    },
  };
}

/** The lines `name:value` of INFO. */
function parseInfo(text) {
  const lines = text.split("\r\n").filter((line) => line.includes(":"));
  return Object.fromEntries(
    lines.map((line) => [line.slice(0, line.indexOf(":")), line.slice(line.indexOf(":") + 1)]),
  );
}
