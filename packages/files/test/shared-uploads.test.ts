import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { SessionStore } from "@holodeck/agui-core";
import { memorySessions } from "@holodeck/agui-sessions";
import { redisSessions } from "@holodeck/agui-sessions/redis";
import { sqliteSessions } from "@holodeck/agui-sessions/sqlite";
import { fakeClock } from "@holodeck/agui-testing";
import { createAgentHandler } from "@holodeck/agui";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openPlace } from "../../agui/test/_places.ts";
import { startRedis } from "../../sessions/test/_redis.ts";
import { extractFiles } from "../src/index.ts";
import { makePdf } from "./_make.ts";
import { serveEcho, textOf, toAgui, types, patience } from "./_serve.ts";
import type { Echo } from "./_serve.ts";

const folder = await mkdtemp(join(tmpdir(), "shared-uploads-"));
const redis = await startRedis("uploads that several servers find");
const postgres = await openPlace("PostgreSQL", "uploads that several servers find");
const pdf = await makePdf("Found by the other one");
afterAll(async () => {
  await redis?.stop();
  await postgres?.close();
  await rm(folder, { recursive: true });
});

interface Place {
  readonly name: string;
  /** The same data, seen by one more server. */
  open(): Promise<SessionStore>;
}

const memory = memorySessions();
const places: Place[] = [
  // Not shared by processes, but by the handlers of one.
  { name: "memory", open: async () => memory },
  { name: "SQLite", open: async () => sqliteSessions({ path: join(folder, "uploads.db") }) },
];
if (redis) {
  // On a busy machine late is not away.
  const patient = { commandMs: 20_000 };
  places.push(
    {
      name: "Redis, by redis",
      open: async () =>
        redisSessions({ ...patient, client: await redis.nodeRedis(), prefix: "one" }),
    },
    {
      name: "Redis, by ioredis",
      open: async () => redisSessions({ ...patient, client: await redis.ioRedis(), prefix: "two" }),
    },
  );
}

if (postgres) places.push({ name: "PostgreSQL", open: () => postgres.open() });

describe.each(places)("an upload in $name", ({ open }) => {
  const clock = fakeClock();
  let tempDir = "";
  let taking: Echo;
  let reading: Echo;

  async function start(): Promise<Echo> {
    return serveEcho(
      { uploads: { store: "sessions", ttlMs: 60_000, maxBytes: 4_000_000 }, tempDir, clock },
      {
        sessions: await open(),
        authenticate: ({ headers }) => ({ id: headers.get("authorization") ?? "nobody" }),
      },
    );
  }

  beforeAll(async () => {
    tempDir = await mkdtemp(join(folder, "spool-"));
    [taking, reading] = [await start(), await start()];
  });
  afterAll(async () => {
    await taking.handler.close();
    await reading.handler.close();
    // Nothing of it is left on disk.
    expect(await readdir(tempDir)).toEqual([]);
  });

  async function upload(bytes: Uint8Array, type: string = types.pdf): Promise<Response> {
    const headers = { "content-type": type, authorization: "ann" };
    const body = bytes as Uint8Array<ArrayBuffer>;
    return taking.handler.fetch(
      new Request("http://x/files?name=later.pdf", { method: "POST", headers, body }),
    );
  }

  async function refer({ handler }: Echo, id: string, who = "ann"): Promise<Response> {
    const request = toAgui([
      { type: "text", text: "Read" },
      { type: "binary", mimeType: types.pdf, id, filename: "any.pdf" },
    ]);
    request.headers.set("authorization", who);
    const response = await handler.fetch(request);
    return new Response(await response.text(), { status: response.status });
  }

  function remove({ handler }: Echo, id: string, who = "ann"): Promise<Response> {
    const headers = { authorization: who };
    return handler.fetch(new Request(`http://x/files/${id}`, { method: "DELETE", headers }));
  }

  async function idOf(response: Response): Promise<string> {
    const body = (await response.json()) as { id: string };
    expect(response.status, JSON.stringify(body)).toBe(201);
    return body.id;
  }

  test("to one server is read by another", async () => {
    const id = await idOf(await upload(pdf));
    for (const server of [reading, taking, reading]) {
      expect((await refer(server, id)).status).toBe(200);
      expect(textOf(server.seen.messages.at(-1)!)).toBe(
        "Read\n\n## File: later.pdf\nFound by the other one",
      );
      expect(server.seen.bytes).toEqual([new Uint8Array(pdf)]);
    }
  });

  test("that is large waits on the other one's disk only while its run goes on", async () => {
    const large = new TextEncoder().encode(`${"line of a long text\n".repeat(100_000)}The end.`);
    const id = await idOf(await upload(large, types.txt));
    expect((await refer(reading, id)).status).toBe(200);
    expect(reading.seen.files).toMatchObject([{ size: large.byteLength, mimeType: types.txt }]);
    expect(Buffer.compare(reading.seen.bytes[0]!, large)).toBe(0);
    await expect.poll(() => readdir(tempDir), patience).toEqual([]);
    expect((await remove(reading, id)).status).toBe(204);
  });

  test("belongs to its user only", async () => {
    const id = await idOf(await upload(pdf));
    const read = await refer(reading, id, "bob");
    expect([read.status, await read.json()]).toMatchObject([400, { code: "file-not-found" }]);
    const removed = await remove(reading, id, "bob");
    expect([removed.status, await removed.json()]).toMatchObject([404, { code: "file-not-found" }]);
    expect((await refer(reading, id)).status).toBe(200);
  });

  test("is gone for all when it was removed", async () => {
    const id = await idOf(await upload(pdf));
    expect((await remove(reading, id)).status).toBe(204);
    expect((await remove(reading, id)).status).toBe(404);
    expect((await refer(taking, id)).status).toBe(400);
  });

  test("that lies about its type is not kept", async () => {
    const before = await taking.handler.sessions.blobs!.size();
    expect((await upload(pdf, types.png)).status).toBe(400);
    expect(await taking.handler.sessions.blobs!.size()).toBe(before);
  });

  test("is refused when all of them have no more room", async () => {
    const text = new Uint8Array(1_900_000).fill(65);
    const first = await idOf(await upload(text, types.txt));
    const second = await idOf(await upload(text, types.txt));
    const third = await upload(text, types.txt);
    expect([third.status, await third.json()]).toMatchObject([429, { code: "capacity-exceeded" }]);
    for (const id of [first, second]) expect((await remove(taking, id)).status).toBe(204);
    await remove(taking, await idOf(await upload(text, types.txt)));
  });

  test("can be referred to until its time is over", async () => {
    const id = await idOf(await upload(pdf));
    await clock.advance(59_999);
    expect((await refer(reading, id)).status).toBe(200);
    await clock.advance(1);
    const late = await refer(reading, id);
    expect([late.status, await late.json()]).toMatchObject([400, { code: "file-not-found" }]);
  });
});

test("a store without blobs is refused when the handler is made", () => {
  const { blobs: _, ...sessions } = memorySessions();
  expect(() =>
    createAgentHandler(async () => "x", {
      sessions,
      files: extractFiles({ uploads: { store: "sessions" } }),
    }),
  ).toThrow(
    'extractFiles({ uploads: { store: "sessions" } }) needs a session store with `blobs`, such as redisSessions({ client }).',
  );
});
