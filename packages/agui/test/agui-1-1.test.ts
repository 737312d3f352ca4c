import { HttpAgent } from "@ag-ui/client";
import { createGuard, createReducer, PROTOCOL_VERSION } from "@holodeck/agui-core";
import type { AgentFunction, BaseEvent, Message } from "@holodeck/agui-core";
import { createStateTracker } from "@holodeck/agui-core/internal";
import { HttpAgent as HttpAgent0 } from "ag-ui-client-0";
import { describe, expect, test } from "vitest";
import { createAgentHandler } from "../src/index.ts";
import type { AgentHandler } from "../src/index.ts";
import { agentOutput, question, streamCases } from "./_agui-1-1-streams.ts";
import type { StreamCase } from "./_agui-1-1-streams.ts";
import { eventsOf, memoryLogger, post, typesOf } from "./_helpers.ts";
import { current, legacy, proto, sse } from "./_wires.ts";
import type { Wire } from "./_wires.ts";

/** An agent that sends a stream, and keeps what it was called with. */
function playing(stream: readonly BaseEvent[]): AgentFunction & { seen: Message[][] } {
  const seen: Message[][] = [];
  const agent: AgentFunction = async function* ({ messages }) {
    seen.push([...messages]);
    if (seen.length === 1) yield* stream;
  };
  return Object.assign(agent, { seen });
}

function serveCase(one: StreamCase): { agent: ReturnType<typeof playing>; handler: AgentHandler } {
  const agent = playing(agentOutput(one));
  return { agent, handler: createAgentHandler(agent, { logger: memoryLogger() }) };
}

const run = { threadId: "t", runId: "r", messages: [question], state: {} };

/** The official client of a wire, whose requests the handler answers. */
function clientOf(wire: Wire, handler: AgentHandler): HttpAgent {
  const Client: typeof HttpAgent = wire.isLegacy ? Object(HttpAgent0) : HttpAgent;
  return new Client({
    url: "http://test.local/agui",
    threadId: "t",
    initialMessages: [question],
    fetch: (url: string, init: RequestInit) => {
      const headers = new Headers(init.headers);
      headers.set("accept", wire.contentType);
      return handler.fetch(new Request(url, { ...init, headers }));
    },
  });
}

const foldOf = (events: readonly BaseEvent[]): readonly Message[] => {
  const reducer = createReducer([question]);
  for (const event of events) reducer.apply(event);
  return reducer.messages;
};

/** The same events with consecutive deltas of a part in one, as a log may have them. */
function merged(events: readonly BaseEvent[]): BaseEvent[] {
  const list: BaseEvent[] = [];
  for (const event of events) {
    const { delta, ...rest } = event;
    const last = list.at(-1);
    const { delta: before, ...same } = last ?? ({} as Partial<BaseEvent>);
    const isText = typeof delta === "string" && typeof before === "string";
    if (isText && JSON.stringify(rest) === JSON.stringify(same)) last!.delta = before + delta;
    else list.push({ ...event });
  }
  return list;
}

/** Clients of 1.0 have no types of encrypted values. */
const untyped = (messages: readonly unknown[]): unknown[] =>
  JSON.parse(
    JSON.stringify(messages, (key, value) => (key === "encryptedValueType" ? undefined : value)),
  ) as unknown[];

describe.for(streamCases.map((one) => [one.name, one] as const))("%s", ([, one]) => {
  const { messages, repairs = [], end, types, absent } = one;

  function hasMessages(held: readonly Message[]): void {
    if (messages) expect(held.slice(1)).toMatchObject(messages);
    if (absent) expect(JSON.stringify(held)).not.toContain(absent);
  }

  test("is repaired where it has to be, and nowhere else", () => {
    const events: BaseEvent[] = [];
    const guard = createGuard({
      threadId: "t",
      runId: "r",
      emit: (event) => events.push(event),
      state: createStateTracker({}),
      ending: { interrupts: [], usage: [] },
    });
    for (const event of agentOutput(one)) guard.push(event);
    guard.complete();
    expect([...guard.repairs.keys()].toSorted()).toEqual([...repairs].toSorted());
    expect(sse.faults(events)).toEqual([]);
    if (types) expect(typesOf(events).slice(1, -1)).toEqual(types);
    if (end) expect(events.at(-1)).toMatchObject(end);
  });

  test("is the same in a stream of 1.1, in its log, and for a client that joins", async () => {
    const { handler } = serveCase(one);
    const first = await handler.fetch(post({ ...run, ...current.input }));
    const sent = await eventsOf(first);
    expect(sent[0]).toMatchObject({ type: "RUN_STARTED", protocolVersion: "1.1" });
    expect(current.faults(sent)).toEqual([]);
    hasMessages(foldOf(sent));
    const get = (query: string): Promise<Response> =>
      handler.fetch(new Request(`http://test.local/agui/runs/r/events${query}`));
    expect(merged(await eventsOf(await get("?offset=0")))).toEqual(merged(sent));
    const joined = await eventsOf(await get(""));
    expect(joined[0]).toMatchObject({ type: "RUN_STARTED", protocolVersion: "1.1" });
    hasMessages(foldOf(joined));
  });

  test.for([sse, proto, legacy].map((wire) => [wire.name, wire] as const))(
    "is read by the official client of %s",
    async ([, wire]) => {
      const { handler } = serveCase(one);
      const client = clientOf(wire, handler);
      const seen: BaseEvent[] = [];
      await client.runAgent({}, { onEvent: ({ event }) => void seen.push(event) });
      expect(seen[0]).toMatchObject({ type: "RUN_STARTED", protocolVersion: "1.0" });
      const expected = wire.isLegacy ? (one.messagesBefore10 ?? messages) : messages;
      if (expected) expect(client.messages.slice(1)).toMatchObject(untyped(expected));
      // Clients of 0.0.x leave out a state that is false or null.
      const { state } = one;
      if (state !== undefined && (state || !wire.isLegacy)) expect(client.state).toEqual(state);
      expect(JSON.stringify(client.messages)).not.toContain("encryptedValueType");
    },
  );

  test("comes back in the next request as it was sent", async () => {
    const { agent, handler } = serveCase(one);
    const sent = await eventsOf(await handler.fetch(post({ ...run, ...current.input })));
    const held = foldOf(sent).filter(({ role }) => role !== "activity");
    const next = [...held, { ...question, id: "q2" }];
    const body = { ...run, runId: "r2", messages: next, ...current.input };
    await eventsOf(await handler.fetch(post(body)));
    const answers = new Set(held.flatMap((message) => ("toolCallId" in message ? message.id : [])));
    // The result of a call is as the server keeps it, wherever the client has it.
    const others = (list: readonly Message[]): Message[] =>
      list.filter(({ id }) => !answers.has(id));
    expect(others(agent.seen[1] ?? [])).toEqual(others(next));
  });
});

describe("the version", () => {
  const versionFor = async (
    protocolVersion: string | undefined,
    own?: string,
  ): Promise<unknown> => {
    const agent: AgentFunction = async function* () {
      if (own !== undefined) yield { type: "RUN_STARTED", protocolVersion: own };
      yield "Hi";
    };
    const handler = createAgentHandler(agent, { logger: memoryLogger() });
    const events = await eventsOf(await handler.fetch(post({ ...run, protocolVersion })));
    expect(typesOf(events).at(-1)).toBe("RUN_FINISHED");
    return events[0]!.protocolVersion;
  };

  test.for([
    ["1.1", "1.1"],
    ["1.0", "1.0"],
    ["1.2", "1.1"],
    ["1.10", "1.1"],
    ["2.0", "1.1"],
    ["next", "1.1"],
    [undefined, "1.0"],
  ] as const)("for a client of %s is %s", async ([theirs, shown]) => {
    expect(await versionFor(theirs)).toBe(shown);
  });

  test.for([
    ["1.0", "1.1", "1.0"],
    ["1.1", "1.0", "1.0"],
    ["1.2", "1.1", "1.1"],
    ["1.2", "1.0", "1.0"],
    ["v7", "1.1", "1.1"],
  ] as const)(
    "of an agent that sends %s is, for a client of %s, %s",
    async ([own, theirs, shown]) => {
      expect(await versionFor(theirs, own)).toBe(shown);
    },
  );

  test("is that of the request when a client attaches, or that of its query", async () => {
    const handler = createAgentHandler(async () => "Hi", { logger: memoryLogger() });
    await eventsOf(await handler.fetch(post({ ...run, protocolVersion: "1.0" })));
    const get = async (query: string): Promise<unknown> => {
      const request = new Request(`http://test.local/agui/runs/r/events?offset=0${query}`);
      return (await eventsOf(await handler.fetch(request)))[0]!.protocolVersion;
    };
    expect(await get("")).toBe("1.0");
    expect(await get("&protocolVersion=1.1")).toBe("1.1");
  });

  test("is part of the discovery route", async () => {
    const handler = createAgentHandler(async () => "Hi", { logger: memoryLogger() });
    const info = await handler.fetch(new Request("http://test.local/agui/info"));
    expect(await info.text()).toContain('"protocolVersion":"1.1"');
    expect(PROTOCOL_VERSION).toBe("1.1");
  });
});

describe("the type of an encrypted value in a request", () => {
  const call = (more: object): object => ({
    id: "c",
    type: "function",
    function: { name: "find", arguments: "{}" },
    ...more,
  });
  const value = { encryptedValue: "b25l", encryptedValueType: "a.one" };

  async function send(messages: readonly object[]): Promise<{
    response: Response;
    seen: Message[] | undefined;
    warnings: unknown[];
  }> {
    const agent = playing([]);
    const logger = memoryLogger();
    const options = { logger, trustClientHistory: true };
    const handler = createAgentHandler(agent, options);
    const response = await handler.fetch(post({ ...run, protocolVersion: "1.1", messages }));
    await response.clone().text();
    return {
      response,
      seen: agent.seen[0],
      warnings: logger.records.flatMap(({ warnings }) => warnings ?? []),
    };
  }

  test("arrives on every kind of message and on calls, without a warning", async () => {
    const messages = [
      { id: "s", role: "system", content: "Be brief.", ...value },
      { id: "d", role: "developer", content: "Be kind.", ...value },
      { id: "u", role: "user", content: "Hi", ...value },
      { id: "t", role: "reasoning", content: "Hm.", ...value },
      { id: "a", role: "assistant", content: "Yes.", toolCalls: [call(value)], ...value },
      { id: "r", role: "tool", toolCallId: "c", content: "found", ...value },
      question,
    ];
    const { seen, warnings } = await send(messages);
    expect(seen).toEqual(messages);
    expect(warnings).toEqual([]);
  });

  test("in snake_case is the same", async () => {
    const { seen } = await send([
      { id: "t", role: "reasoning", content: "", encrypted_value: "x", encrypted_value_type: "y" },
      question,
    ]);
    expect(seen?.[0]).toMatchObject({ encryptedValue: "x", encryptedValueType: "y" });
  });

  test.for([
    ["a message", { id: "t", role: "reasoning", content: "", ...value, encryptedValueType: 7 }],
    [
      "a call",
      { id: "a", role: "assistant", toolCalls: [call({ ...value, encryptedValueType: {} })] },
    ],
  ] as const)("of %s that is no text is refused", async ([, message]) => {
    const { response } = await send([message, question]);
    expect(response.status).toBe(400);
    expect(await response.text()).toContain("encryptedValueType must be a string");
  });

  test("without a value is left out, with a warning", async () => {
    const { seen, warnings } = await send([
      { id: "t", role: "reasoning", content: "Hm.", encryptedValueType: "a.one" },
      question,
    ]);
    expect(seen?.[0]).toEqual({ id: "t", role: "reasoning", content: "Hm." });
    expect(warnings).toEqual([
      "messages[]: encryptedValueType without encryptedValue was ignored.",
    ]);
  });
});
