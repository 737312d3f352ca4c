import { describe, expect, test } from "vitest";
import { AgentError, createAgentHandler, logging } from "../src/index.ts";
import type { HandlerMiddleware } from "../src/index.ts";
import { deferred, memoryLogger, post } from "./_helpers.ts";
import type { Deferred } from "./_helpers.ts";

type Records = ReturnType<typeof memoryLogger>["records"];

interface Served {
  readonly records: Records;
  /** Sends a request, reads the whole answer, and returns the record that was written for it. */
  ask(request: Request): Promise<Records[number]>;
  send(request: Request): Promise<Response>;
  /** Lets the agent's runs on "slow" threads end. */
  readonly gate: Deferred;
}

/** Two agents under a handler that logs; a run on the thread "slow" waits for its gate. */
function serve(...middleware: HandlerMiddleware[]): Served {
  const logger = memoryLogger();
  const gate = deferred();
  const answer = async function* (_input: unknown, { threadId }: { threadId: string }) {
    yield "hello";
    if (threadId === "slow") await gate.promise;
  };
  const { fetch } = createAgentHandler(
    { main: answer, other: answer },
    { defaultAgent: "main", logger, middleware: [logging(), ...middleware] },
  );
  const { records } = logger;
  return {
    records,
    gate,
    send: fetch,
    async ask(request) {
      const before = records.length;
      await (await fetch(request)).text();
      expect(records).toHaveLength(before + 1);
      return records[before]!;
    },
  };
}

const input = (threadId: string, runId: string, id = "m1"): object => ({
  threadId,
  runId,
  messages: [{ id, role: "user", content: "hi" }],
  tools: [],
  context: [],
  state: {},
});
const get = (path: string): Request => new Request(`http://test.local${path}`);
const subject = { sessionId: "t", runId: "r", agentId: "main" };

describe("the record of a request that starts no run names thread, run and agent", () => {
  test("of an ended run that is sent again", async () => {
    const { ask } = serve();
    await ask(post(input("t", "r")));
    const record = await ask(post(input("t", "r")));
    expect(record).toMatchObject({ ...subject, status: 200, message: "Request answered." });
    expect(record).not.toHaveProperty("tokens");
  });

  test("of a run id that is refused because it was used before", async () => {
    const { ask } = serve();
    await ask(post(input("t", "r")));
    const record = await ask(post(input("t", "r", "m2")));
    expect(record).toMatchObject({ ...subject, status: 409, error: "run-exists" });
  });

  test("of a run that is refused because its thread is busy", async () => {
    const { ask, send, gate } = serve();
    const running = await send(post(input("slow", "r")));
    const record = await ask(post(input("slow", "r2", "m2")));
    expect(record).toMatchObject({ sessionId: "slow", runId: "r2", agentId: "main", status: 409 });
    gate.resolve();
    await running.text();
  });

  test("of a run that a middleware refuses", async () => {
    const { ask } = serve({
      name: "closed",
      admit() {
        throw new AgentError("forbidden", "Closed.");
      },
    });
    const record = await ask(post(input("t", "r"), { path: "/agui/agent/other/run" }));
    expect(record).toMatchObject({ ...subject, agentId: "other", protocol: "copilotkit" });
  });

  test("of a run whose agent does not exist, without the agent", async () => {
    const { ask } = serve();
    const record = await ask(post({ ...input("t", "r"), agentId: "none" }));
    expect(record).toMatchObject({ sessionId: "t", runId: "r", status: 404 });
    expect(record).not.toHaveProperty("agentId");
  });

  test("of a run that is read again by its id", async () => {
    const { ask } = serve();
    await ask(post(input("t", "r")));
    expect(await ask(get("/agui/runs/r/events"))).toMatchObject({ ...subject, status: 200 });
  });

  test("of a run that is stopped", async () => {
    const { ask, send, records } = serve();
    const running = await send(post(input("slow", "r")));
    const stop = post({}, { path: "/agui/runs/r/stop" });
    await (await send(stop)).text();
    await running.text();
    expect(records.find(({ endpoint }) => endpoint === "POST /agui/runs/r/stop")).toMatchObject({
      sessionId: "slow",
      runId: "r",
      agentId: "main",
    });
    const unknown = await ask(post({}, { path: "/agui/runs/none/stop" }));
    expect(unknown).toMatchObject({ runId: "none", status: 404 });
  });

  test("of a chat that goes on in another window", async () => {
    const { send, gate, records } = serve();
    const message = { id: "m", role: "user", parts: [{ type: "text", text: "hi" }] };
    const chat = await send(post({ id: "slow", messages: [message] }, { path: "/api/chat" }));
    const resumed = await send(get("/api/chat/slow/stream"));
    gate.resolve();
    await Promise.all([chat.text(), resumed.text()]);
    const [first, second] = records.toSorted((one) => (one.message === "Run finished." ? -1 : 1));
    expect(second).toMatchObject({ endpoint: "GET /api/chat/slow/stream", protocol: "vercel" });
    const { sessionId, runId, agentId } = first!;
    expect(second).toMatchObject({ sessionId, runId, agentId });
    expect([sessionId, agentId]).toEqual(["slow", "main"]);
  });
});

describe("the record of CopilotKit's connect names", () => {
  const connect = (threadId: string): Request =>
    post(input(threadId, "of-the-connect"), { path: "/agui/agent/other/connect" });

  test("thread, run and agent of a run that goes on", async () => {
    const { send, gate, records } = serve();
    const running = await send(post(input("slow", "r"), { path: "/agui/agent/other/run" }));
    const connected = await send(connect("slow"));
    gate.resolve();
    await Promise.all([running.text(), connected.text()]);
    expect(records.find(({ message }) => message === "Request answered.")).toMatchObject({
      endpoint: "POST /agui/agent/other/connect",
      sessionId: "slow",
      runId: "r",
      agentId: "other",
    });
  });

  test("thread, last run and agent of a thread at rest", async () => {
    const { ask } = serve();
    await ask(post(input("t", "r"), { path: "/agui/agent/other/run" }));
    expect(await ask(connect("t"))).toMatchObject({ ...subject, agentId: "other" });
  });

  test("only the thread, where nothing has run", async () => {
    const { ask } = serve();
    const record = await ask(connect("t"));
    expect(record).toMatchObject({ sessionId: "t", protocol: "copilotkit", status: 200 });
    expect(record).not.toHaveProperty("runId");
  });
});

test("a middleware finds thread, run and agent among the facts of a request", async () => {
  const seen: object[] = [];
  const { ask } = serve({
    name: "own",
    async request(_request, next, facts) {
      const reply = await next();
      const { threadId, runId, agentId } = facts!;
      seen.push({ threadId, runId, agentId });
      return reply;
    },
  });
  await ask(post(input("t", "r")));
  await ask(get("/agui/info"));
  const nothing = { threadId: undefined, runId: undefined, agentId: undefined };
  expect(seen).toEqual([{ threadId: "t", runId: "r", agentId: "main" }, nothing]);
});
