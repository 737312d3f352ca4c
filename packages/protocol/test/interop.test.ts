import { createServer } from "node:http";
import type { Server } from "node:http";
import { HttpAgent } from "@ag-ui/client";
import { EventType } from "@holodeck/agui-core";
import type { BaseEvent, Message } from "@holodeck/agui-core";
import {
  aguiSseEncoder,
  decodeRunInput,
  loadProtoEncoder,
  negotiate,
} from "@holodeck/agui-protocol";
import { HttpAgent as HttpAgent0 } from "ag-ui-client-0";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { log } from "./events.ts";

const ids = { threadId: "t-1", runId: "r-1" };
const started: BaseEvent = { type: EventType.RUN_STARTED, ...ids, protocolVersion: "1.0" };
const finished: BaseEvent = { type: EventType.RUN_FINISHED, ...ids, outcome: { type: "success" } };
const sub = { subagentRunId: "s-1" };
const interrupt = { id: "i-1", reason: "confirmation", message: "Send?", metadata: { k: 1 } };
const picture = { type: "image", source: { type: "data", value: "AAAA", mimeType: "image/png" } };

function text(messageId: string, deltas: string[], more: object = {}): BaseEvent[] {
  return [
    { type: EventType.TEXT_MESSAGE_START, messageId, role: "assistant", ...more },
    ...deltas.map((delta) => ({ type: EventType.TEXT_MESSAGE_CONTENT, messageId, delta, ...more })),
    { type: EventType.TEXT_MESSAGE_END, messageId, ...more },
  ];
}

function toolCall(content: unknown): BaseEvent[] {
  const toolCallId = "c-1";
  return [
    { type: EventType.TOOL_CALL_START, toolCallId, toolCallName: "weather" },
    { type: EventType.TOOL_CALL_ARGS, toolCallId, delta: '{"city_name":' },
    { type: EventType.TOOL_CALL_ARGS, toolCallId, delta: "" },
    { type: EventType.TOOL_CALL_ARGS, toolCallId, delta: '"Rome"}' },
    { type: EventType.TOOL_CALL_END, toolCallId },
    { type: EventType.TOOL_CALL_RESULT, messageId: "m-9", toolCallId, content, role: "tool" },
  ];
}

const scenarios: Readonly<Record<string, BaseEvent[]>> = {
  text: [started, ...text("m-1", ["Hel", "", "lo\n\nwörld"]), finished],
  tool: [started, ...toolCall("sunny"), finished],
  "tool-parts": [started, ...toolCall([{ type: "text", text: "sunny" }, picture]), finished],
  reasoning: [
    started,
    { type: EventType.REASONING_START, messageId: "r-1" },
    { type: EventType.REASONING_MESSAGE_START, messageId: "r-2", role: "reasoning" },
    { type: EventType.REASONING_MESSAGE_CONTENT, messageId: "r-2", delta: "Hm." },
    { type: EventType.REASONING_MESSAGE_END, messageId: "r-2" },
    {
      type: EventType.REASONING_ENCRYPTED_VALUE,
      subtype: "message",
      entityId: "r-2",
      encryptedValue: "enc",
    },
    { type: EventType.REASONING_END, messageId: "r-1" },
    finished,
  ],
  state: [
    started,
    { type: EventType.STATE_SNAPSHOT, snapshot: { step_count: 0, list: [] } },
    { type: EventType.STATE_DELTA, delta: [{ op: "add", path: "/list/-", value: { a_b: 1 } }] },
    { type: EventType.STATE_DELTA, delta: [{ op: "replace", path: "/step_count", value: 2 }] },
    finished,
  ],
  activity: [
    started,
    {
      type: EventType.ACTIVITY_SNAPSHOT,
      messageId: "a-1",
      activityType: "PLAN",
      content: { done: 0 },
    },
    {
      type: EventType.ACTIVITY_DELTA,
      messageId: "a-1",
      activityType: "PLAN",
      patch: [{ op: "replace", path: "/done", value: 1 }],
    },
    finished,
  ],
  interrupt: [
    started,
    {
      type: EventType.RUN_FINISHED,
      ...ids,
      outcome: { type: "interrupt", interrupts: [interrupt] },
    },
  ],
  cancelled: [
    started,
    ...text("m-1", ["Hel"]),
    { type: EventType.RUN_FINISHED, ...ids, outcome: { type: "cancelled" } },
  ],
  pending: [
    started,
    ...toolCall("").slice(0, -1),
    {
      type: EventType.RUN_FINISHED,
      ...ids,
      outcome: { type: "success", pendingToolCallIds: ["c-1"] },
    },
  ],
  subagent: [
    started,
    { type: EventType.STEP_STARTED, stepName: "plan" },
    { type: EventType.SUBAGENT_STARTED, ...sub, name: "reader" },
    { type: EventType.STEP_STARTED, stepName: "plan", ...sub },
    ...text("m-1", ["found"], sub),
    { type: EventType.STEP_FINISHED, stepName: "plan", ...sub },
    { type: EventType.SUBAGENT_FINISHED, ...sub, outcome: { type: "success" } },
    { type: EventType.STEP_FINISHED, stepName: "plan" },
    ...text("m-2", ["done"]),
    finished,
  ],
  snapshot: [
    started,
    {
      type: EventType.MESSAGES_SNAPSHOT,
      messages: [
        {
          id: "u-1",
          role: "user",
          content: [
            { type: "text", text: "look" },
            { type: "document", source: { type: "file", value: "f-1", provider: "openai" } },
          ],
        },
        {
          id: "m-1",
          role: "assistant",
          toolCalls: [{ id: "c-1", type: "function", function: { name: "f", arguments: "{}" } }],
        },
        { id: "m-2", role: "tool", toolCallId: "c-1", content: [{ type: "text", text: "ok" }] },
      ],
    },
    finished,
  ],
  error: [
    started,
    ...text("m-1", ["Hel"]).slice(0, -1),
    { type: EventType.RUN_ERROR, message: "No.", code: "timeout" },
  ],
};

let server: Server;
let url: string;
const answered: string[] = [];

beforeAll(async () => {
  // The least a server can be: our decoder, our negotiation, our bytes.
  server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const { protocolVersion } = await decodeRunInput(JSON.parse(Buffer.concat(chunks).toString()));
    const binary = protocolVersion !== undefined;
    const encoder =
      negotiate(request.headers.accept, { binary }) === "proto"
        ? await loadProtoEncoder()
        : aguiSseEncoder({ protocolVersion });
    answered.push(encoder.key ?? "");
    response.writeHead(200, { "content-type": encoder.contentType, ...encoder.headers });
    const scenario = scenarios[new URL(request.url ?? "/", url).pathname.slice(1)] ?? [];
    for (const [index, entry] of log(scenario).entries()) {
      // A heartbeat before each event: the worst time for one.
      for (const chunk of [encoder.keepAlive?.(index > 0) ?? "", encoder.encode(entry)]) {
        if (chunk !== "") response.write(chunk);
      }
    }
    response.end();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  if (typeof address === "object") url = `http://127.0.0.1:${address?.port}`;
});

afterAll(async () => {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

const askBinary: typeof fetch = (target, init) => {
  const headers = new Headers(init?.headers);
  headers.set("accept", "application/vnd.ag-ui.event+proto");
  return fetch(target, { ...init, headers });
};
// Another copy of the same class; for what we use of it the types are the same.
const OldHttpAgent: typeof HttpAgent = Object(HttpAgent0);
const clients = {
  "1.0.0 over SSE": {
    key: "agui-sse-1.0",
    create: (target: string) => new HttpAgent({ url: target, threadId: ids.threadId }),
  },
  "1.0.0 over protobuf": {
    key: "agui-proto-1.0",
    create: (target: string) =>
      new HttpAgent({ url: target, threadId: ids.threadId, fetch: askBinary }),
  },
  "0.0.59 over SSE": {
    key: "agui-sse-0",
    create: (target: string) => new OldHttpAgent({ url: target, threadId: ids.threadId }),
  },
};

describe.for(Object.entries(clients))("the official client %s", ([name, { key, create }]) => {
  const isLegacy = key === "agui-sse-0";

  /** One run as a user of that client sees it, without the heartbeats. */
  async function run(scenario: string): Promise<{
    events: Record<string, unknown>[];
    messages: readonly Message[];
    state: unknown;
  }> {
    const warned = vi.spyOn(console, "warn");
    const agent = create(`${url}/${scenario}`);
    const events: Record<string, unknown>[] = [];
    await agent.runAgent(
      { runId: ids.runId },
      { onEvent: ({ event }) => void (event.source === "agui" || events.push(event)) },
    );
    expect(answered.at(-1)).toBe(key);
    expect(warned).not.toHaveBeenCalled();
    warned.mockRestore();
    return { events, messages: agent.messages, state: agent.state };
  }

  test("reads text", async () => {
    const { messages, events } = await run("text");
    expect(messages).toEqual([{ id: "m-1", role: "assistant", content: "Hello\n\nwörld" }]);
    expect(events).toHaveLength(isLegacy ? 6 : 7);
    expect(events[0]).toMatchObject({ type: "RUN_STARTED", ...ids, protocolVersion: "1.0" });
  });

  test.for(["tool", "tool-parts"])("reads a %s call and its result", async (scenario) => {
    const { messages } = await run(scenario);
    expect(messages[0]).toMatchObject({
      role: "assistant",
      toolCalls: [
        {
          id: "c-1",
          type: "function",
          function: { name: "weather", arguments: '{"city_name":"Rome"}' },
        },
      ],
    });
    const parts = [{ type: "text", text: "sunny" }, picture];
    const content = scenario === "tool" || isLegacy ? "sunny" : parts;
    expect(messages[1]).toEqual({ id: "m-9", role: "tool", toolCallId: "c-1", content });
  });

  test("reads reasoning", async () => {
    const { messages } = await run("reasoning");
    expect(messages).toEqual([
      { id: "r-2", role: "reasoning", content: "Hm.", encryptedValue: "enc" },
    ]);
  });

  test("reads state", async () => {
    expect((await run("state")).state).toEqual({ step_count: 2, list: [{ a_b: 1 }] });
  });

  test("reads activities", async () => {
    const { messages } = await run("activity");
    expect(messages).toEqual([
      { id: "a-1", role: "activity", activityType: "PLAN", content: { done: 1 } },
    ]);
  });

  test("reads an interrupt", async () => {
    const { events } = await run("interrupt");
    expect(events.at(-1)).toMatchObject({
      type: "RUN_FINISHED",
      outcome: { type: "interrupt", interrupts: [interrupt] },
    });
  });

  test("reads the end of a stopped run", async () => {
    const { events, messages } = await run("cancelled");
    expect(messages).toMatchObject([{ id: "m-1", content: "Hel" }]);
    const end = isLegacy ? { result: { status: "cancelled" } } : { outcome: { type: "cancelled" } };
    expect(events.at(-1)).toEqual({ type: "RUN_FINISHED", ...ids, ...end });
  });

  test("reads the end of a run that waits for a frontend tool", async () => {
    const { events } = await run("pending");
    const outcome = { type: "success", pendingToolCallIds: ["c-1"] };
    expect(events.at(-1)).toEqual({
      type: "RUN_FINISHED",
      ...ids,
      ...(isLegacy ? {} : { outcome }),
    });
  });

  test("reads the events of subagents", async () => {
    const { messages, events } = await run("subagent");
    expect(messages).toMatchObject([
      { id: "m-1", content: "found", subagentRunId: "s-1" },
      { id: "m-2", content: "done" },
    ]);
    const nested = events.filter(({ type }) => String(type).startsWith("SUBAGENT_"));
    expect(nested).toHaveLength(isLegacy ? 0 : 2);
  });

  test("reads a snapshot of messages", async () => {
    const { messages } = await run("snapshot");
    expect(messages.map((message) => message.id)).toEqual(["u-1", "m-1", "m-2"]);
    expect(messages[0]?.content).toHaveLength(isLegacy ? 1 : 2);
    expect(messages[2]?.content).toEqual(isLegacy ? "ok" : [{ type: "text", text: "ok" }]);
  });

  test("reads an error after half an answer", async () => {
    const { messages, events } = await run("error");
    expect(messages).toMatchObject([{ id: "m-1", content: "Hel" }]);
    expect(events.at(-1)).toEqual({ type: "RUN_ERROR", message: "No.", code: "timeout" });
  });

  test("is the one that was meant", () => {
    expect(name).toContain(isLegacy ? "0.0.59" : "1.0.0");
    expect(create(url)).toBeInstanceOf(isLegacy ? HttpAgent0 : HttpAgent);
  });
});
