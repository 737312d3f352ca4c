import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { memorySessions } from "@holodeck/agui-sessions";
import { postgresSessions } from "@holodeck/agui-sessions/postgres";
import { redisSessions } from "@holodeck/agui-sessions/redis";
import { fakeClock } from "@holodeck/agui-testing";
import { expect, onTestFinished, test } from "vitest";
import { clientKinds, connectAs, startPostgres } from "../../sessions/test/_postgres.ts";
import { startRedis } from "../../sessions/test/_redis.ts";
import { createAgentHandler } from "../src/index.ts";
import { memoryLogger, post, say } from "./_helpers.ts";
import { sourceFlags } from "../../../scripts/test-support/source-flags.ts";

type Redis = NonNullable<Awaited<ReturnType<typeof startRedis>>>;
type Configure = (name: string, ...rest: string[]) => Promise<unknown>;

const patience = { interval: 200, timeout: 30_000 };

const faults = {
  async "that is full"(config: Configure) {
    await config("CONFIG", "SET", "maxmemory-policy", "noeviction");
    await config("CONFIG", "SET", "maxmemory", "1");
    return () => config("CONFIG", "SET", "maxmemory", "0");
  },
  async "whose replicas are away"(config: Configure) {
    await config("CONFIG", "SET", "min-replicas-to-write", "1");
    return () => config("CONFIG", "SET", "min-replicas-to-write", "0");
  },
  async "that became a replica"(config: Configure, primary: Redis) {
    await config("REPLICAOF", "127.0.0.1", String(primary.port));
    return () => config("REPLICAOF", "NO", "ONE");
  },
};

const answers: Readonly<Record<keyof typeof faults, RegExp>> = {
  "that is full": /^OOM /,
  "whose replicas are away": /^NOREPLICAS /,
  "that became a replica": /^READONLY /,
};

test.for(Object.keys(faults) as (keyof typeof faults)[])(
  "a Redis %s is not ready, while the process is healthy",
  async (fault, { skip }) => {
    const redis = await startRedis("stores that refuse writes");
    const primary = await startRedis("stores that refuse writes");
    if (!redis || !primary) return skip();
    onTestFinished(() => redis.stop());
    onTestFinished(() => primary.stop());
    const client = await redis.ioRedis();
    const config: Configure = (name, ...rest) => client.call(name, ...rest);
    const sessions = redisSessions({ client: await redis.nodeRedis(), commandMs: 500 });
    const logger = memoryLogger();
    const handler = createAgentHandler(async () => "hello", { sessions, logger });
    onTestFinished(() => handler.close({ timeoutMs: 100 }));
    const ask = async (path: string): Promise<[number, unknown]> => {
      const response = await handler.fetch(new Request(`http://test.local${path}`));
      return [response.status, await response.json()];
    };
    const isReady = async (): Promise<unknown> => (await ask("/ready"))[0];
    expect(await isReady()).toBe(200);
    // What the probe wrote is gone by itself.
    await expect.poll(() => config("KEYS", "*")).toEqual([]);

    const repair = await faults[fault](config, primary);
    await expect.poll(isReady, patience).toBe(503);
    expect(await ask("/health")).toMatchObject([
      200,
      {
        status: "degraded",
        checks: [{ name: "sessions", status: "degraded", reason: "The store refuses writes." }],
      },
    ]);
    expect(await ask("/ready")).toEqual([
      503,
      { ready: false, state: "ready", reason: "The store refuses writes." },
    ]);
    // On a busy machine some calls have no answer in time, which is another reason.
    const isCause = (error: unknown): boolean =>
      answers[fault].test((error as { cause?: Error }).cause?.message ?? "");
    const reported = (message: string): unknown[] =>
      logger.records.filter((one) => one.message === message && isCause(one.error));
    const warned = async (): Promise<unknown> => {
      await isReady();
      return reported("A health check failed.")[0];
    };
    await expect.poll(warned, patience).toMatchObject({ check: "sessions" });
    const failed = async (): Promise<unknown> => {
      expect((await handler.fetch(post({ messages: [say("hi")] }))).status).toBe(503);
      return reported("A request failed.").length;
    };
    await expect.poll(failed, patience).toBeGreaterThan(0);

    await repair();
    await expect.poll(isReady, patience).toBe(200);
    const served = async (): Promise<number> =>
      (await handler.fetch(post({ messages: [say("hi")] }))).status;
    await expect.poll(served, patience).toBe(200);
  },
);

test.for(["nodeRedis", "ioRedis"] as const)(
  "why there is no connection to Redis is in the log, with %s",
  { timeout: 30_000 },
  async (kind, { skip }) => {
    const redis = await startRedis("stores that refuse writes");
    if (!redis) return skip();
    onTestFinished(() => redis.stop());
    const sessions = redisSessions({ client: await redis[kind](), commandMs: 500 });
    const logger = memoryLogger();
    const handler = createAgentHandler(async () => "hello", { sessions, logger });
    onTestFinished(() => handler.close({ timeoutMs: 100 }));
    await redis.kill();
    const causes = async (): Promise<unknown> => {
      await handler.fetch(post({ messages: [say("hi")] }));
      const { error } = logger.records.at(-1) as { error?: { cause?: unknown } };
      return String(error?.cause);
    };
    await expect.poll(causes, patience).toMatch(/ECONNREFUSED/);
    const response = await handler.fetch(new Request("http://test.local/ready"));
    expect(await response.json()).toMatchObject({ reason: "The store is not reachable." });
  },
);

test("a SQLite file that cannot grow is not ready", async ({ skip }) => {
  const hasLimits = spawnSync("prlimit", ["--version"]).status === 0;
  if (!hasLimits) return skip("prlimit is a command of Linux");
  const folder = mkdtempSync(join(tmpdir(), "agui-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const script = fileURLToPath(new URL("_draining-child.ts", import.meta.url));
  const flags = [...sourceFlags, script];
  const child = spawn(process.execPath, [...flags, "SQLite", join(folder, "threads.db")], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  let out = "";
  while (!out.includes("port")) out += String((await once(child.stdout, "data"))[0]);
  const url = `http://127.0.0.1:${/port (\d+)/.exec(out)![1]}`;
  const isReady = async (): Promise<number> => (await fetch(`${url}/ready`)).status;
  expect(await isReady()).toBe(200);
  // As on a full disk, writes past the limit fail.
  const limit = (size: string): unknown =>
    spawnSync("prlimit", ["--pid", String(child.pid), `--fsize=${size}:unlimited`]);
  limit("1");
  await expect.poll(isReady, patience).toBe(503);
  limit("unlimited");
  await expect.poll(isReady, patience).toBe(200);
});

test.for(clientKinds)(
  "a PostgreSQL that is read-only is not ready, with %s",
  { timeout: 60_000 },
  async (kind, { skip }) => {
    const server = await startPostgres("stores that refuse writes");
    if (!server) return skip();
    onTestFinished(() => server.stop());
    const schema = await server.schema();
    const client = await connectAs(server, kind);
    const sessions = postgresSessions({ client, schema });
    const logger = memoryLogger();
    const handler = createAgentHandler(async () => "hello", { sessions, logger });
    onTestFinished(() => handler.close({ timeoutMs: 1_000 }));
    const get = (path: string): Promise<Response> =>
      handler.fetch(new Request(`http://test.local${path}`));
    const ask = async (path: string): Promise<number> => (await get(path)).status;
    expect(await ask("/ready")).toBe(200);
    // As after a fail-over to a server that may not write yet, and with connections that stay.
    const allow = async (writes: boolean): Promise<void> => {
      await server.sql(`ALTER SYSTEM SET default_transaction_read_only = ${writes ? "off" : "on"}`);
      await server.sql("SELECT pg_reload_conf()");
    };

    await allow(false);
    await expect.poll(() => ask("/ready"), patience).toBe(503);
    expect(await ask("/health")).toBe(200);
    // A check is given less time than a call: what the call found is reported by the next one.
    const reason = async (): Promise<unknown> =>
      ((await (await get("/ready")).json()) as { reason?: unknown }).reason;
    await expect.poll(reason, patience).toBe("The store refuses writes.");
    expect((await handler.fetch(post({ messages: [say("hi")] }))).status).toBe(503);
    expect(logger.records.find(({ message }) => message === "A request failed.")).toMatchObject({
      error: { cause: { message: expect.stringContaining("read-only transaction") } },
    });

    await allow(true);
    await expect.poll(() => ask("/ready"), patience).toBe(200);
    expect((await handler.fetch(post({ messages: [say("hi")] }))).status).toBe(200);
  },
);

test("is written to once in two seconds, however often health is asked for", async () => {
  const clock = fakeClock();
  let probes = 0;
  const sessions = Object.assign(memorySessions(), {
    count: async () => 1,
    async take() {
      probes++;
      return 0;
    },
  });
  const handler = createAgentHandler(async () => "hello", { sessions, clock });
  onTestFinished(() => handler.close({ timeoutMs: 0 }));
  const poll = async (): Promise<void> => {
    for (let count = 0; count < 50; count++) {
      const { status } = await handler.fetch(new Request("http://test.local/ready"));
      expect(status).toBe(200);
    }
  };
  await poll();
  expect(probes).toBe(1);
  await clock.advance(2_000);
  await poll();
  expect(probes).toBe(2);
});
