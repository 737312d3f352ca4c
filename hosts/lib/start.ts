import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:net";
import type { AddressInfo } from "node:net";
import { createInterface } from "node:readline";
import type { Target } from "../checks/check.ts";
import type { Host } from "./launch.ts";

export interface StartedHost {
  readonly target: Target;
  /** What it has printed. */
  readonly output: () => string;
  stop(): Promise<void>;
}

/** Starts a host on a free port and waits until it answers. */
export async function startHost(host: Host): Promise<StartedHost> {
  const port = await findPort();
  const { command, cwd, env = {} } = await host.prepare(port);
  const target = host.connect(port);
  const [file, ...args] = command;
  const child = spawn(file!, args, {
    cwd,
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...process.env, NO_COLOR: "1", PORT: String(port), ...env },
    // A group, since some commands start others.
    detached: true,
  });
  const lines: string[] = [];
  for (const stream of [child.stdout, child.stderr]) {
    createInterface({ input: stream }).on("line", (line) => lines.push(line));
  }
  const ended = once(child, "exit");
  const output = (): string => lines.join("\n");
  try {
    await answers(target, child, output);
  } catch (error) {
    await stop(child, ended);
    throw error;
  }
  return { target, output, stop: () => stop(child, ended) };
}

async function answers(target: Target, child: ChildProcess, output: () => string): Promise<void> {
  const until = performance.now() + 120_000;
  while (performance.now() < until) {
    if (child.exitCode !== null) throw new Error(`It ended with ${child.exitCode}.\n${output()}`);
    try {
      const { ok } = await target.fetch(`${target.url}/health`);
      if (ok) return;
    } catch {
      // Not yet.
    }
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  throw new Error(`It does not answer.\n${output()}`);
}

async function stop(child: ChildProcess, ended: Promise<unknown>): Promise<void> {
  if (child.exitCode === null && child.signalCode === null) process.kill(-child.pid!, "SIGKILL");
  await ended;
}

async function findPort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return port;
}
