import type { HandlerMiddleware, Protocol, Reply, RunContext } from "@holodeck/agui-core";
import { describe, expect, test } from "vitest";
import { createAgentHandler } from "../src/index.ts";
import { eventsOf, memoryLogger, post, typesOf } from "./_helpers.ts";

const hello = async function* (): AsyncGenerator<string> {
  yield "Hello";
};
const untilAborted = ({ signal }: RunContext): Promise<void> =>
  new Promise((resolve) => signal.addEventListener("abort", () => resolve()));

/** A protocol with one route, which may do something to its answer. */
const streaming = (change = (reply: Reply): Reply => reply): Protocol => ({
  name: "streaming",
  history: "client",
  routes: (host) => [
    {
      method: "GET",
      path: "/stream",
      async handle(call) {
        const input = { threadId: "t", runId: "r", messages: [], tools: [], context: [] };
        const run = await host.start(call, { input: { ...input, state: {} } });
        return change(run.stream({ contentType: "text/plain", encode: () => "x" }, "start"));
      },
    },
  ],
});

describe("an answer that cannot be sent", () => {
  test("frees the thread when the headers of its answer cannot be sent", async () => {
    let value = "a\nb";
    const logger = memoryLogger();
    const bad: HandlerMiddleware = {
      name: "bad",
      async request(_request, next) {
        const reply = await next();
        return { ...reply, headers: { ...reply.headers, "x-name": value } };
      },
    };
    const { fetch, runs } = createAgentHandler(hello, { logger, middleware: [bad] });
    expect((await fetch(post({ threadId: "t", messages: [] }))).status).toBe(500);
    expect(logger.records.some(({ level }) => level === "error")).toBe(true);
    value = "fine";
    expect(runs.list()).toEqual([]);
    const events = await eventsOf(await fetch(post({ threadId: "t", messages: [] })));
    expect(typesOf(events).at(-1)).toBe("RUN_FINISHED");
  });
});

describe("HEAD", () => {
  test("of a stream is answered and starts nothing that stays", async () => {
    let began = 0;
    const { fetch, runs } = createAgentHandler(
      (_input, context) => {
        began++;
        return untilAborted(context);
      },
      { logger: memoryLogger(), protocols: [streaming()] },
    );
    const response = await fetch(new Request("http://test.local/stream", { method: "HEAD" }));
    expect(response.status).toBe(200);
    expect(response.headers.get("content-type")).toBe("text/plain");
    await new Promise((resolve) => setImmediate(resolve));
    expect(began).toBe(0);
    expect(runs.list()).toEqual([]);
  });
});

test("a platform waits for a run whose answer a protocol has copied", async () => {
  const copying = streaming((reply) => ({ ...reply, stream: { ...reply.stream! } }));
  const { fetch } = createAgentHandler(hello, { logger: memoryLogger(), protocols: [copying] });
  const waiting: Promise<unknown>[] = [];
  const platform = { waitUntil: (work: Promise<unknown>) => void waiting.push(work) };
  const response = await fetch(new Request("http://test.local/stream"), platform);
  await response.text();
  expect(waiting).toHaveLength(1);
  await waiting[0];
});
