import type { BaseEvent, Message } from "@ag-ui/core";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { effort } from "../../../scripts/test-support/effort.ts";
import { EarlierCalls } from "../src/guard/calls/earlier-calls.ts";
import { originalCallId, toLaterCallId } from "../src/base/ids.ts";
import { createReducer } from "../src/index.ts";
import type { CallOrigins, GuardOptions } from "../src/index.ts";
import { anything } from "./guard-arbitraries.ts";
import {
  args,
  call,
  callEnd,
  faults,
  finished,
  result,
  run,
  startGuard,
  types,
} from "./guard-kit.ts";
import type { Run } from "./guard-kit.ts";

type Assistant = Extract<Message, { role: "assistant" }>;

const toolCall = (id: string, name = "search"): NonNullable<Assistant["toolCalls"]>[number] => ({
  id,
  type: "function",
  function: { name, arguments: "{}" },
});
const calling = (id: string, ...callIds: string[]): Assistant => ({
  id,
  role: "assistant",
  toolCalls: callIds.map((callId) => toolCall(callId)),
});
const answer = (id: string, toolCallId: string): Message => ({
  id,
  role: "tool",
  toolCallId,
  content: "ok",
});
const user = (id: string): Message => ({ id, role: "user", content: "go" });
const snapshot = (...messages: Message[]): object => ({ type: "MESSAGES_SNAPSHOT", messages });

const later = (id: string, count = 1, runId = "run"): string => toLaterCallId(id, runId, count);

function originsOf(thread: readonly Message[], rest: Partial<CallOrigins> = {}): CallOrigins {
  const earlier = new EarlierCalls(thread);
  return {
    isClientTool: () => true,
    earlierCalls: () => earlier,
    isSettledCall: () => false,
    ...rest,
  };
}

/** A run on a thread; always one that the official verifiers accept. */
function onThread(
  thread: readonly Message[],
  values: readonly unknown[],
  options: Partial<GuardOptions> = {},
): Run {
  const played = run(values, { calls: originsOf(thread), ...options });
  expect(faults(played.events)).toEqual([]);
  return played;
}

const answered = [user("u1"), calling("m1", "c"), answer("t1", "c"), user("u2")];
const waiting = [user("u1"), calling("m1", "c")];
const callIds = (events: readonly BaseEvent[]): unknown[] =>
  events.flatMap(({ type, toolCallId }) => (type === "TOOL_CALL_START" ? [toolCallId] : []));
/** Without those that the guard made up. */
const givenIds = (events: readonly BaseEvent[]): unknown[] =>
  callIds(events).filter((id) => /^[abc]/.test(String(id)));
const lastMessages = (events: readonly BaseEvent[]): Message[] =>
  events.findLast(({ type }) => type === "MESSAGES_SNAPSHOT")!.messages as Message[];
const namesOf = (messages: readonly Message[]): string[] =>
  messages.flatMap((one) => {
    if (one.role === "tool") return [`=${one.toolCallId}`];
    return one.role === "assistant" ? (one.toolCalls ?? []).map(({ id }) => id) : [];
  });

describe("a call under the id of one that has its result", () => {
  test("has another id wherever it occurs", () => {
    const secret = {
      type: "REASONING_ENCRYPTED_VALUE",
      subtype: "tool-call",
      entityId: "c",
      encryptedValue: "e",
    };
    const helper = {
      type: "SUBAGENT_STARTED",
      subagentRunId: "s",
      name: "helper",
      parentToolCallId: "c",
    };
    const helped = { type: "SUBAGENT_FINISHED", subagentRunId: "s" };
    const parent = { ...call, parentMessageId: "m2" };
    const values = [parent, args, args, callEnd, secret, helper, helped, result];
    const { events, guard } = onThread(answered, values);
    const id = later("c");
    expect(events.slice(1, -1)).toEqual([
      { ...parent, toolCallId: id },
      { ...args, toolCallId: id },
      { ...args, toolCallId: id },
      { ...callEnd, toolCallId: id },
      { ...secret, entityId: id },
      { ...helper, parentToolCallId: id },
      helped,
      { ...result, toolCallId: id },
    ]);
    expect([...guard.repairs]).toEqual([["reused-call", 1]]);
    expect(guard.pendingCalls()).toEqual([]);
  });

  test("waits under that id, and is asked about under it", () => {
    const id = later("c");
    const success = { ...finished, outcome: { type: "success", pendingToolCallIds: ["c"] } };
    const { events, guard } = onThread(answered, [call, args, callEnd, success]);
    expect(events.at(-1)).toMatchObject({ outcome: { pendingToolCallIds: [id] } });
    expect(guard.pendingCalls()).toEqual([id]);
    expect(guard.callId("c")).toBe(id);
    const asked = { id: "i", reason: "tool_call", toolCallId: "c" };
    const interrupt = { ...finished, outcome: { type: "interrupt", interrupts: [asked] } };
    const wanted = { outcome: { type: "interrupt", interrupts: [{ ...asked, toolCallId: id }] } };
    expect(onThread(answered, [call, callEnd, interrupt]).events.at(-1)).toMatchObject(wanted);
    const ending = { interrupts: [asked], usage: [] };
    expect(onThread(answered, [call, callEnd], { ending }).events.at(-1)).toMatchObject(wanted);
  });

  test("has one also within a run, in each step", () => {
    const steps = [call, args, callEnd, result];
    const { events, guard } = onThread([], [...steps, ...steps, ...steps, call, callEnd]);
    const ids = ["c", later("c"), later("c", 2), later("c", 3)];
    expect(callIds(events)).toEqual(ids);
    const results = events.filter(({ type }) => type === "TOOL_CALL_RESULT");
    expect(results.map(({ toolCallId }) => toolCallId)).toEqual(ids.slice(0, 3));
    expect(guard.pendingCalls()).toEqual(ids.slice(3));
  });

  test("has one when it comes in chunks", () => {
    const chunk = { type: "TOOL_CALL_CHUNK", toolCallId: "c" };
    const first = { ...chunk, toolCallName: "search", delta: "{" };
    const values = [first, { ...chunk, delta: "}" }, { ...first, delta: "" }, result, first];
    const { events } = onThread(answered, values);
    expect(callIds(events)).toEqual([later("c"), later("c", 2)]);
    const deltas = events.filter(({ type }) => type === "TOOL_CALL_ARGS");
    expect(deltas.map(({ toolCallId }) => toolCallId)).toEqual([
      later("c"),
      later("c"),
      later("c", 2),
    ]);
  });

  test("ends a strict run", () => {
    const { events } = run([call], { calls: originsOf(answered), strict: true });
    expect(events.at(-1)).toMatchObject({ type: "RUN_ERROR", code: "protocol-violation" });
  });
});

describe("the id of such a call", () => {
  test("depends on the old id, the run and the count, and can be sent back", () => {
    const ids = [
      later("c"),
      later("d"),
      later("c", 2),
      later("c", 1, "other"),
      later("x".repeat(1024)),
      later("x".repeat(1015)),
    ];
    expect(new Set(ids).size).toBe(ids.length);
    expect(later("c")).toBe(later("c"));
    expect(later("call_0")).toMatch(/^call_0-[0-9a-f]{12}$/);
    for (const id of ids) expect(id.length).toBeLessThanOrEqual(1024);
  });

  test("names the old one, and no other id does", () => {
    fc.assert(
      fc.property(
        fc.string({ minLength: 1, maxLength: 40 }),
        fc.string(),
        fc.nat(),
        (id, runId, n) => {
          const name = toLaterCallId(id, runId, n);
          if (name.startsWith(`${id}-`)) expect(originalCallId(name)).toBe(id);
        },
      ),
    );
    for (const id of ["c", "", "-", "0e7c1a52-4f0b-4c7e-9d7e-0123456789ab", "call-0123456789ab"]) {
      expect(originalCallId(id)).toBeUndefined();
    }
  });
});

describe("a call keeps its id", () => {
  test.for<[string, readonly Message[], readonly unknown[], Partial<CallOrigins>]>([
    ["that has no result yet", waiting, [call, callEnd, result], {}],
    ["that is new", [user("u1")], [call, callEnd], {}],
    ["that is started twice without a result", [], [call, callEnd, call, callEnd], {}],
    ["whose result came before it", [], [result, call, callEnd], {}],
    [
      "that the server has made on a person's answer",
      waiting,
      [result, call, args, callEnd],
      { isSettledCall: (id, name) => id === "c" && name === "search" },
    ],
    [
      "that is replayed under the message that it is in",
      answered,
      [{ ...call, parentMessageId: "m1" }, callEnd],
      {},
    ],
  ])("%s", ([, thread, values, rest]) => {
    const { events, guard } = onThread(thread, values, { calls: originsOf(thread, rest) });
    expect(new Set(callIds(events))).toEqual(new Set(["c"]));
    expect(guard.repairs.has("reused-call")).toBe(false);
  });

  test("that is replayed does not wait again, and the next one is another", () => {
    const again = [{ ...call, parentMessageId: "m1" }, callEnd];
    expect(onThread(answered, again).guard.pendingCalls()).toEqual([]);
    const { events, guard } = onThread(answered, [...again, result, call, callEnd]);
    expect(callIds(events)).toEqual(["c", later("c")]);
    expect(guard.pendingCalls()).toEqual([later("c")]);
  });

  test("that was settled, once: the next one is another", () => {
    const calls = originsOf(waiting, { isSettledCall: () => true });
    const { events } = onThread(waiting, [result, call, callEnd, call, callEnd], { calls });
    expect(callIds(events)).toEqual(["c", later("c")]);
  });

  test("that got another one in an earlier run and waits, whichever the agent uses", () => {
    const id = later("c", 1, "before");
    const thread = [...answered, calling("m2", id)];
    for (const toolCallId of ["c", id]) {
      const restart = [call, callEnd, result].map((event) => ({ ...event, toolCallId }));
      expect(callIds(onThread(thread, restart).events)).toEqual([id]);
      const { events, guard } = onThread(thread, [{ ...result, toolCallId }]);
      expect(events[1]).toMatchObject({ toolCallId: id });
      expect(guard.repairs.size).toBe(0);
    }
  });
});

describe("in a snapshot", () => {
  const old = [user("u1"), calling("m1", "c"), answer("t1", "c"), user("u2")];

  test.for<[string, readonly unknown[], readonly Message[], readonly string[]]>([
    [
      "the thread's call keeps its id, and the run's has its own",
      [{ ...call, parentMessageId: "m2" }, callEnd, result],
      [...old, calling("m2", "c"), answer("r", "c")],
      ["c", "=c", later("c"), `=${later("c")}`],
    ],
    [
      "calls are known by their order where their messages have other ids",
      [call, callEnd],
      [user("x1"), calling("x2", "c"), answer("x3", "c"), user("x4"), calling("x5", "c")],
      ["c", "=c", later("c")],
    ],
    [
      "the oldest may be missing",
      [call, callEnd, result],
      [calling("x5", "c"), answer("x6", "c")],
      [later("c"), `=${later("c")}`],
    ],
    ["the thread's call alone is the thread's", [], old, ["c", "=c"]],
    [
      "the thread's call is the thread's also after a call of the run",
      [{ ...call, parentMessageId: "m2" }, callEnd, result],
      old,
      ["c", "=c"],
    ],
    [
      "a call that only the snapshot has is another",
      [],
      [...old, calling("m2", "c")],
      ["c", "=c", later("c")],
    ],
    [
      "the ids that clients know are known",
      [{ ...call, parentMessageId: "m2" }, callEnd, result],
      [...old, calling("m2", later("c")), answer("r", later("c"))],
      ["c", "=c", later("c"), `=${later("c")}`],
    ],
    [
      "the ids that clients know are known, under any message",
      [call, callEnd],
      [calling("x1", "c"), answer("x2", "c"), calling("x3", later("c"))],
      ["c", "=c", later("c")],
    ],
  ])("%s", ([, values, messages, names]) => {
    const { events } = onThread(answered, [...values, snapshot(...messages)]);
    expect(namesOf(lastMessages(events))).toEqual(names);
    // Sent again, it is the same.
    const twice = onThread(answered, [...values, snapshot(...messages), snapshot(...messages)]);
    expect(namesOf(lastMessages(twice.events))).toEqual(names);
  });

  test("calls of earlier runs have the ids that they were given there", () => {
    const second = later("c", 1, "before");
    const thread = [...answered, calling("m2", second), answer("t2", second), user("u3")];
    const messages = [
      ...old,
      calling("m2", "c"),
      answer("t2", "c"),
      user("u3"),
      calling("m3", "c"),
    ];
    const names = ["c", "=c", second, `=${second}`];
    const { events } = onThread(thread, [snapshot(...messages.slice(0, -1))]);
    expect(namesOf(lastMessages(events))).toEqual(names);
    const values = [{ ...call, parentMessageId: "m3" }, callEnd, snapshot(...messages)];
    expect(namesOf(lastMessages(onThread(thread, values).events))).toEqual([...names, later("c")]);
  });

  test("a pending call that only the snapshot has is answered under its id", () => {
    const values = [snapshot(...old, calling("m2", "c")), result];
    const { events, guard } = onThread(answered, values.slice(0, 1));
    expect(guard.pendingCalls()).toEqual([later("c")]);
    expect(types(events)).toContain("MESSAGES_SNAPSHOT");
    expect(onThread(answered, values).events.at(-2)).toMatchObject({ toolCallId: later("c") });
  });

  test("what needs no other id is the very object that the agent made", () => {
    const sent = snapshot(...old, calling("m2", "d"), answer("t2", "d"));
    const { events } = onThread(answered, [sent]);
    expect(events[1]).toBe(sent);
  });
});

describe("whatever an agent sends", () => {
  const thread: Message[] = [
    user("u1"),
    calling("m1", "a"),
    answer("t1", "a"),
    calling("m2", later("a", 1, "before")),
    user("u2"),
    calling("m3", "b"),
    answer("t3", "b"),
    calling("m4", "c"),
  ];

  test("is a valid run, in which no call of the thread that has a result is begun again", () => {
    fc.assert(
      fc.property(fc.array(anything, { maxLength: 25 }), (values) => {
        const { events } = run(values, { calls: originsOf(thread) });
        expect(faults(events)).toEqual([]);
        expect(callIds(events)).not.toContain("b");
      }),
      { numRuns: Number(process.env.GUARD_RUNS ?? effort(1000, 250)) },
    );
  });

  test("has the same ids each time, and a guard behind another changes nothing", () => {
    fc.assert(
      fc.property(fc.array(anything, { maxLength: 25 }), (values) => {
        const calls = originsOf(thread);
        const first = givenIds(run(values, { calls }).events);
        expect(givenIds(run(values, { calls: originsOf(thread) }).events)).toEqual(first);
        const behind = startGuard({ calls });
        const before = startGuard({ calls, emit: (event) => behind.guard.push(event) });
        for (const value of values) before.guard.push(value);
        before.guard.complete();
        behind.guard.complete();
        expect(givenIds(behind.events)).toEqual(first);
        expect(behind.guard.repairs.has("reused-call")).toBe(false);
      }),
      { numRuns: 300 },
    );
  });

  test("gives each step of each turn its own call and result in the fold", () => {
    const step = fc.tuple(fc.constantFrom("call_0", "call_1"), fc.boolean());
    fc.assert(
      fc.property(fc.array(fc.array(step, { maxLength: 4 }), { maxLength: 4 }), (turns) => {
        let messages: readonly Message[] = [];
        let made = 0;
        for (const [turn, steps] of turns.entries()) {
          const values = steps.flatMap(([toolCallId, isChunked]) => {
            const messageId = `r${++made}`;
            const start = isChunked
              ? [{ ...call, type: "TOOL_CALL_CHUNK", toolCallId, delta: `${made}` }]
              : [
                  { ...call, toolCallId },
                  { ...args, toolCallId, delta: `${made}` },
                  { ...callEnd, toolCallId },
                ];
            return [...start, { ...result, toolCallId, messageId, content: `${made}` }];
          });
          const runId = `run-${turn}`;
          const { events } = run(values, { runId, calls: originsOf(messages) });
          expect(faults(events)).toEqual([]);
          const reducer = createReducer(messages);
          for (const event of events) reducer.apply(event);
          messages = reducer.messages;
        }
        const calls = messages.flatMap((one) =>
          one.role === "assistant" ? (one.toolCalls ?? []) : [],
        );
        const results = new Map(
          messages.flatMap((one) => (one.role === "tool" ? [[one.toolCallId, one.content]] : [])),
        );
        expect(calls).toHaveLength(made);
        for (const { id, function: called } of calls) {
          expect(results.get(id)).toBe(called.arguments);
        }
      }),
    );
  });
});
