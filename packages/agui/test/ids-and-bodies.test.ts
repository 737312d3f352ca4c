import { HttpAgent } from "@ag-ui/client";
import type { AgentLike } from "@holodeck/agui-core";
import { isOpaqueId, silentLogger } from "@holodeck/agui-core";
import { isMessageId, toMessageId } from "@holodeck/agui-core/internal";
import { serve } from "@holodeck/agui-node";
import express from "express";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, expect, onTestFinished, test } from "vitest";
import { toExpressHandler } from "@holodeck/agui-express";
import { createAgentHandler } from "../src/index.ts";
import type { AgentHandlerOptions } from "../src/index.ts";

async function open(options: AgentHandlerOptions = {}): Promise<string> {
  const handler = createAgentHandler(async () => "hello", { logger: silentLogger, ...options });
  const { url, close } = await serve(handler, { port: 0, signals: false });
  onTestFinished(() => close());
  return url;
}

function post(url: string, body: unknown): Promise<Response> {
  return fetch(url, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  });
}

describe("an id", () => {
  test("of a thread or a run has no half of a surrogate pair", () => {
    expect(isOpaqueId("a\ud800")).toBe(false);
    expect(isOpaqueId("\udc00a")).toBe(false);
    expect(isOpaqueId("a\ud83d\ude00")).toBe(true);
  });

  test("of a message has 1 to 1,024 characters, whichever they are", () => {
    for (const id of ["x", " ", "a\nb", "\0", "消息", "x".repeat(1_024)]) {
      expect(isMessageId(id)).toBe(true);
      expect(toMessageId(id)).toBe(id);
    }
    for (const id of ["", "x".repeat(1_025), "a\ud800", 5, undefined]) {
      expect(isMessageId(id)).toBe(false);
    }
  });

  test("that does not fit has another one, always the same, and no other id has that", () => {
    const long = Array.from({ length: 2_000 }, (_, at) => `${"x".repeat(1_100)}${at}`);
    const replaced = long.map(toMessageId);
    expect(replaced).toEqual(long.map(toMessageId));
    expect(new Set(replaced).size).toBe(long.length);
    expect(replaced.every((id) => /^id-[0-9a-f]{32}$/.test(id))).toBe(true);
    expect(toMessageId("x".repeat(2_000))).not.toBe(toMessageId("x".repeat(2_001)));
  });
});

describe("an agent with an id of 2,000 characters", () => {
  const long = "i".repeat(2_000);
  const short = toMessageId(long);

  async function client(agent: AgentLike): Promise<HttpAgent> {
    const handler = createAgentHandler(agent, { logger: silentLogger });
    const { url, close } = await serve(handler, { port: 0, signals: false });
    onTestFinished(() => close());
    return new HttpAgent({ url: `${url}/agui` });
  }

  test("asks under a shorter one, and is answered under that", async () => {
    const answers: unknown[] = [];
    const agent = await client(async (input, { emit, session }) => {
      answers.push(...session.answers.map(({ interrupt, payload }) => [interrupt.id, payload]));
      if (input.messages.length === 1) emit.interrupt({ id: long, reason: "input_required" });
      return "done";
    });
    agent.addMessage({ id: "u1", role: "user", content: "go" });
    let end: { outcome?: unknown } = {};
    await agent.runAgent({}, { onRunFinishedEvent: ({ event }) => void (end = event) });
    expect(end.outcome).toMatchObject({ type: "interrupt", interrupts: [{ id: short }] });
    const resume = [{ interruptId: short, status: "resolved" as const, payload: "yes" }];
    await agent.runAgent({ resume });
    expect(answers).toEqual([[short, "yes"]]);
  });

  test("names the same call in a later run, whose result goes to it", async () => {
    const agent = await client(async function* (input) {
      if (input.messages.length === 1) {
        yield { type: "TOOL_CALL_START", toolCallId: long, toolCallName: "look" };
        yield { type: "TOOL_CALL_END", toolCallId: long };
      } else {
        yield { type: "TOOL_CALL_RESULT", messageId: "t", toolCallId: long, content: "seen" };
      }
    } as AgentLike);
    for (const id of ["u1", "u2"]) {
      agent.addMessage({ id, role: "user", content: "go" });
      await agent.runAgent();
    }
    const [, call, result] = agent.messages;
    expect(call).toMatchObject({ role: "assistant", toolCalls: [{ id: short }] });
    expect(result).toMatchObject({ role: "tool", toolCallId: short, content: "seen" });
  });

  test("fails with a violation in strict mode", async () => {
    const handler = createAgentHandler(
      async function* () {
        yield { type: "TEXT_MESSAGE_START", messageId: long, role: "assistant" };
      } as AgentLike,
      { logger: silentLogger, strict: true },
    );
    const response = await handler.fetch(
      new Request("http://test.local/agui", {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ messages: [] }),
      }),
    );
    expect(await response.text()).toContain(
      "The agent broke the protocol: id, TEXT_MESSAGE_START.",
    );
  });
});

describe("a run whose id is not Latin-1", () => {
  const run = { threadId: "日本-thread", runId: "日本", messages: [] };

  test("is followed, stopped and found again over AG-UI", async () => {
    const url = await open();
    const first = await post(`${url}/agui`, run);
    expect(first.status).toBe(200);
    expect(await first.text()).toContain('"runId":"日本"');
    const again = await fetch(`${url}/agui/runs/${encodeURIComponent("日本")}/events?offset=0`);
    expect(again.status).toBe(200);
    expect(await again.text()).toContain('"runId":"日本"');
    const stopped = await fetch(`${url}/agui/runs/${encodeURIComponent("日本")}/stop`, {
      method: "POST",
    });
    expect(stopped.status).toBe(200);
  });

  test("has its id in a header when that can carry it", async () => {
    const url = await open();
    await (await post(`${url}/agui`, { ...run, runId: "plain" })).text();
    const again = await fetch(`${url}/agui/runs/plain/events?offset=0`);
    expect(again.headers.get("x-run-id")).toBe("plain");
    await again.text();
  });

  test.for(["/agui/agent/default/run", "/agui/agent/default/connect"])(
    "is served at %s",
    async (path) => {
      const url = await open();
      const response = await post(`${url}${path}`, run);
      expect(response.status).toBe(200);
      await response.text();
    },
  );

  test("is served to useChat and the threads API under such a thread's id", async () => {
    const url = await open();
    const parts = [{ type: "text", text: "hi" }];
    const chat = await post(`${url}/api/chat`, {
      id: "日本",
      messages: [{ id: "u", role: "user", parts }],
    });
    expect(chat.status).toBe(200);
    await chat.text();
  });
});

describe("useChat", () => {
  const parts = (count: number): object[] =>
    Array.from({ length: count }, (_, at) => ({
      type: "tool-look",
      toolCallId: `c${at}`,
      state: "output-available",
      input: {},
      output: 1,
    }));
  const body = (count: number): object => ({
    id: "chat",
    messages: [
      { id: "u", role: "user", parts: [{ type: "text", text: "hi" }] },
      { id: "a", role: "assistant", parts: parts(count) },
      { id: "u2", role: "user", parts: [{ type: "text", text: "hi" }] },
    ],
  });

  test.for([1_000, 150_000])("is refused %d tool parts: each is a message", async (count) => {
    const url = await open({ limits: { bodyBytes: 100 * 1024 * 1024, jsonNodes: 2_000_000 } });
    const response = await post(`${url}/api/chat`, body(count));
    expect(response.status).toBe(400);
    expect(((await response.json()) as { detail: string }).detail).toContain("1000");
  });

  test("may send as many as there may be messages", async () => {
    const url = await open();
    const response = await post(`${url}/api/chat`, body(900));
    expect(response.status).toBe(200);
    await response.text();
  });
});

test("a refusal names the parser that consumed the body", async () => {
  const handler = createAgentHandler(async () => "hello", { logger: silentLogger });
  onTestFinished(() => handler.close());
  const app = express();
  // Reads the body for itself, and leaves nothing.
  app.use((request, _response, next) => {
    request.resume();
    request.on("end", () => next());
  });
  app.use(toExpressHandler(handler));
  const server = createServer(app);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  const response = await post(`http://127.0.0.1:${port}/agui`, { messages: [] });
  expect(response.status).toBe(400);
  const { detail } = (await response.json()) as { detail: string };
  expect(detail).toContain("The body was already read");
  expect(detail).toContain("Mount this handler before the parser");
  const empty = await fetch(`http://127.0.0.1:${port}/agui`, {
    method: "POST",
    headers: { "content-type": "application/json" },
  });
  expect(((await empty.json()) as { detail: string }).detail).toContain("The body is empty");
});

test("discovery has every path as a client calls it, below basePath", async () => {
  const url = await open({ basePath: "/v1/api" });
  const info = (await (await fetch(`${url}/v1/api/agui/info`)).json()) as {
    protocols: Record<string, Record<string, unknown>>;
  };
  const paths = Object.values(info.protocols).flatMap((facts) =>
    Object.entries(facts).flatMap(([key, value]) => (/path$/i.test(key) ? value : [])),
  ) as string[];
  expect(paths.length).toBeGreaterThan(3);
  expect(paths.filter((path) => !path.startsWith("/v1/api"))).toEqual([]);
  expect(info.protocols.agui?.path).toBe("/v1/api/agui");
  const run = await post(`${url}${String(info.protocols.agui?.path)}`, { messages: [] });
  expect(run.status).toBe(200);
  await run.text();
});
