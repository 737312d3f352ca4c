import type { BaseEvent, Protocol, ServerTool } from "@holodeck/agui-core";
import { fakeClock } from "@holodeck/agui-testing";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, expect, test, vi } from "vitest";
import { agui, createAgentHandler, mapEvents } from "../src/index.ts";
import type { AgentFunction, AgentHandler, Middleware } from "../src/index.ts";
import { deferred, eventsOf, memoryLogger, post, say, typesOf } from "./_helpers.ts";

const quiet = { logger: memoryLogger() };
const hello: AgentFunction = async function* () {
  yield "Hello ";
  yield "world";
};
const passOn = mapEvents((event) => event);

describe("the start of a run", () => {
  test.for<[string, Middleware[]]>([
    ["alone", []],
    ["behind middleware", [passOn]],
  ])("names the run it goes on from, %s", async ([, middleware]) => {
    const { fetch } = createAgentHandler(hello, { ...quiet, middleware });
    const body = { threadId: "t", runId: "r", parentRunId: "r0", messages: [] };
    const [started] = await eventsOf(await fetch(post(body)));
    expect(started).toMatchObject({ type: "RUN_STARTED", runId: "r", parentRunId: "r0" });
  });

  test("never repeats the input, nor what middleware put into it", async () => {
    const secret = "born 1815, likes horses";
    const inject: Middleware = (input, context, next) =>
      next({ ...input, context: [{ description: "profile", value: secret }] }, context);
    const seen: string[] = [];
    const { fetch } = createAgentHandler(
      async function* (input) {
        seen.push(input.context[0]!.value);
        yield { type: "RUN_STARTED", threadId: input.threadId, runId: input.runId, input } as never;
        yield "Hello";
      },
      { ...quiet, middleware: [inject] },
    );
    const bytes = await (await fetch(post({ messages: [say("who am I?")] }))).text();
    expect(seen).toEqual([secret]);
    expect(bytes).toContain("RUN_STARTED");
    expect(bytes).not.toContain(secret);
    expect(bytes).not.toContain("who am I?");
  });
});

describe("discovery", () => {
  const parameters = { type: "object", properties: { city: { type: "string" } } };
  const weather: ServerTool = {
    name: "weather",
    description: "The weather of a city.",
    parameters,
    timeoutMs: 5,
    invoke: () => "sunny",
  };

  test("lists the server's tools as AG-UI defines a tool", async () => {
    const { fetch } = createAgentHandler(hello, { ...quiet, tools: [weather] });
    const response = await fetch(new Request("http://test.local/agui/info"));
    const { agents } = (await response.json()) as { agents: Record<string, { tools: unknown }> };
    expect(agents.default!.tools).toEqual([
      { name: "weather", description: "The weather of a city.", parameters },
    ]);
  });

  test("leaves to an agent of a map the description of its tools", () => {
    const { info } = createAgentHandler(
      { a: hello, b: { agent: hello, tools: [] } },
      { ...quiet, tools: [weather] },
    );
    expect(info().agents).toMatchObject({ a: { tools: [{ name: "weather" }] }, b: { tools: [] } });
    expect(createAgentHandler(hello).info().agents).not.toHaveProperty("default.tools");
  });

  test("reports the path of AG-UI when no protocol was chosen", async () => {
    const handler = createAgentHandler(hello, quiet);
    expect(handler.info().routes).toEqual(expect.arrayContaining(["POST /agui", "GET /agui/info"]));
    expect((await handler.fetch(post({ messages: [] }))).status).toBe(200);
  });
});

describe("one agent, every protocol", () => {
  const user = { id: "1", role: "user", parts: [{ type: "text", text: "hi" }] };
  test.for<[string, string, object]>([
    ["AG-UI", "/agui", { messages: [say("hi")] }],
    ["CopilotKit", "/agui/agent/default/run", { threadId: "t", runId: "r", messages: [] }],
    ["CopilotKit, in one route", "/agui", { method: "agent/run", body: { messages: [] } }],
    ["useChat", "/api/chat", { id: "c", messages: [user] }],
    ["REST", "/agent/default/chat", { message: "hi" }],
    ["REST as a stream", "/agent/default/chat/stream", { message: "hi" }],
    ["threads", "/chat", { message: "hi" }],
  ])("is served with nothing chosen, by one pipeline: %s", async ([, path, body]) => {
    const seen: string[] = [];
    const watch = mapEvents((event) => (seen.push(event.type), event));
    const { fetch } = createAgentHandler(hello, { ...quiet, middleware: [watch] });
    const response = await fetch(post(body, { path }));
    expect(response.status).toBe(200);
    expect(await response.text()).toContain("world");
    expect(seen).toEqual([
      "RUN_STARTED",
      "TEXT_MESSAGE_START",
      "TEXT_MESSAGE_CONTENT",
      "TEXT_MESSAGE_CONTENT",
      "TEXT_MESSAGE_END",
      "RUN_FINISHED",
    ]);
  });

  test("gives all of them the same events of one pipeline", async () => {
    const plain: Protocol = {
      name: "plain",
      history: "client",
      routes: (host) => [
        {
          method: "POST",
          path: "/plain",
          body: "json",
          async handle(call) {
            const input = { messages: [], tools: [], context: [], ...(call.body as object) };
            const run = await host.start(call, { input: input as never });
            return run.stream(
              {
                contentType: "application/x-ndjson",
                encode: ({ event }) => `${JSON.stringify(event)}\n`,
              },
              "start",
            );
          },
        },
      ],
    };
    const seen: string[] = [];
    const watch = mapEvents((event) => (seen.push(event.type), event));
    const agent: AgentFunction = async (_, { emit, state }) => {
      await state.set({ n: 1 });
      const id = emit.toolCall("look", { at: "it" }, { id: "c" });
      await emit.event({
        type: "TOOL_CALL_RESULT",
        messageId: "r",
        toolCallId: id,
        content: "seen",
      });
    };
    // Two servers, since the events name a run, and each server runs it once.
    const start = (): AgentHandler =>
      createAgentHandler(agent, { ...quiet, protocols: [agui(), plain], middleware: [watch] });
    const body = { threadId: "t", protocolVersion: "1.1" };
    const first = await start().fetch(post({ ...body, runId: "r", messages: [] }));
    const overAgui = await eventsOf(first);
    const second = await start().fetch(post({ ...body, runId: "r" }, { path: "/plain" }));
    const lines = (await second.text()).trim().split("\n");
    const overPlain = lines.map((line) => JSON.parse(line) as BaseEvent);
    expect(overPlain).toEqual(overAgui);
    expect(seen).toEqual([...typesOf(overAgui), ...typesOf(overAgui)]);
  });
});

describe("the tools that a client offers", () => {
  test("are called whatever it calls them, described or not", async () => {
    const tools = [
      { name: "mcp.get-weather", description: "" },
      { name: "2nd opinion", description: "No." },
    ];
    const seen: unknown[] = [];
    const { fetch } = createAgentHandler(async (input) => void seen.push(input.tools), quiet);
    const response = await fetch(post({ messages: [], tools }));
    expect(response.status).toBe(200);
    await response.text();
    expect(seen).toEqual([tools]);
  });
});

describe("a library that does not own the process", () => {
  const listeners = (): number =>
    process.eventNames().reduce((sum, name) => sum + process.listenerCount(name), 0);

  test("adds no listener to it, from the first import to the end", async () => {
    vi.resetModules();
    const before = listeners();
    const fresh = await import("../src/index.ts");
    expect(fresh.createAgentHandler).not.toBe(createAgentHandler);
    const handler = fresh.createAgentHandler(hello, quiet);
    await (await handler.fetch(post({ messages: [] }))).text();
    await handler.close();
    expect(listeners()).toBe(before);
  });

  test("has no timer before the first run and none after it is closed", async () => {
    const clock = fakeClock();
    const handler = createAgentHandler(hello, { ...quiet, clock });
    await handler.start();
    expect(clock.pending).toBe(0);
    await (await handler.fetch(post({ messages: [] }))).text();
    expect(clock.pending).toBeGreaterThan(0);
    const closing = handler.close();
    await clock.advance(100);
    await closing;
    expect(clock.pending).toBe(0);
  });

  test("gives what runs four of five seconds to end, by default", async () => {
    const clock = fakeClock();
    let isAborted = false;
    const handler = createAgentHandler(
      async function* (_input, { signal }) {
        signal.addEventListener("abort", () => (isAborted = true));
        yield "…";
        await new Promise(() => undefined);
      },
      { ...quiet, clock },
    );
    const text = (await handler.fetch(post({ messages: [] }))).text();
    const closing = handler.close();
    await clock.advance(3_999);
    expect([isAborted, handler.state]).toEqual([false, "shutting_down"]);
    await clock.advance(1_001);
    await closing;
    expect([isAborted, handler.state]).toEqual([true, "stopped"]);
    expect(await text).toContain("shutting-down");
  });

  test("sends no CORS header unless asked to", async () => {
    const { fetch } = createAgentHandler(hello, quiet);
    const headers = { origin: "https://elsewhere.test" };
    for (const body of [{ messages: [] }, "{"]) {
      const response = await fetch(post(body, { headers }));
      const names = [...response.headers.keys()];
      expect(names.filter((name) => name.startsWith("access-control-"))).toEqual([]);
      await response.text();
    }
  });
});

describe("a client that waits", () => {
  test("receives a comment every 8 seconds", async () => {
    const clock = fakeClock();
    const gate = deferred();
    const { fetch } = createAgentHandler(
      async function* () {
        await gate.promise;
        yield "late";
      },
      { ...quiet, clock },
    );
    const response = await fetch(post({ messages: [] }));
    const reader = response.body!.getReader();
    const decoder = new TextDecoder();
    let heard = "";
    const listening = (async () => {
      for (let part = await reader.read(); !part.done; part = await reader.read()) {
        heard += decoder.decode(part.value);
      }
    })();
    const beats = (): number => heard.split(": keep-alive\n\n").length - 1;
    await clock.advance(7_000);
    expect(beats()).toBe(0);
    await clock.advance(2_000);
    expect(beats()).toBe(1);
    await clock.advance(17_000);
    expect(beats()).toBe(3);
    gate.resolve();
    await listening;
    expect(heard).toContain("late");
    expect(heard.endsWith("\n\n")).toBe(true);
  });
});

describe("an address that a client sends", () => {
  test("is never asked for on the client's behalf, and reaches the agent as it is", async () => {
    let visits = 0;
    const inside = createServer((_request, response) => {
      visits++;
      response.end();
    });
    inside.on("connection", () => visits++);
    await new Promise<void>((resolve) => inside.listen(0, "127.0.0.1", resolve));
    const url = `http://127.0.0.1:${(inside.address() as AddressInfo).port}/secret.png`;
    const contents: unknown[] = [];
    const { fetch } = createAgentHandler(
      async (input) => void contents.push(input.messages.at(-1)!.content),
      quiet,
    );
    const asked = async (body: unknown, path: string): Promise<void> => {
      const response = await fetch(post(body, { path }));
      expect([path, response.status]).toEqual([path, 200]);
      await response.text();
    };
    const image = { type: "image", source: { type: "url", value: url, mimeType: "image/png" } };
    const binary = { type: "binary", mimeType: "image/png", url };
    const file = { type: "file", mediaType: "image/png", url };
    for (const part of [image, binary]) {
      await asked({ messages: [{ role: "user", content: [part] }] }, "/agui");
    }
    await asked({ id: "c", messages: [{ id: "1", role: "user", parts: [file] }] }, "/api/chat");
    await new Promise((resolve) => inside.close(resolve));
    expect(contents).toMatchObject([[image], [image], [image]]);
    expect(visits).toBe(0);
  });
});
