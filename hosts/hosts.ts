import { copyFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Target } from "./checks/check.ts";
import { bundleWorker } from "./lib/bundle.ts";
import { cache, installPeers } from "./lib/peers.ts";
import { writeConfig } from "./lib/workerd.ts";

/** How a host is started. */
interface Start {
  readonly command: readonly string[];
  readonly cwd: string;
  readonly env?: Readonly<Record<string, string>>;
}

export interface Host {
  readonly name: string;
  /** As the page on hosts has it. */
  readonly title: string;
  /** Installs and writes what it needs. */
  prepare(port: number): Promise<Start> | Start;
  connect(port: number): Target;
}

const servers = fileURLToPath(new URL("servers/", import.meta.url));

function overHttp(port: number): Target {
  return { url: `http://127.0.0.1:${port}/api`, fetch };
}

function place(file: string): string {
  copyFileSync(join(servers, file), join(cache, file));
  return join(cache, file);
}

function workerd(
  name: string,
  title: string,
  options: { date: string; flags?: string[]; main?: string; actor?: string },
): Host {
  const { date, flags = [], main = "worker.mjs", actor } = options;
  return {
    name,
    title,
    async prepare(port) {
      const peers = installPeers("runtimes");
      const binary = join(peers, "node_modules/@cloudflare/workerd-linux-64/bin/workerd");
      const bundled = await bundleWorker(place(main), peers);
      const worker = { folder: cache, name, port, main: bundled, date, flags };
      const config = writeConfig(actor ? { ...worker, actor } : worker);
      return { command: [binary, "serve", config], cwd: cache };
    },
    connect: overHttp,
  };
}

const newest = "2026-11-10";
const compat = ["nodejs_compat"];

export const hosts: readonly Host[] = [
  node("node-20", "20.19.0"),
  node("node-22", "22.23.3"),
  node("node-24", "24.21.0"),
  node("node-26", "26.10.0"),
  {
    name: "bun",
    title: "Bun.serve",
    prepare() {
      const binary = join(installPeers("runtimes"), "node_modules/@oven/bun-linux-x64/bin/bun");
      return { command: [binary, place("bun.mjs")], cwd: cache };
    },
    connect: overHttp,
  },
  {
    name: "deno",
    title: "Deno.serve",
    prepare(port) {
      const binary = join(installPeers("runtimes"), "node_modules/@deno/linux-x64-glibc/deno");
      const args = ["run", "--no-prompt", "--allow-net", place("deno.mjs"), String(port)];
      return { command: [binary, ...args], cwd: cache };
    },
    connect: overHttp,
  },
  workerd("worker", `Worker, compatibility date ${newest}`, { date: newest }),
  workerd("worker-compat", `Worker, ${newest}, nodejs_compat`, { date: newest, flags: compat }),
  workerd("worker-2025", "Worker, 2025-05-01", { date: "2025-05-01" }),
  workerd("worker-2025-compat", "Worker, 2025-05-01, nodejs_compat", {
    date: "2025-05-01",
    flags: compat,
  }),
  workerd("worker-2024", "Worker, 2024-09-23", { date: "2024-09-23" }),
  workerd("worker-2024-compat", "Worker, 2024-09-23, nodejs_compat", {
    date: "2024-09-23",
    flags: compat,
  }),
  workerd("hono-worker", "Hono on a Worker", { date: newest, main: "hono-worker.mjs" }),
  workerd("durable-object", "Durable Object", {
    date: newest,
    main: "durable-object.mjs",
    actor: "Agents",
  }),
];

function node(name: string, version: string): Host {
  return {
    name,
    title: `Node ${version}, node:http`,
    prepare() {
      const binary = join(installPeers("runtimes"), "node_modules", name, "bin/node");
      return { command: [binary, place("node.mjs")], cwd: cache };
    },
    connect: overHttp,
  };
}
