import { once } from "node:events";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { SessionStore } from "@holodeck/agui-core";
import { Redis } from "ioredis";
import { createClient } from "redis";
import { makeCertificate } from "../../../scripts/test-support/certificate.ts";
import { afterEach, describe, expect, test } from "vitest";
import { redisSessions } from "../src/redis/index.ts";
import type { RedisClient } from "../src/redis/index.ts";
import { clientKinds, killRedis, onFreePort, spawnRedis, startRedis } from "./_redis.ts";
import { codeOf, ending, follow, mark, open, until } from "./_redis-runs.ts";

const suite = "redisSessions: users and TLS";
const probe = await startRedis(suite);
await probe?.stop();

const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).toReversed()) await close();
});

const key = { principal: "ann", threadId: "t1", runId: "r1" };

async function* bytes(size: number): AsyncGenerator<Uint8Array> {
  yield new Uint8Array(size);
}

/** Everything that a store does, on a Redis that nothing else uses. */
async function useAll(connect: () => Promise<RedisClient>): Promise<void> {
  const options = { commandMs: 20_000, logger: { warn: () => undefined } };
  const make = async (more: object): Promise<SessionStore> => {
    const store = redisSessions({ client: await connect(), ...options, ...more });
    closers.push(() => store.close());
    return store;
  };
  const owner = await make({ runLogEvents: 4, maxSessions: 100 });
  const view = await make({});
  const { runs } = owner;

  await owner.create(key, { agentId: "a" });
  const lease = await open(runs, key);
  const follower = follow(view.runs, key);
  const stops: unknown[] = [];
  runs.commands(lease, (command) => stops.push(command));
  await until(async () => (await runs.watchers(key)) === 1);
  for (const offset of [1, 2, 3, 4, 5, 6]) await runs.append(lease, [mark(offset)]);
  await owner.update(key, { state: 1 }, { lease });
  expect(await view.runs.requestStop(key)).toBe(true);
  await until(() => stops.length === 1);
  expect(await view.runs.active(key)).toMatchObject(key);
  // The same name on another thread, which is taken back.
  expect(await view.runs.open({ ...key, threadId: "t2" }, { agentId: "a" })).toMatchObject({
    busy: key,
  });
  await runs.close(lease, ending(7), "finished");
  await follower.ended;
  expect(await view.runs.find("ann", "r1")).toMatchObject({ status: "finished" });
  expect(await codeOf(() => view.runs.read(key, 0))).toBe("replay-gone");
  expect(await view.runs.read(key, 5)).toHaveLength(2);

  // A run that ended before it began, and its name on another thread.
  const unborn = { ...key, runId: "r2" };
  await runs.close(await open(runs, unborn), ending(1), "failed");
  await open(runs, { ...unborn, threadId: "t3" });

  // An owner that died.
  const clock = { now: () => Date.now(), setTimeout: () => 0, clearTimeout: () => undefined };
  const dead = await make({ leaseMs: 30, clock });
  const orphan = { ...key, threadId: "t4", runId: "r4" };
  const lost = await open(dead.runs, orphan);
  await dead.runs.append(lost, [mark(1)]);
  await until(async () => (await view.runs.find("ann", "r4"))?.status === "lost");
  await until(() => codeOf(() => dead.update(orphan, { state: 1 }, { lease: lost })));
  const renewing = await make({ leaseMs: 300 });
  const kept = { ...key, threadId: "t5", runId: "r5" };
  await renewing.create(kept, { agentId: "a" });
  await open(renewing.runs, kept);
  await until(async () => (await view.runs.active(kept)) !== undefined);

  expect(await owner.get(key)).toMatchObject({ state: 1 });
  await owner.touch(key);
  for (const query of [{}, { agentId: "a" }]) {
    const { items } = await owner.list({ principal: "ann", limit: 10, ...query });
    expect(items.map(({ threadId }) => threadId)).toContain("t1");
  }
  expect(await owner.count?.()).toBe(2);
  const brief = await make({ ttlMs: 10 });
  await brief.create({ ...key, threadId: "t6" }, { agentId: "a" });
  await until(async () => (await brief.cleanupExpired()) === 1);
  expect(await owner.delete(key)).toBe(true);
  expect(await owner.take("bucket", 1, { tokens: 1, perMs: 60_000 })).toBe(0);

  const blobs = owner.blobs!;
  const blob = { principal: "ann", id: "b1" };
  await blobs.put(blob, bytes(10), { ttlMs: 60_000, metadata: {} });
  expect(await codeOf(() => blobs.put(blob, bytes(1), { ttlMs: 60_000, metadata: {} }))).toBe(
    "run-exists",
  );
  async function* failing(): AsyncGenerator<Uint8Array> {
    yield new Uint8Array(1);
    throw new Error("cut");
  }
  const cut = { ttlMs: 60_000, metadata: {} };
  await expect(blobs.put({ ...blob, id: "b2" }, failing(), cut)).rejects.toThrow("cut");
  for await (const piece of (await blobs.get(blob))!.read()) expect(piece).toHaveLength(10);
  expect(await blobs.size()).toBe(10);
  expect(await blobs.delete(blob)).toBe(true);
}

/** The command in the README that makes the user. */
async function documentedUser(): Promise<string[]> {
  const readme = await readFile(new URL("../README.md", import.meta.url), "utf8");
  const [, command] = /```text\n(ACL SETUSER [^`]+)```/.exec(readme)!;
  return command!.replaceAll("\\\n", " ").trim().split(/\s+/);
}

// Said on every connection by the clients themselves, and by this test.
const handshake = /^(acl|auth|client|cluster|command|config|hello|info|ping|select)/;

describe.runIf(probe).each(clientKinds)("a user with the documented rights, with %s", (kind) => {
  test("can do all that a store does, and each right is used", async () => {
    const redis = (await startRedis(suite))!;
    closers.push(() => redis.stop());
    const admin = await redis.nodeRedis();
    const user = await documentedUser();
    expect(await admin.sendCommand(user)).toBe("OK");
    // Blobs that expired long ago, which are taken out of the sum.
    await admin.sendCommand(["HSET", "agui:blobs", "1", "5"]);
    await admin.sendCommand(["CONFIG", "RESETSTAT"]);
    await admin.sendCommand(["ACL", "LOG", "RESET"]);
    const login = { username: "agui", password: "secret" };
    await useAll(() => redis[kind](login));

    const log = (await admin.sendCommand(["ACL", "LOG", "1000"])) as { object: string }[];
    expect(log.filter(({ object }) => !handshake.test(object))).toEqual([]);
    const info = String(await admin.sendCommand(["INFO", "commandstats"]));
    const used = [...info.matchAll(/^cmdstat_([^:]+):/gm)].map(([, name]) => name!);
    const listed = user.filter((word) => word.startsWith("+")).map((word) => word.slice(1));
    const ours = (names: readonly string[]): string[] =>
      names.filter((name) => !handshake.test(name)).toSorted();
    expect(ours(listed)).toEqual(ours(used));
  });

  test("sees no other keys", async () => {
    const redis = (await startRedis(suite))!;
    closers.push(() => redis.stop());
    const admin = await redis.nodeRedis();
    await admin.sendCommand(await documentedUser());
    const client = await redis[kind]({ username: "agui", password: "secret" });
    const store = redisSessions({ client, prefix: "other", commandMs: 20_000 });
    closers.push(() => store.close());
    expect(await codeOf(() => store.get(key))).toBe("store-unavailable");
  });
});

describe.runIf(probe).each(clientKinds)("over TLS, with %s", (kind) => {
  test("a store does all that it does", async ({ skip }) => {
    const dir = await mkdtemp(join(tmpdir(), "agui-tls-"));
    closers.push(() => rm(dir, { recursive: true }));
    const files = makeCertificate(dir, "redisSessions over TLS");
    if (!files) return skip();
    const flags = ["--tls-cert-file", files.cert, "--tls-key-file", files.key];
    const { port, server } = await onFreePort(async (port) => {
      const tls = ["--tls-port", String(port), "--tls-auth-clients", "no", ...flags];
      // No other port: what is not encrypted reaches nothing.
      return { port, server: await spawnRedis(0, tls) };
    });
    closers.push(() => killRedis(server));
    const ca = await readFile(files.cert, "utf8");
    await useAll(async () => {
      if (kind === "nodeRedis") {
        const socket = { host: "localhost", port, tls: true as const, ca };
        const client = createClient({ socket });
        await client.connect();
        closers.push(() => client.destroy());
        return client;
      }
      const client = new Redis({ host: "localhost", port, tls: { ca } });
      await once(client, "ready");
      closers.push(() => client.disconnect());
      return client;
    });
  });
});
