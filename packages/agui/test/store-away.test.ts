import { copilotkit } from "@holodeck/agui-copilotkit";
import type { RunContext } from "@holodeck/agui-core";
import { serve } from "@holodeck/agui-node";
import { redisSessions } from "@holodeck/agui-sessions/redis";
import { vercel } from "@holodeck/agui-vercel";
import { afterEach, describe, expect, test } from "vitest";
import { startRedis } from "../../sessions/test/_redis.ts";
import { agui, createAgentHandler } from "../src/index.ts";
import { deferred, memoryLogger, post, say } from "./_helpers.ts";
import { proto, sse } from "./_wires.ts";

const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).toReversed()) await close();
});

const codes = /store-unavailable|run-lost/;

describe.for(["stops answering", "is killed", "is full"] as const)("while Redis %s", (how) => {
  test(
    "every client of every process receives one terminal event before its connection ends",
    { timeout: 60_000 },
    async ({ skip }) => {
      const redis = await startRedis("followers while Redis is away");
      if (!redis) return skip();
      closers.push(() => redis.stop());
      const gate = deferred();
      const start = async (client: Parameters<typeof redisSessions>[0]["client"]) => {
        async function agent(_: unknown, { emit, signal }: RunContext): Promise<void> {
          await emit.text("begun");
          await gate.promise;
          // The owner finds out when it has something to store.
          await emit.text("more");
          await new Promise((resolve) => signal.addEventListener("abort", resolve));
        }
        const sessions = redisSessions({ client, commandMs: 1_000, leaseMs: 2_000 });
        const handler = createAgentHandler(agent, {
          sessions,
          logger: memoryLogger(),
          limits: { appendMs: 1_000 },
          protocols: [agui(), copilotkit(), vercel()],
        });
        const serving = await serve(handler, { port: 0, host: "127.0.0.1" });
        closers.push(() => serving.close());
        return { url: `http://127.0.0.1:${serving.port}`, sessions };
      };
      const client = await redis.nodeRedis();
      (client as { on?(event: string, listener: () => void): void }).on?.("error", () => {});
      const here = await start(client);
      const io = await redis.ioRedis();
      io.on("error", () => {});
      const there = await start(io);
      const request = post({
        threadId: "t",
        runId: "r",
        messages: [{ id: "q", ...say("go") }],
        protocolVersion: "1.0",
      });
      const own = await fetch(`${here.url}/agui`, {
        method: "POST",
        headers: request.headers,
        body: await request.text(),
      });
      await expect.poll(async () => (await there.sessions.runs.find("", "r"))?.last).toBe(3);
      const { url } = there;
      const events = `${url}/agui/runs/r/events`;
      const body = JSON.stringify({ threadId: "t", runId: "c", protocolVersion: "1.0" });
      const headers = { "content-type": "application/json" };
      const connected = await fetch(`${url}/agui/agent/default/connect`, {
        method: "POST",
        headers,
        body,
      });
      const binary = { accept: proto.contentType };
      const resumed = await fetch(`${url}/agui/runs/r/events?offset=1&protocolVersion=1.0`, {
        headers: binary,
      });
      const chat = await fetch(`${url}/api/chat/t/stream`);
      const followers = await Promise.all([
        fetch(events),
        fetch(`${events}?offset=3`),
        fetch(events, { headers: { "last-event-id": "2" } }),
      ]);
      for (const { status } of [own, connected, resumed, chat, ...followers]) {
        expect(status).toBe(200);
      }
      const received = Promise.all([
        ...[own, connected, ...followers].map(async (one) => (await sse.read(one)).events),
        proto.read(resumed).then((one) => one.events),
      ]);
      const said = chat.text();
      if (how === "is killed") await redis.kill();
      else if (how === "is full") await client.sendCommand(["CONFIG", "SET", "maxmemory", "1"]);
      else redis.pause();
      closers.push(() => redis.resume());
      gate.resolve();
      for (const frames of await received) {
        const ends = frames.filter(({ type }) => /^RUN_(ERROR|FINISHED)$/.test(type));
        expect(ends).toMatchObject([{ type: "RUN_ERROR", code: expect.stringMatching(codes) }]);
        expect(frames.at(-1)).toBe(ends[0]);
      }
      expect(await said).toMatch(/"type":"error"/);
    },
  );
});
