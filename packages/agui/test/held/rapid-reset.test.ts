// HTTP/2 streams that are reset as soon as they are opened, and a session that is destroyed under its streams.
import { connect, constants, createServer } from "node:http2";
import type { ClientHttp2Session } from "node:http2";
import { toNodeHandler } from "@holodeck/agui-node";
import { expect, test } from "vitest";
import { held } from "../../../../scripts/test-support/held.ts";
import { uncaughtDuring } from "../../../core/test/_uncaught.ts";
import { listen } from "../../../node/test/_listen.ts";
import { createAgentHandler } from "../../src/index.ts";
import { memoryLogger } from "../_helpers.ts";

const sessions = 4;
const streams = 500;

function open(
  session: ClientHttp2Session,
  runId: string,
): ReturnType<ClientHttp2Session["request"]> {
  const stream = session.request({
    ":method": "POST",
    ":path": "/agui",
    "content-type": "application/json",
  });
  stream.on("error", () => undefined);
  stream.end(JSON.stringify({ threadId: runId, runId, messages: [] }));
  return stream;
}

const closed = (session: ClientHttp2Session): Promise<void> =>
  new Promise((resolve) => session.once("close", () => resolve()));

test("streams that are reset at once leave no run behind, and others are answered", async () => {
  let live = 0;
  let started = 0;
  const handler = createAgentHandler(
    async function* (_input, { signal }) {
      started++;
      live++;
      try {
        yield "a";
        await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve()));
      } finally {
        live--;
      }
    },
    { logger: memoryLogger() },
  );
  const server = createServer(
    toNodeHandler(handler) as unknown as Parameters<typeof createServer>[1],
  );
  server.on("sessionError", () => undefined);
  const { url, close } = await listen(server);
  let tried = 0;
  const uncaught = await uncaughtDuring(async () => {
    for (let at = 0; at < sessions; at++) {
      const session = connect(url);
      session.on("error", () => undefined);
      const end = closed(session);
      const ends: Promise<void>[] = [];
      for (let index = 0; index < streams && !session.destroyed; index++) {
        const stream = open(session, `run-${at}-${index}`);
        tried++;
        ends.push(new Promise((resolve) => stream.once("close", () => resolve())));
        stream.close(constants.NGHTTP2_CANCEL);
        if (index % 50 === 49) await Promise.all(ends.splice(0));
      }
      await Promise.all(ends);
      session.destroy();
      await end;
    }
    // A session that goes away under streams that are open.
    const session = connect(url);
    session.on("error", () => undefined);
    const answered = Array.from({ length: 50 }, (_, index) => {
      const stream = open(session, `left-${index}`);
      tried++;
      return new Promise((resolve) => stream.once("response", resolve));
    });
    await Promise.all(answered);
    expect(live).toBeGreaterThanOrEqual(50);
    session.destroy();
    await expect.poll(() => live).toBe(0);
  });
  const answer = connect(url);
  const health = answer.request({ ":path": "/health" });
  const status = await new Promise((resolve) =>
    health.once("response", (head) => resolve(head[":status"])),
  );
  answer.destroy();
  await close();
  expect(status).toBe(200);
  expect(started).toBeGreaterThan(0);
  held("HTTP/2 streams that are reset or lose their session", tried, uncaught);
});
