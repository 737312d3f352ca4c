import { spawn, spawnSync } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import {
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Pool } from "pg";
import type { PoolConfig } from "pg";
import postgres from "postgres";
import { migrate } from "../src/postgres/index.ts";
import type { PgPool, PostgresClient, PostgresJs } from "../src/postgres/index.ts";
import { findService } from "../../../scripts/test-support/services.ts";
import { onFreePort } from "./_redis.ts";

/** A PostgreSQL of our own on a free port, with its data in a temporary folder. */
export interface TestPostgres {
  readonly port: number;
  /** The folder with its programs. */
  readonly programs: string;
  /** For files beside its data; the server may write there. */
  readonly folder: string;
  /** A new schema with our tables. */
  schema(): Promise<string>;
  /** A client of each kind; all are closed by `stop`. */
  pg(config?: PoolConfig): Promise<PgPool>;
  postgresJs(options?: Parameters<typeof postgres>[1]): Promise<PostgresJs>;
  /** One statement as superuser. */
  sql(text: string): Promise<unknown[]>;
  /** A file system of a few megabytes. Undefined where none can be mounted. */
  smallDisk(): Promise<SmallDisk | undefined>;
  /** Ends the server: `fast` writes everything, `immediate` is a crash. */
  shutDown(mode: "fast" | "immediate"): Promise<void>;
  /** Again, on the same port and data. */
  start(): Promise<void>;
  /** It keeps its connections and answers nothing. */
  pause(): void;
  resume(): void;
  stop(): Promise<void>;
}

interface SmallDisk {
  readonly path: string;
  grow(): void;
}

export const clientKinds = ["pg", "postgresJs"] as const;

export interface PostgresOptions {
  /** The folder with its programs. By default the newest that is found. */
  readonly programs?: string;
  readonly flags?: readonly string[];
  /** Its data as another server left it; nothing is made. */
  readonly data?: string;
}

/** Returns undefined when there is no PostgreSQL; then the caller skips, and this reports it. */
export async function startPostgres(
  suite: string,
  options: PostgresOptions = {},
): Promise<TestPostgres | undefined> {
  const programs = options.programs ?? findService("postgres", suite);
  if (!programs) return undefined;
  const folder = mkdtempSync(join(tmpdir(), "agui-pg-"));
  own(folder);
  const data = options.data ?? join(folder, "data");
  if (!options.data) {
    const copied = spawnSync("cp", ["-a", emptyData(programs), data]);
    if (copied.status !== 0) throw new Error(`cp failed: ${String(copied.stderr)}`);
  }
  const closers: (() => unknown)[] = [];
  const place = (port: number): string[] => {
    const address = ["-p", String(port), "-k", folder, "-h", "127.0.0.1"];
    return ["-D", data, ...address, "-F", "-N", "200", "-c", "shared_buffers=32MB"];
  };
  const spawnServer = (port: number): Promise<ChildProcess> =>
    run(join(programs, "postgres"), [...place(port), ...(options.flags ?? [])], folder);
  const first = await onFreePort(async (port) => ({ port, server: await spawnServer(port) }));
  const { port } = first;
  let server: ChildProcess = first.server;
  let schemas = 0;
  const unmount: string[] = [];

  const admin = new Pool(settings({ max: 2 }));
  admin.on("error", () => undefined);
  closers.push(() => admin.end());

  function settings(config: PoolConfig): PoolConfig {
    return { host: "127.0.0.1", port, user: "postgres", database: "postgres", ...config };
  }

  async function end(signal: NodeJS.Signals): Promise<void> {
    if (server.exitCode !== null || server.signalCode !== null) return;
    const exited = once(server, "exit");
    server.kill("SIGCONT");
    server.kill(signal);
    await exited;
  }

  return {
    port,
    programs,
    folder,
    async smallDisk() {
      const path = join(folder, "small");
      mkdirSync(path);
      const mount = (flags: string): boolean =>
        spawnSync("mount", ["-t", "tmpfs", "-o", flags, "tmpfs", path]).status === 0;
      if (!mount("size=6m,mode=700")) return undefined;
      closers.push(() => unmount.push(path));
      own(path);
      return { path, grow: () => void mount("remount,size=64m") };
    },
    async schema() {
      const schema = `test_${++schemas}`;
      await migrate({ client: admin, schema });
      return schema;
    },
    async pg(config = {}) {
      const pool = new Pool(settings({ max: 8, ...config }));
      pool.on("error", () => undefined);
      closers.push(() => pool.end());
      return pool;
    },
    async postgresJs(options = {}) {
      const sql = postgres({
        host: "127.0.0.1",
        port,
        user: "postgres",
        database: "postgres",
        max: 8,
        onnotice: () => undefined,
        ...options,
      } as Parameters<typeof postgres>[1]);
      closers.push(() => sql.end({ timeout: 1 }));
      return sql;
    },
    sql: async (text) => (await admin.query(text)).rows,
    shutDown: (mode) => end(mode === "fast" ? "SIGINT" : "SIGQUIT"),
    async start() {
      server = await spawnServer(port);
    },
    pause: () => signalAll(server.pid!, "SIGSTOP"),
    resume: () => signalAll(server.pid!, "SIGCONT"),
    async stop() {
      await Promise.allSettled(closers.map((close) => close()));
      await end("SIGQUIT");
      for (const path of unmount) spawnSync("umount", [path]);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Data as `initdb` makes it, once for this machine: that takes longer than everything else about a start. */
function emptyData(programs: string): string {
  const { stdout } = spawnSync(join(programs, "postgres"), ["--version"], { encoding: "utf8" });
  const made = join(
    tmpdir(),
    `agui-empty-${stdout.trim().replaceAll(/\W+/g, "-")}-${process.getuid?.() ?? 0}`,
  );
  if (existsSync(made)) return made;
  const folder = mkdtempSync(join(tmpdir(), "agui-initdb-"));
  own(folder);
  const data = join(folder, "data");
  const make = ["-D", data, "-A", "trust", "-U", "postgres", "-E", "UTF8", "--locale=C"];
  const result = spawnSync(join(programs, "initdb"), [...make, "--no-sync"], asServer(folder));
  if (result.status !== 0) throw new Error(`initdb failed: ${String(result.stderr)}`);
  try {
    renameSync(data, made);
  } catch {
    // Another process was faster.
  }
  rmSync(folder, { recursive: true, force: true });
  return made;
}

/** To a server and the processes of its connections. */
function signalAll(pid: number, signal: NodeJS.Signals): void {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8");
  for (const one of [pid, ...children.trim().split(" ").filter(Boolean).map(Number)]) {
    process.kill(one, signal);
  }
}

/** A client of one of two kinds. */
export function connectAs(
  server: Pick<TestPostgres, "pg" | "postgresJs">,
  kind: (typeof clientKinds)[number],
): Promise<PostgresClient> {
  // Its own question for types fails without a handler when the server does.
  return kind === "pg" ? server.pg() : server.postgresJs({ fetch_types: false });
}

/** Starts a program as a user that PostgreSQL accepts, and waits until it takes connections. */
async function run(
  program: string,
  args: readonly string[],
  folder: string,
  ready = "ready to accept",
): Promise<ChildProcess> {
  const child = spawn(program, args, { ...asServer(folder), stdio: ["ignore", "pipe", "pipe"] });
  let output = "";
  await new Promise<void>((resolve, reject) => {
    const read = (chunk: Buffer): void => {
      if (output.length < 100_000) output += String(chunk);
      if (output.includes(ready)) resolve();
    };
    child.stdout.on("data", read);
    child.stderr.on("data", read);
    child.once("error", reject);
    child.once("exit", () => reject(new Error(`${program} ended: ${output}`)));
  });
  return child;
}

function own(path: string): void {
  const { uid, gid } = asServer(path);
  if (uid !== undefined && gid !== undefined) chownSync(path, uid, gid);
}

/** PostgreSQL refuses to run as root. */
export function asServer(cwd: string): { cwd: string; uid?: number; gid?: number } {
  if (process.getuid?.() !== 0) return { cwd };
  const id = (flag: string): number | undefined => {
    const { status, stdout } = spawnSync("id", [flag, "postgres"], { encoding: "utf8" });
    return status === 0 ? Number(stdout) : undefined;
  };
  return { cwd, uid: id("-u") ?? 65_534, gid: id("-g") ?? 65_534 };
}
