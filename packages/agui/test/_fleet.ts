import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { connect, createServer } from "node:net";
import type { AddressInfo, Socket } from "node:net";
import { fileURLToPath } from "node:url";
import { sourceFlags } from "../../../scripts/test-support/source-flags.ts";

/** Some server processes on one store, behind a proxy that takes them in turn. */
export interface Fleet {
  /** Of the proxy. */
  readonly port: number;
  /** The processes that were killed. */
  readonly killed: ReadonlySet<number>;
  /** What the processes said on standard error. */
  readonly complaints: readonly string[];
  /** SIGKILL to the next one in turn, and another in its place; resolves when that one serves. */
  kill(): Promise<void>;
  close(): Promise<void>;
}

interface Member {
  child: ChildProcess;
  port: number;
}

export interface FleetOptions {
  readonly size: number;
  /** Which store, and the port of its server. */
  readonly store: "redis" | "postgres";
  readonly storePort: number;
  readonly leaseMs: number;
  readonly paceMs: number;
}

export async function startFleet(options: FleetOptions): Promise<Fleet> {
  const complaints: string[] = [];
  const killed = new Set<number>();
  const members = await Promise.all(Array.from({ length: options.size }, () => spawnOne()));
  let turn = 0;
  let victim = 0;

  async function spawnOne(): Promise<Member> {
    const { store, storePort, leaseMs, paceMs } = options;
    const script = fileURLToPath(new URL("_fleet-child.ts", import.meta.url));
    const args = [...sourceFlags, script];
    const given = [store, ...[storePort, leaseMs, paceMs].map(String)];
    const child = spawn(process.execPath, [...args, ...given], {
      stdio: ["ignore", "pipe", "pipe"],
    });
    child.stderr.on("data", (chunk: Buffer) => complaints.push(String(chunk)));
    for await (const chunk of child.stdout) return { child, port: Number(String(chunk)) };
    throw new Error(`A server did not start: ${complaints.join("")}`);
  }

  const open = new Set<Socket>();
  const proxy = createServer((socket) => {
    // Also to one that is dead, as a proxy does before it has noticed.
    const upstream = connect(members[turn++ % members.length]!.port, "127.0.0.1");
    for (const [one, other] of [
      [socket, upstream],
      [upstream, socket],
    ] as const) {
      open.add(one);
      one.on("error", () => other.destroy()).on("close", () => (open.delete(one), other.destroy()));
      one.pipe(other);
    }
  }).listen(0, "127.0.0.1");
  await once(proxy, "listening");

  return {
    port: (proxy.address() as AddressInfo).port,
    killed,
    complaints,
    async kill() {
      const index = victim++ % members.length;
      const { child } = members[index]!;
      killed.add(child.pid!);
      child.kill("SIGKILL");
      members[index] = await spawnOne();
    },
    async close() {
      for (const socket of open) socket.destroy();
      proxy.close();
      await Promise.all(
        members.map(async ({ child }) => {
          const exited = once(child, "exit");
          child.kill("SIGKILL");
          await exited;
        }),
      );
    },
  };
}
