import { AgentError, EventType } from "@holodeck/agui";
import type { AgentFunction, RunAgentInput } from "@holodeck/agui";
import { createReducer } from "@holodeck/agui-core";
import { runInput } from "@holodeck/agui-testing";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Sent } from "../page/client/exchange.ts";
import { maxKeptBytes } from "../page/client/frame-log.ts";
import { fetchThreads, readInfo, readLimits } from "../page/client/server.ts";
import { wires } from "../page/client/wires.ts";
import type { RecordedFrame, Wire } from "../page/model.ts";
import { startServer } from "./_server.ts";
import type { TestServer } from "./_server.ts";

const threadId = "01ARZ3NDEKTSV4RRFFQ69G5FAV";
let server: TestServer;

const talkative: AgentFunction = async (input, { emit, state }) => {
  await emit.reasoning("Hm. ");
  await emit.text("Grüezi ");
  const id = emit.toolCall("weather", { city: "Bern" });
  await emit.toolResult(id, JSON.stringify({ sun: true }));
  await emit.step("looking", async () => {
    emit.activity("search", { title: "Searching", status: "running" }, { id: "a-1" });
  });
  await state.set({ count: 1 });
  await state.set({ count: 2 });
  await emit.custom("suggested_questions", ["Why?"]);
  emit.usage({ model: "m", inputTokens: 3, outputTokens: 4 });
  await emit.text(`You asked ${input.messages.length}.`);
};

const agents = {
  talkative,
  failing: (async () => {
    throw new AgentError("agent-error", "It broke.");
  }) satisfies AgentFunction,
  endless: async function* endless(): AsyncGenerator<string> {
    for (let index = 0; index < 60; index++) yield "x".repeat(100_000);
  },
};

beforeAll(async () => {
  server = await startServer(agents, { debug: true });
});
afterAll(() => server.close());

const all: readonly Wire[] = ["agui-sse", "agui-proto", "vercel", "rest"];

describe.each(all)("over %s", (wire) => {
  test("an answer comes as AG-UI's events, and every byte is kept", async () => {
    const { sent, frames } = await ask(wire, "talkative");
    const { exchange } = sent;
    expect(exchange.status.value).toBe("done");
    expect(exchange.runId.value).toMatch(/\S/);
    const events = frames.flatMap(({ events }) => events);
    const reducer = createReducer(exchange.input.messages);
    for (const event of events) reducer.apply(event);
    const text = reducer.messages.map((one) => (one.role === "assistant" ? one.content : ""));
    expect(text.join("")).toBe("Grüezi You asked 1.");
    const call = reducer.messages.flatMap((one) =>
      one.role === "assistant" ? (one.toolCalls ?? []) : [],
    );
    expect(call).toMatchObject([{ function: { name: "weather", arguments: '{"city":"Bern"}' } }]);
    expect(events.at(-1)).toMatchObject({
      type: EventType.RUN_FINISHED,
      usage: [{ outputTokens: 4 }],
    });
    expect(events).toContainEqual(
      expect.objectContaining({ name: "suggested_questions", value: ["Why?"] }),
    );
    expect(exchange.frames.value).toEqual(frames);
    const bytes = frames.reduce((sum, frame) => sum + frame.bytes.length, 0);
    expect(bytes).toBeGreaterThan(300);
  });

  test("a run that fails has a reason", async () => {
    const { sent } = await ask(wire, "failing");
    expect(sent.exchange.status.value).toBe("failed");
    expect(sent.exchange.error.value).toBe("It broke.");
  });

  test("a refusal is a sentence", async () => {
    const { sent } = await ask(wire, "nobody");
    expect(sent.exchange.status.value).toBe("failed");
    expect(sent.exchange.error.value).toBe("Agent 'nobody' is not loaded on this server");
    expect(sent.refusal()).toBe(404);
  });

  test("the bytes of a long answer are bounded, its events are not", async () => {
    const { sent } = await ask(wire, "endless");
    const frames = sent.exchange.frames.value;
    const kept = frames.reduce((sum, frame) => sum + frame.bytes.length, 0);
    const { frames: count, bytes } = sent.exchange.dropped!.value;
    expect(kept).toBeLessThanOrEqual(maxKeptBytes);
    expect(kept + bytes).toBeGreaterThan(6_000_000);
    expect(frames.slice(0, count).every((frame) => frame.bytes.length === 0)).toBe(true);
    const said = frames.flatMap(({ events }) =>
      events.map(({ delta }) => (typeof delta === "string" ? delta : "")),
    );
    expect(said.join("").replaceAll(/[^x]/g, "")).toHaveLength(6_000_000);
  });
});

describe.each(["agui-sse", "agui-proto", "vercel"] as const)("over %s", (wire) => {
  test("thoughts, results, steps, activities and state arrive", async () => {
    const { frames } = await ask(wire, "talkative");
    const events = frames.flatMap(({ events }) => events);
    const reducer = createReducer([]);
    for (const event of events) reducer.apply(event);
    expect(reducer.messages).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ role: "reasoning", content: "Hm. " }),
        expect.objectContaining({ role: "tool", content: '{"sun":true}' }),
        expect.objectContaining({ role: "activity", activityType: "search" }),
      ]),
    );
    const types = new Set(events.map(({ type }) => type));
    expect([...types]).toEqual(
      expect.arrayContaining([
        EventType.STEP_STARTED,
        EventType.STEP_FINISHED,
        EventType.STATE_SNAPSHOT,
      ]),
    );
  });
});

test("frames have the time since the request, in order", async () => {
  const { frames } = await ask("agui-sse", "talkative");
  const times = frames.map(({ at }) => at);
  expect(times).toEqual(times.toSorted((a, b) => a - b));
  expect(frames.map(({ index }) => index)).toEqual([...frames.keys()]);
});

test("a server that is not there is a sentence", async () => {
  const gone = await startServer(talkative);
  await gone.close();
  const sent = wires["agui-sse"](input("Hi"), { base: gone.base, agentId: "default" });
  await drain(sent);
  expect(sent.exchange.error.value).toBe("The server could not be reached.");
});

test("discovery lists the agents and the wires", async () => {
  const info = await readInfo(server.base);
  expect(info.agents.map(({ id }) => id)).toEqual(Object.keys(agents));
  expect(info.wires).toEqual(all);
  expect(await readLimits(server.base)).toEqual({ files: 10, inlineFileBytes: 10 * 1024 * 1024 });
  const threads = await fetchThreads(server.base, info);
  expect(threads?.map(({ id }) => id)).toContain(threadId);
});

test("threads that the server does not list are no failure", async () => {
  const closed = await startServer(talkative, { authenticate: undefined });
  const info = await readInfo(closed.base);
  expect(await fetchThreads(closed.base, info)).toBeUndefined();
  await closed.close();
});

function input(question: string): RunAgentInput {
  return runInput({
    threadId,
    runId: crypto.randomUUID(),
    protocolVersion: "1.0",
    messages: [{ id: "q-1", role: "user", content: question }],
  });
}

async function ask(wire: Wire, agentId: string): Promise<{ sent: Sent; frames: RecordedFrame[] }> {
  await server.handler.sessions.delete({ principal: "anonymous", threadId });
  const sent = wires[wire](input("Hi"), { base: server.base, agentId });
  return { sent, frames: await drain(sent) };
}

async function drain(sent: Sent): Promise<RecordedFrame[]> {
  const frames: RecordedFrame[] = [];
  for await (const frame of sent.frames) frames.push(frame);
  return frames;
}
