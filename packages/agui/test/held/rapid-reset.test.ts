// HTTP/2 streams that are reset as soon as they are opened, and a session that is destroyed under its streams.
import { connect, constants, createServer } from "node:http2";
import type { ClientHttp2Session, Http2ServerRequest, Http2ServerResponse } from "node:http2";
import { toNodeHandler } from "@holodeck/agui-node";
import { expect, test } from "vitest";
import { held } from "../../../../scripts/test-support/held.ts";
import { uncaughtDuring } from "../../../core/test/_uncaught.ts";
import { listen } from "../../../node/test/_listen.ts";
import { createAgentHandler } from "../../src/index.ts";
import type { AgentHandlerOptions } from "../../src/index.ts";
import { memoryLogger } from "../_helpers.ts";

const sessions = 4;
const left = 50;

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

type Listener = (req: Http2ServerRequest, res: Http2ServerResponse) => void;

interface Attack {
  /** Reset on each of the sessions. */
  readonly streams: number;
  readonly options?: AgentHandlerOptions;
  /** In front of the handler. */
  readonly before?: Listener;
  /** How long runs without a client may take to end. */
  readonly timeout?: number;
}

/** How many streams were tried, and what they did to the server. */
async function attack({
  streams,
  options,
  before,
  timeout = 60_000,
}: Attack): Promise<{ tried: number; faults: unknown[] }> {
  let [live, started, tried] = [0, 0, 0];
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
    { logger: memoryLogger(), ...options },
  );
  const handle = toNodeHandler(handler) as unknown as Listener;
  const server = createServer((req, res) => {
    before?.(req, res);
    handle(req, res);
  });
  server.on("sessionError", () => undefined);
  const { url, close } = await listen(server);
  const faults = await uncaughtDuring(async () => {
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
    const answered = Array.from({ length: left }, (_, index) => {
      const stream = open(session, `left-${index}`);
      tried++;
      return new Promise((resolve) => stream.once("response", resolve));
    });
    await Promise.all(answered);
    expect(live).toBeGreaterThanOrEqual(left);
    session.destroy();
    await expect
      .poll(() => live, { timeout })
      .toBe(0)
      .catch(() => undefined);
  });
  if (live > 0) faults.push(`${live} runs are left`);
  const answer = connect(url);
  const health = answer.request({ ":path": "/health" });
  const status = await new Promise((resolve) =>
    health.once("response", (head) => resolve(head[":status"])),
  );
  answer.destroy();
  if (status !== 200) faults.push(`others receive ${String(status)}`);
  await handler.close({ timeoutMs: 0 });
  await close();
  expect(started).toBeGreaterThan(0);
  return { tried, faults };
}

test("streams that are reset at once leave no run behind, and others are answered", async () => {
  const { tried, faults } = await attack({ streams: 500 });
  held("HTTP/2 streams that are reset or lose their session", tried, faults);
});

test("a server whose runs outlive their clients is noticed", async () => {
  const { faults } = await attack({
    streams: 1,
    options: { onDisconnect: "continue" },
    timeout: 100,
  });
  expect(faults).toEqual([expect.stringMatching(/^\d+ runs are left$/)]);
});

test("a server that does not expect a stream to be reset is noticed", async () => {
  const before: Listener = (_req, { stream }) =>
    void stream.once("close", () => {
      if (stream.aborted) throw new Error("planted");
    });
  const { faults } = await attack({ streams: 50, before });
  expect(faults).toContainEqual(new Error("planted"));
});
