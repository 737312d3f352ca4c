import { HttpAgent } from "@ag-ui/client";
import type { AgentEvent, AgentLike, Middleware } from "@holodeck/agui-core";
import { mapEvents, silentLogger } from "@holodeck/agui-core";
import { serve } from "@holodeck/agui-node";
import { Observable } from "rxjs";
import { describe, expect, onTestFinished, test } from "vitest";
import { createAgentHandler } from "../src/index.ts";
import type { AgentHandler } from "../src/index.ts";

const start = { type: "TOOL_CALL_START", toolCallId: "c1", toolCallName: "danger" };
const rest = [
  { type: "TOOL_CALL_ARGS", toolCallId: "c1", delta: '{"key":"secret"}' },
  {
    type: "REASONING_ENCRYPTED_VALUE",
    subtype: "tool-call",
    entityId: "c1",
    encryptedValue: "secret",
  },
  { type: "TOOL_CALL_END", toolCallId: "c1" },
];
const result = { type: "TOOL_CALL_RESULT", messageId: "t1", toolCallId: "c1", content: "secret" };
const other = [
  { type: "TOOL_CALL_START", toolCallId: "c2", toolCallName: "look" },
  { type: "TOOL_CALL_ARGS", toolCallId: "c2", delta: "{}" },
  { type: "TOOL_CALL_END", toolCallId: "c2" },
  { type: "TOOL_CALL_RESULT", messageId: "t2", toolCallId: "c2", content: "seen" },
];
const snapshot = {
  type: "MESSAGES_SNAPSHOT",
  messages: [
    { id: "u1", role: "user", content: "go" },
    {
      id: "m1",
      role: "assistant",
      content: "hello",
      toolCalls: [
        { id: "c1", type: "function", function: { name: "danger", arguments: '{"key":"secret"}' } },
        { id: "c2", type: "function", function: { name: "look", arguments: "{}" } },
      ],
    },
    { id: "t1", role: "tool", toolCallId: "c1", content: "secret" },
    { id: "t2", role: "tool", toolCallId: "c2", content: "seen" },
  ],
};
const end = {
  type: "RUN_FINISHED",
  outcome: { type: "success", pendingToolCallIds: ["c1"] },
};

const runs: Readonly<Record<string, readonly object[]>> = {
  "a call with its result": [start, ...rest, result, ...other],
  "a call that waits for the client": [start, ...rest, ...other],
  "a call in chunks": [
    { type: "TOOL_CALL_CHUNK", toolCallId: "c1", toolCallName: "danger", delta: '{"key":' },
    { type: "TOOL_CALL_CHUNK", toolCallId: "c1", delta: '"secret"}' },
    result,
    ...other,
  ],
  "a call that a snapshot repeats": [start, ...rest, result, ...other, snapshot],
  "a call that its own end names as pending": [start, ...rest, ...other, end],
};

const kinds: Readonly<Record<string, (events: readonly object[]) => AgentLike>> = {
  generator: (events) =>
    async function* () {
      yield* events as AgentEvent[];
    },
  emit:
    (events) =>
    async (_input, { emit }) => {
      for (const event of events) await emit.event(event as AgentEvent);
    },
  Observable: (events) => () =>
    new Observable<AgentEvent>((subscriber) => {
      for (const event of events) subscriber.next(event as AgentEvent);
      subscriber.complete();
    }),
};

const naive: Middleware = mapEvents((event) =>
  event.type === "TOOL_CALL_START" && event.toolCallName === "danger" ? null : event,
);

async function open(
  agent: AgentLike,
  middleware: readonly Middleware[],
): Promise<{ client: HttpAgent; handler: AgentHandler; inputs: unknown[]; seen: unknown[] }> {
  const inputs: unknown[] = [];
  const handler = createAgentHandler(
    (input, context) => {
      inputs.push(structuredClone(input.messages));
      const run = agent as (...given: [typeof input, typeof context]) => unknown;
      return run(input, context) as never;
    },
    { middleware: [...middleware], logger: silentLogger },
  );
  const { url, close } = await serve(handler, { port: 0, signals: false });
  onTestFinished(() => close());
  const seen: unknown[] = [];
  const client = new HttpAgent({ url: `${url}/agui`, threadId: "thread" });
  client.subscribe({ onEvent: ({ event }) => void seen.push(structuredClone(event)) });
  return { client, handler, inputs, seen };
}

describe.for(Object.keys(kinds))(
  "an agent as %s, behind a filter that drops TOOL_CALL_START",
  (kind) => {
    test.for(Object.keys(runs))("leaks nothing of %s", async (name) => {
      const { client, handler, inputs, seen } = await open(kinds[kind]!(runs[name]!), [naive]);
      for (const turn of [1, 2]) {
        client.addMessage({ id: `u${turn}`, role: "user", content: "go" });
        await client.runAgent();
      }
      const session = await handler.sessions.get({ principal: "", threadId: "thread" });
      for (const place of [seen, client.messages, inputs, session]) {
        const text = JSON.stringify(place);
        expect(text).not.toContain("secret");
        expect(text).not.toContain("danger");
        expect(text).not.toContain('"c1"');
        expect(text).not.toContain("unknown");
      }
      expect(JSON.stringify(seen)).toContain("seen");
      expect(client.messages.some(({ id }) => id === "t2")).toBe(true);
    });
  },
);

test("a text whose start a middleware took out goes with it, and the next one does not", async () => {
  const agent = async function* (): AsyncGenerator<AgentEvent> {
    for (const [messageId, delta] of [
      ["m1", "secret"],
      ["m2", "public"],
    ] as const) {
      yield { type: "TEXT_MESSAGE_START", messageId, role: "assistant" };
      yield { type: "TEXT_MESSAGE_CONTENT", messageId, delta };
      yield { type: "TEXT_MESSAGE_END", messageId };
    }
  };
  const filter = mapEvents((event) =>
    event.type === "TEXT_MESSAGE_START" && event.messageId === "m1" ? null : event,
  );
  const { client, seen } = await open(agent as AgentLike, [filter]);
  client.addMessage({ id: "u1", role: "user", content: "go" });
  await client.runAgent();
  expect(JSON.stringify(seen)).not.toContain("secret");
  expect(client.messages.map(({ content }) => content)).toEqual(["go", "public"]);
});

test("what an agent forgot to start is still started, behind a middleware too", async () => {
  const agent = async function* (): AsyncGenerator<AgentEvent> {
    yield { type: "TEXT_MESSAGE_CONTENT", messageId: "m1", delta: "hello" };
  };
  const { client } = await open(agent as AgentLike, [mapEvents((event) => event)]);
  client.addMessage({ id: "u1", role: "user", content: "go" });
  await client.runAgent();
  expect(client.messages.at(-1)).toMatchObject({ content: "hello" });
});
