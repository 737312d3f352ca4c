import { transformChunks } from "@ag-ui/client";
import { EventType, PROTOCOL_VERSION } from "@holodeck/agui-core";
import type { AgentLike, BaseEvent } from "@holodeck/agui-core";
import { serve } from "@holodeck/agui-node";
import type { Serving } from "@holodeck/agui-node";
import { eventExamples, exampleRun } from "@holodeck/agui-testing";
import { from } from "rxjs";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createAgentHandler } from "../src/index.ts";
import { memoryLogger } from "./_helpers.ts";
import { ask, current, proto } from "./_wires.ts";

const ids = { threadId: "thread-1", runId: "run-1" };
const started: BaseEvent = {
  type: EventType.RUN_STARTED,
  ...ids,
  protocolVersion: PROTOCOL_VERSION,
};
const finished: BaseEvent = { type: EventType.RUN_FINISHED, ...ids };
const helper: BaseEvent = {
  type: EventType.SUBAGENT_STARTED,
  subagentRunId: "subagent-1",
  name: "helper",
};
const helped: BaseEvent = { type: EventType.SUBAGENT_FINISHED, subagentRunId: "subagent-1" };

/** What may be missing, by type; `timestamp`, `rawEvent` and `metadata` may be everywhere. */
const optional: Partial<Record<EventType, readonly string[]>> = {
  RUN_STARTED: ["parentRunId"],
  RUN_FINISHED: ["result", "outcome", "usage"],
  RUN_ERROR: ["code", "usage"],
  TEXT_MESSAGE_START: ["role", "name"],
  TEXT_MESSAGE_CHUNK: ["role", "name"],
  TOOL_CALL_START: ["parentMessageId"],
  TOOL_CALL_CHUNK: ["parentMessageId"],
  TOOL_CALL_RESULT: ["role"],
  ACTIVITY_SNAPSHOT: ["replace"],
  RAW: ["source"],
  SUBAGENT_STARTED: ["description", "parentSubagentRunId", "parentToolCallId", "parentMessageId"],
  SUBAGENT_FINISHED: ["result", "outcome"],
  SUBAGENT_ERROR: ["code"],
};
const optionalOf = (type: EventType): string[] => [
  "timestamp",
  "rawEvent",
  "metadata",
  ...(optional[type] ?? []),
];

const types = Object.values(EventType);
const isChunk = (type: EventType): boolean => type.endsWith("_CHUNK");

/** A valid run that has an event of this type in it. */
function runWith(type: EventType): readonly BaseEvent[] {
  if (isChunk(type)) return [started, helper, eventExamples[type], helped, finished];
  if (type === EventType.RUN_ERROR) return [started, eventExamples[type]];
  return exampleRun;
}

function without(event: BaseEvent, ...fields: readonly string[]): BaseEvent {
  const rest: BaseEvent = { ...event };
  for (const field of fields) delete rest[field];
  return rest;
}

/**
 * What the official client makes of chunks, since a server has to do it first. Two things it does
 * more: the time of a chunk is kept, and reasoning that stands in no span gets one.
 */
function expanded(run: readonly BaseEvent[]): BaseEvent[] {
  const events: BaseEvent[] = [];
  // The client has an rxjs of its own.
  const source = from(run) as unknown as Parameters<ReturnType<typeof transformChunks>>[0];
  transformChunks()(source).subscribe((event) => events.push(event));
  const { timestamp } = run.find(({ type }) => isChunk(type))!;
  return events.flatMap((event) => {
    const { type, messageId, subagentRunId } = event;
    const span = { messageId, subagentRunId };
    const timed = timestamp === undefined ? event : { ...event, timestamp };
    switch (type) {
      case EventType.TEXT_MESSAGE_START:
      case EventType.TEXT_MESSAGE_CONTENT:
      case EventType.TOOL_CALL_START:
      case EventType.TOOL_CALL_ARGS:
      case EventType.REASONING_MESSAGE_CONTENT:
        return [timed];
      case EventType.REASONING_MESSAGE_START:
        return [{ type: EventType.REASONING_START, ...span }, timed];
      case EventType.REASONING_MESSAGE_END:
        return [event, { type: EventType.REASONING_END, ...span }];
      default:
        return [event];
    }
  });
}

/** An end without outcome names the calls that wait for the client. */
function completed(run: readonly BaseEvent[]): BaseEvent[] {
  const answered = new Set(run.flatMap((event) => answersIn(event)));
  const pendingToolCallIds = run
    .filter(({ type }) => type === EventType.TOOL_CALL_START)
    .map(({ toolCallId }) => toolCallId)
    .filter((id) => !answered.has(id));
  if (pendingToolCallIds.length === 0) return [...run];
  const outcome = { type: "success", pendingToolCallIds };
  return run.map((event) =>
    event.type === EventType.RUN_FINISHED && !event.outcome ? { ...event, outcome } : event,
  );
}

function answersIn({ type, toolCallId, messages }: BaseEvent): unknown[] {
  if (type === EventType.TOOL_CALL_RESULT) return [toolCallId];
  return ((messages ?? []) as { toolCallId?: string }[]).map((message) => message.toolCallId);
}

describe.for([current, proto])("over $name", (wire) => {
  let script: readonly BaseEvent[];
  let serving: Serving;
  const logger = memoryLogger();

  beforeAll(async () => {
    const agent: AgentLike = async function* () {
      yield* script;
    };
    // A run id is used once by each user, and the ids of the examples are fixed.
    let users = 0;
    const authenticate = () => ({ id: `user-${++users}` });
    const handler = createAgentHandler(agent, { logger, authenticate });
    serving = await serve(handler, { port: 0, signals: false });
  });
  afterAll(() => serving.close());

  /** What a client gets of a run, decoded; nothing of it may have needed a repair. */
  async function receive(run: readonly BaseEvent[]): Promise<readonly BaseEvent[]> {
    script = run;
    const response = await fetch(ask(wire, `${serving.url}/agui`, { ...ids, messages: [] }));
    expect(response.headers.get("content-type")).toBe(wire.contentType);
    const { events } = await wire.read(response);
    expect(logger.records).toEqual([]);
    // Protobuf has the messages of 1.0, and says so; the rest is as the agent sent it.
    const [start, ...rest] = events;
    expect(start!.protocolVersion).toBe(wire === proto ? "1.0" : PROTOCOL_VERSION);
    return [{ ...start!, protocolVersion: PROTOCOL_VERSION }, ...rest];
  }

  test("a run with every kind of event arrives as the agent sent it", async () => {
    expect(await receive(exampleRun)).toEqual(exampleRun);
  });

  test("there are 31 types of events", () => {
    expect(types).toHaveLength(31);
    expect(Object.keys(eventExamples).toSorted()).toEqual(types.toSorted());
  });

  test.for(types)("%s arrives with all its fields", async (type) => {
    const run = runWith(type);
    const events = await receive(run);
    expect(events).toEqual(isChunk(type) ? completed(expanded(run)) : run);
    if (isChunk(type)) return;
    // The input holds what the server added for the agent's eyes only.
    const fields = type === EventType.RUN_STARTED ? ["input"] : [];
    expect(events).toContainEqual(without(eventExamples[type], ...fields));
  });

  test.for(types)("%s arrives without the fields it does not need", async (type) => {
    const all = optionalOf(type);
    for (const fields of [...all.map((field) => [field]), all]) {
      const run = runWith(type).map((event) =>
        event.type === type ? without(event, ...fields) : event,
      );
      const whole = completed(isChunk(type) ? expanded(run) : run);
      expect(await receive(run), fields.join()).toEqual(whole);
    }
  });

  test("the events of subagents without an id arrive untagged", async () => {
    const lifecycle = ["SUBAGENT_STARTED", "SUBAGENT_FINISHED", "SUBAGENT_ERROR"];
    const run = exampleRun
      .filter(({ type }) => !lifecycle.includes(type))
      .map((event) => without(event, "subagentRunId"));
    expect(await receive(run)).toEqual(run);
  });

  const text = { type: EventType.TEXT_MESSAGE_CONTENT, messageId: "m" };
  const source = { type: "file", value: "file-1", provider: "openai", mimeType: "text/plain" };
  const interrupt = {
    id: "interrupt-1",
    reason: "confirmation",
    message: "Send?",
    toolCallId: "call-1",
    responseSchema: { type: "object" },
    expiresAt: "2030-01-01T00:00:00Z",
    metadata: { why: null },
  };

  test.for<[string, BaseEvent[]]>([
    ...["developer", "system", "assistant", "user"].map((role): [string, BaseEvent[]] => [
      `text of role ${role}`,
      [
        { type: EventType.TEXT_MESSAGE_START, messageId: "m", role },
        { ...text, delta: "" },
        { ...text, delta: "\u0000\u2028\ud83c\udf26\r\n\n\n\\" },
        { type: EventType.TEXT_MESSAGE_END, messageId: "m" },
      ],
    ]),
    ...[null, false, 0, "", [], [null], { deep: { er: [{}] } }].map(
      (snapshot): [string, BaseEvent[]] => [
        `the state ${JSON.stringify(snapshot)}`,
        [{ type: EventType.STATE_SNAPSHOT, snapshot }],
      ],
    ),
    ...[null, false, 1.5, -3, "x", []].map((value): [string, BaseEvent[]] => [
      `the values ${JSON.stringify(value)}`,
      [
        { type: EventType.CUSTOM, name: "", value },
        { type: EventType.RAW, event: value },
      ],
    ]),
    [
      "a result as text and as every kind of part",
      [
        { type: EventType.TOOL_CALL_RESULT, messageId: "a", toolCallId: "c", content: "" },
        {
          type: EventType.TOOL_CALL_RESULT,
          messageId: "b",
          toolCallId: "c",
          content: [
            { type: "text", text: "" },
            ...["image", "audio", "video", "document"].map((type) => ({ type, id: type, source })),
            { type: "image", source: { type: "url", value: "https://example.org/a" } },
          ],
        },
      ],
    ],
    [
      "an activity that is added to",
      [
        {
          type: EventType.ACTIVITY_SNAPSHOT,
          messageId: "a",
          activityType: "PLAN",
          content: {},
          replace: false,
        },
      ],
    ],
    [
      "an encrypted tool call",
      [
        {
          type: EventType.REASONING_ENCRYPTED_VALUE,
          subtype: "tool-call",
          entityId: "c",
          encryptedValue: "e",
        },
      ],
    ],
    [
      "a subagent that is suspended",
      [helper, { ...helped, outcome: { type: "suspended", interruptIds: ["interrupt-1"] } }],
    ],
    [
      "the oldest and the newest time",
      [
        { type: EventType.RAW, event: 1, timestamp: Number.MIN_SAFE_INTEGER },
        { type: EventType.RAW, event: 1, timestamp: Number.MAX_SAFE_INTEGER },
      ],
    ],
    [
      "a snapshot of every kind of message",
      [
        {
          type: EventType.MESSAGES_SNAPSHOT,
          messages: [
            { id: "1", role: "developer", content: "d", name: "n", encryptedValue: "e" },
            { id: "2", role: "system", content: "s", metadata: { a: null } },
            { id: "3", role: "user", content: [{ type: "document", source }], name: "ada" },
            { id: "4", role: "assistant", content: "a", subagentRunId: "subagent-1" },
            {
              id: "5",
              role: "tool",
              toolCallId: "c",
              content: [{ type: "text", text: "t" }],
              error: "no",
            },
            { id: "6", role: "activity", activityType: "PLAN", content: { n: 1 } },
            { id: "7", role: "reasoning", content: "r", encryptedValue: "e" },
          ],
        },
      ],
    ],
  ])("%s arrives", async ([, events]) => {
    const run = [started, ...events, finished];
    expect(await receive(run)).toEqual(run);
  });

  test.for([
    { type: "success" },
    { type: "cancelled" },
    { type: "interrupt", interrupts: [interrupt, { id: "2", reason: "vendor:other" }] },
  ])("the outcome $type arrives", async (outcome) => {
    const run = [started, { ...finished, outcome }];
    expect(await receive(run)).toEqual(run);
  });
});
