import { cpSync, writeFileSync } from "node:fs";
import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Target } from "../checks/check.ts";
import { bundleWorker } from "./bundle.ts";
import { cache, installPeers } from "./peers.ts";
import { writeConfig } from "./workerd.ts";

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
  /** Checks that cannot pass there, by the name of the check, and why. */
  readonly except?: Readonly<Record<string, string>>;
  /** Installs and writes what it needs. */
  prepare(port: number): Promise<Start> | Start;
  connect(port: number): Target;
}

const servers = fileURLToPath(new URL("../servers/", import.meta.url));

/** Puts a server, a file or a file in a folder, beside its packages. Returns its path. */
function place(server: string, folder: string): string {
  const [top = server] = server.split("/");
  cpSync(join(servers, top), join(folder, top), { recursive: true });
  return join(folder, server);
}

function overHttp(port: number): Target {
  return { url: `http://127.0.0.1:${port}/api`, fetch };
}

/** A binary among the runtimes. */
function runtime(path: string): string {
  return join(installPeers("runtimes"), "node_modules", path);
}

type HostInit = Pick<Host, "name" | "title"> & Partial<Pick<Host, "except" | "connect">>;

interface NodeInit extends HostInit {
  readonly server: string;
  /** The group of peers it needs. */
  readonly peers?: string;
  /** Which of the runtimes. */
  readonly version?: string;
  readonly env?: Readonly<Record<string, string>>;
}

/** A server on Node. */
export function onNode(init: NodeInit): Host {
  const { server, peers = "runtimes", version = "node-24", env = {}, ...rest } = init;
  return {
    connect: overHttp,
    ...rest,
    prepare() {
      const folder = installPeers(peers);
      return { command: [runtime(`${version}/bin/node`), place(server, folder)], cwd: folder, env };
    },
  };
}

/** A server on Bun. */
export function onBun(init: HostInit & { server: string; peers?: string }): Host {
  const { server, peers = "runtimes", ...rest } = init;
  return {
    connect: overHttp,
    ...rest,
    prepare() {
      const folder = installPeers(peers);
      return {
        command: [runtime("@oven/bun-linux-x64/bin/bun"), place(server, folder)],
        cwd: folder,
      };
    },
  };
}

/** A server on Deno, which may use the network and nothing else. */
export function onDeno(init: HostInit & { server: string; peers?: string }): Host {
  const { server, peers = "runtimes", ...rest } = init;
  return {
    connect: overHttp,
    ...rest,
    prepare(port) {
      const folder = installPeers(peers);
      const args = ["run", "--no-prompt", "--allow-net", place(server, folder), String(port)];
      return { command: [runtime("@deno/linux-x64-glibc/deno"), ...args], cwd: folder };
    },
  };
}

interface WorkerInit extends HostInit {
  readonly date: string;
  readonly flags?: readonly string[];
  readonly server?: string;
  /** The class of its Durable Object. */
  readonly actor?: string;
}

/** A worker on workerd. */
export function onWorkerd(init: WorkerInit): Host {
  const { date, flags = [], server = "worker.mjs", actor, ...rest } = init;
  return {
    connect: overHttp,
    ...rest,
    async prepare(port) {
      const main = await bundleWorker(place(server, installPeers("runtimes")));
      const worker = { folder: cache, name: init.name, port, main, date, flags };
      const config = writeConfig(actor ? { ...worker, actor } : worker);
      const binary = runtime("@cloudflare/workerd-linux-64/bin/workerd");
      return { command: [binary, "serve", config], cwd: cache };
    },
  };
}

/** A worker as `wrangler dev` bundles and serves it, without an account. It wants a newer Node than 20. */
export function onWrangler(init: HostInit & { date: string; server: string }): Host {
  const { date, server, ...rest } = init;
  return {
    connect: overHttp,
    ...rest,
    prepare(port) {
      const folder = installPeers("wrangler");
      const config = { name: init.name, main: server, compatibility_date: date };
      place(server, folder);
      writeFileSync(join(folder, "wrangler.json"), JSON.stringify(config));
      const args = ["dev", "--local", "--ip", "127.0.0.1", "--inspector-port", "0"];
      const env = { CI: "true", WRANGLER_SEND_METRICS: "false", XDG_CONFIG_HOME: folder };
      const script = "node_modules/wrangler/bin/wrangler.js";
      const node = runtime("node-24/bin/node");
      return { command: [node, script, ...args, "--port", String(port)], cwd: folder, env };
    },
  };
}

interface ProjectInit extends HostInit {
  /** The folder in servers/, and the group of its peers. */
  readonly project: string;
  readonly peers?: string;
  /** Scripts of its packages with their arguments: the first one builds, the second one serves. */
  readonly build: readonly string[];
  readonly serve: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

/** A project of a framework, built and served by its own commands on Node 24. */
export function onFramework(init: ProjectInit): Host {
  const { project, peers = project, build, serve, env = {}, ...rest } = init;
  return {
    connect: overHttp,
    ...rest,
    prepare(port) {
      const folder = installPeers(peers);
      cpSync(join(servers, project), folder, { recursive: true });
      for (const app of ["app.edge.mjs", "app.node.mjs"])
        cpSync(join(cache, app), join(folder, app));
      const node = runtime("node-24/bin/node");
      const withPort = (args: readonly string[]): string[] =>
        args.map((arg) => arg.replace("PORT", String(port)));
      const all = { ...process.env, ...env, NODE_ENV: "production", CI: "true" };
      execFileSync(node, withPort(build), { cwd: folder, env: all, stdio: "pipe" });
      return { command: [node, ...withPort(serve)], cwd: folder, env };
    },
  };
}
