import type { RunContext } from "@holodeck/agui-core";
import { redisSessions } from "@holodeck/agui-sessions/redis";
import { afterEach, describe, expect, test } from "vitest";
import { startRedis } from "../../sessions/test/_redis.ts";
import { createAgentHandler } from "../src/index.ts";
import { deferred, memoryLogger, post, say } from "./_helpers.ts";
import { sse } from "./_wires.ts";

const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).toReversed()) await close();
});

describe.for(["ended", "running"] as const)("a client of a run that is %s", (when) => {
  test("receives one end, replay-gone, when Redis has evicted the log", async ({ skip }) => {
    const redis = await startRedis("clients of an evicted log");
    if (!redis) return skip();
    closers.push(() => redis.stop());
    const gate = deferred();
    async function agent(_: unknown, { emit }: RunContext): Promise<void> {
      for (let piece = 0; piece < 10; piece++) await emit.text("first ");
      if (when === "running") await gate.promise;
      await emit.text("last");
    }
    const clients = [await redis.nodeRedis(), await redis.nodeRedis()] as const;
    const [here, there] = clients.map((client) => {
      const sessions = redisSessions({ client, commandMs: 20_000 });
      const handler = createAgentHandler(agent, { sessions, logger: memoryLogger() });
      closers.push(() => handler.close());
      return handler;
    });
    const messages = [{ id: "q", ...say("go") }];
    const run = { threadId: "t", runId: "r", messages, protocolVersion: "1.0" };
    const own = sse.read(await here!.fetch(post(run)));
    if (when === "ended") await own;
    const resume = async (offset: number): Promise<Response> =>
      there!.fetch(new Request(`http://localhost/agui/runs/r/events?offset=${offset}`));
    const log = "agui:{:t}:log:r";
    await expect.poll(() => clients[0].sendCommand(["EXISTS", log])).toBe(1);
    if (when === "running") {
      // All that is said before the gate is stored.
      await expect
        .poll(async () => Number(await clients[0].sendCommand(["HGET", "agui:{:t}:run:r", "last"])))
        .toBeGreaterThanOrEqual(12);
    }
    await clients[0].sendCommand(["DEL", log]);
    const atOnce = await Promise.all([1, 3].map(resume));
    gate.resolve();
    expect((await own).events.at(-1)).toMatchObject({ type: "RUN_FINISHED" });
    // What the run has sent since is stored; what is missing is in front of it.
    const later = await Promise.all([1, 3].map(resume));
    for (const response of [...atOnce, ...later]) {
      expect(response.status).toBe(200);
      const received = await sse.read(response);
      expect(received.events).toMatchObject([{ type: "RUN_ERROR", code: "replay-gone" }]);
    }
  });
});
