import { HttpAgent } from "@ag-ui/client";
import { serve } from "@holodeck/agui-node";
import type { Serving } from "@holodeck/agui-node";
import { afterEach, describe, expect, test } from "vitest";
import { agui, createAgentHandler, presets } from "../src/index.ts";
import type { AgentFunction, AgentHandlerOptions } from "../src/index.ts";
import { deferred, memoryLogger, parseSse, say } from "./_helpers.ts";

let serving: Serving | undefined;
afterEach(async () => {
  await serving?.close();
  serving = undefined;
});

const seen: unknown[] = [];
const planner: AgentFunction = async function* (input, { emit, state }) {
  const { threadId, runId, context, state: given } = input;
  seen.push({ threadId, runId, context, given, messages: input.messages.length });
  await state.set({ risk_level: 1, innerKey: { toolCallId: "mine" } });
  await state.patch([{ op: "add", path: "/plan_steps", value: [{ stepName: "a" }] }]);
  emit.activity("AGENT_EXECUTION", { agent_id: "x", agentId: "y" }, { id: "a1" });
  emit.toolCall("look_up", { cityName: "Rome", city_name: "Roma" }, { id: "c1" });
  await emit.custom("risk", { threadId: "payload", thread_id: "payload" });
  yield "Done";
};
const agents = { planner, critic: async () => "No." };

async function start(
  options: AgentHandlerOptions,
  more: AgentHandlerOptions = {},
): Promise<string> {
  const handler = createAgentHandler(agents, { logger: memoryLogger(), ...options, ...more });
  serving = await serve(handler, { port: 0, signals: false });
  return serving.url;
}
const post = (url: string, body: unknown): Promise<Response> =>
  fetch(url, {
    method: "POST",
    headers: { "content-type": "application/json", accept: "text/event-stream" },
    body: JSON.stringify(body),
  });

// As the founding document of FlagPilot writes it.
const request = {
  thread_id: "550e8400-e29b-41d4-a716-446655440000",
  run_id: "run-1",
  messages: [{ role: "user", content: "Check this contract" }],
  context: [],
  state: {},
};

describe("the preset holodeck", () => {
  test("serves AG-UI at /awp, and health at the root", async () => {
    const url = await start(presets.holodeck());
    const agent = new HttpAgent({ url: `${url}/awp` });
    agent.messages = [{ id: "1", role: "user", content: "hi" }];
    const { newMessages } = await agent.runAgent();
    expect(newMessages.at(-1)).toMatchObject({ role: "assistant", content: "Done" });
    expect((await fetch(`${url}/health`)).status).toBe(200);
    expect((await fetch(`${url}/agui/info`)).status).toBe(404);
  });
});

describe("the preset flagpilot", () => {
  test("answers what its clients call, below /api", async () => {
    const url = await start(presets.flagpilot());
    const info = (await (await fetch(`${url}/api/agui/info`)).json()) as Record<string, unknown>;
    expect(info).toMatchObject({
      agents: { planner: { id: "planner" }, critic: { id: "critic" } },
    });
    const posted = await post(`${url}/api/agui`, { method: "info" });
    expect(await posted.json()).toMatchObject({ agents: { planner: {} } });
    const events = parseSse(await (await post(`${url}/api/agui`, request)).text());
    expect(events[0]).toMatchObject({ type: "RUN_STARTED", threadId: request.thread_id });
    expect(seen.at(-1)).toMatchObject({ threadId: request.thread_id, runId: "run-1", messages: 1 });
    const other = parseSse(
      await (
        await post(`${url}/api/agui`, { ...request, run_id: "run-2", agent_id: "critic" })
      ).text(),
    );
    expect(other).toContainEqual(expect.objectContaining({ delta: "No." }) as never);
    expect((await post(`${url}/api/agui`, { ...request, agent_id: "x" })).status).toBe(404);
    expect((await fetch(`${url}/api/health`)).status).toBe(200);
  });

  test("refuses options it does not have", () => {
    expect(() => presets.flagpilot({ wirecase: "snake" } as never)).toThrow("mean wireCase?");
  });
});

describe("a server that speaks snake_case", () => {
  test("spells the envelope so, in and out, and touches no payload", async () => {
    const url = await start(presets.flagpilot({ wireCase: "snake" }));
    const text = await (await post(`${url}/api/agui`, request)).text();
    const events = parseSse(text) as unknown as Record<string, unknown>[];
    const find = (type: string): unknown => events.find((event) => event.type === type);
    expect(find("RUN_STARTED")).toEqual({
      type: "RUN_STARTED",
      thread_id: request.thread_id,
      run_id: "run-1",
      protocol_version: "1.0",
    });
    expect(find("STATE_SNAPSHOT")).toMatchObject({
      snapshot: { risk_level: 1, innerKey: { toolCallId: "mine" } },
    });
    expect(find("STATE_DELTA")).toMatchObject({
      delta: [{ op: "add", path: "/plan_steps", value: [{ stepName: "a" }] }],
    });
    expect(find("ACTIVITY_SNAPSHOT")).toMatchObject({
      message_id: "a1",
      activity_type: "AGENT_EXECUTION",
      content: { agent_id: "x", agentId: "y" },
    });
    expect(find("TOOL_CALL_START")).toMatchObject({
      tool_call_id: "c1",
      tool_call_name: "look_up",
    });
    expect(find("TOOL_CALL_ARGS")).toEqual({
      type: "TOOL_CALL_ARGS",
      tool_call_id: "c1",
      delta: '{"cityName":"Rome","city_name":"Roma"}',
    });
    expect(find("CUSTOM")).toMatchObject({
      value: { threadId: "payload", thread_id: "payload" },
    });
    expect(find("RUN_FINISHED")).toMatchObject({ thread_id: request.thread_id, run_id: "run-1" });
    expect(text).not.toMatch(/"(threadId|runId|messageId|toolCallName)":"(?!payload)/);
  });

  test("shares a run with clients that read camelCase, each in its own spelling", async () => {
    const rest = deferred();
    const handler = createAgentHandler(
      async function* () {
        yield "a";
        await rest.promise;
        yield "b";
      },
      {
        logger: memoryLogger(),
        protocols: [agui({ path: "/snake", wireCase: "snake" }), named("camel", "/camel")],
      },
    );
    const { fetch: ask } = handler;
    const body = JSON.stringify({ ...request, messages: [say("hi")], protocol_version: "1.0" });
    const headers = { "content-type": "application/json" };
    const first = await ask(new Request("http://t/snake", { method: "POST", headers, body }));
    const [second, third] = await Promise.all(
      ["/camel", "/snake"].map((path) =>
        ask(new Request(`http://t${path}/runs/run-1/events?offset=0`)),
      ),
    );
    rest.resolve();
    const [snake, camel, again] = await Promise.all(
      [first, second!, third!].map((response) => response.text()),
    );
    expect(snake).toContain('"thread_id":"550e');
    expect(snake).not.toContain('"threadId"');
    expect(camel).toContain('"threadId":"550e');
    expect(camel).not.toContain('"thread_id"');
    expect(again).toBe(snake);
    const stopped = await ask(new Request("http://t/snake/runs/run-1/stop", { method: "POST" }));
    expect(await stopped.json()).toEqual({ run_id: "run-1", stopped: false });
  });
});

function named(name: string, path: string): ReturnType<typeof agui> {
  return { ...agui({ path }), name };
}

describe("the preset threads", () => {
  test("speaks the threads dialect, within its own bounds", async () => {
    const url = await start(presets.threads());
    const answer = await post(`${url}/chat`, { message: "hi", stream: false });
    expect(await answer.json()).toMatchObject({ message: { content: "Done" } });
    const many = Array.from({ length: 99 }, () =>
      post(`${url}/chat`, { message: "hi", stream: false }),
    );
    expect((await Promise.all(many)).every(({ status }) => status === 200)).toBe(true);
    expect((await post(`${url}/chat`, { message: "hi" })).status).toBe(429);
  });
});

describe("the preset vercel", () => {
  test("answers useChat at /api/chat", async () => {
    const url = await start(presets.vercel());
    const messages = [{ id: "1", role: "user", parts: [{ type: "text", text: "hi" }] }];
    const answer = await post(`${url}/api/chat`, { id: "c", messages });
    expect(answer.headers.get("x-vercel-ai-ui-message-stream")).toBe("v1");
    expect(await answer.text()).toContain('"type":"text-delta"');
    expect((await fetch(`${url}/agui/info`)).status).toBe(200);
  });
});
