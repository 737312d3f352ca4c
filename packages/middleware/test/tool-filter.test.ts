import { verifyEvents } from "@ag-ui/client";
import { verifyEvents as verifyEvents0 } from "ag-ui-client-0";
import { EventType } from "@holodeck/agui-core";
import type { BaseEvent, Message, Middleware } from "@holodeck/agui-core";
import { collect, runAgent, runContext, runInput, scriptedAgent } from "@holodeck/agui-testing";
import { runMatchers } from "@holodeck/agui-testing/vitest";
import * as fc from "fast-check";
import { from } from "rxjs";
import { describe, expect, test } from "vitest";
import { toolFilter } from "../src/index.ts";
import { nameOf, randomToolRun, toolNames } from "./random-tool-run.ts";

expect.extend(runMatchers);

const through = (filter: Middleware, events: readonly BaseEvent[], messages: Message[] = []) =>
  collect(filter(runInput({ messages }), runContext(), () => from(events) as never));

const twoCalls = scriptedAgent([
  (_, { emit }) => {
    const hidden = emit.toolCall("secret", { key: 1 }, { id: "call-secret" });
    const shown = emit.toolCall("weather", { city: "Bern" }, { id: "call-weather" });
    void emit.toolResult(hidden, "42");
    void emit.toolResult(shown, "rain");
  },
  "It rains.",
]);

describe("toolFilter", () => {
  test.for<[string, Middleware]>([
    ["denied", toolFilter({ deny: ["secret"] })],
    ["not allowed", toolFilter({ allow: ["weather"] })],
    ["allowed and denied", toolFilter({ allow: ["secret", "weather"], deny: ["secret"] })],
    ["denied by a rule", toolFilter({ deny: (name) => name.startsWith("sec") })],
  ])("removes the whole call of a tool that is %s", async ([, filter]) => {
    const run = await runAgent(twoCalls, { middleware: [filter] });
    expect(run.toolCalls).toMatchObject([{ id: "call-weather", result: "rain" }]);
    expect(run.text).toBe("It rains.");
    expect(JSON.stringify(run.events)).not.toContain("secret");
    expect(run).toBeValidRun();
  });

  test("does not offer a hidden tool to the agent", async () => {
    const agent = scriptedAgent([]);
    const tool = (name: string) => ({ name, description: name });
    await runAgent(agent, {
      clientTools: [tool("secret"), tool("weather")],
      middleware: [toolFilter({ deny: ["secret"] })],
    });
    expect(agent.inputs[0]?.tools).toEqual([tool("weather")]);
  });

  test("leaves a run without tools as it is", async () => {
    const events = (await runAgent(async () => "Hello")).events;
    const filtered = await through(toolFilter({ allow: [] }), events);
    expect(filtered).toEqual(events);
  });

  test("keeps what it knows to one run", async () => {
    const filter = toolFilter({ deny: ["secret"] });
    const id = "call-1";
    const call = (name: string) =>
      scriptedAgent([(_, { emit }) => void emit.toolCall(name, {}, { id })]);
    const first = await runAgent(call("secret"), { middleware: [filter] });
    const second = await runAgent(call("weather"), { middleware: [filter] });
    expect(first.toolCalls).toEqual([]);
    expect(second.toolCalls).toMatchObject([{ id, name: "weather" }]);
  });

  test("does not wait for the result of a hidden call", async () => {
    const agent = scriptedAgent([
      (_, { emit }) => {
        emit.toolCall("secret", {}, { id: "a" });
        emit.toolCall("ask", {}, { id: "b" });
      },
    ]);
    const one = await runAgent(agent, { middleware: [toolFilter({ deny: ["secret"] })] });
    expect(one.outcome).toEqual({ type: "success", pendingToolCallIds: ["b"] });
    const none = await runAgent(agent, { middleware: [toolFilter({ allow: [] })] });
    expect(none.outcome).toEqual({ type: "success" });
  });

  const history: Message[] = [
    { id: "u", role: "user", content: "hi" },
    {
      id: "a",
      role: "assistant",
      toolCalls: [
        { id: "c1", type: "function", function: { name: "secret", arguments: '{"k":1}' } },
      ],
    },
    { id: "t", role: "tool", toolCallId: "c1", content: "42", error: "why" },
    {
      id: "b",
      role: "assistant",
      content: "So.",
      toolCalls: [
        { id: "c2", type: "function", function: { name: "secret", arguments: "{}" } },
        { id: "c3", type: "function", function: { name: "weather", arguments: "{}" } },
      ],
    },
  ];

  test("removes hidden calls from a snapshot, and messages that were nothing else", async () => {
    const snapshot = { type: EventType.MESSAGES_SNAPSHOT, messages: history };
    const [filtered] = await through(toolFilter({ deny: ["secret"] }), [snapshot]);
    expect(filtered?.messages).toEqual([
      history[0],
      { ...history[3], toolCalls: [(history[3] as { toolCalls: unknown[] }).toolCalls[1]] },
    ]);
  });

  test("removes the late result of a call that only the history has", async () => {
    const result = {
      type: EventType.TOOL_CALL_RESULT,
      messageId: "r",
      toolCallId: "c1",
      content: "42",
    };
    expect(await through(toolFilter({ deny: ["secret"] }), [result], history)).toEqual([]);
    expect(await through(toolFilter({ deny: ["other"] }), [result], history)).toEqual([result]);
  });

  test("removes calls that another middleware sends in chunks", async () => {
    const chunk = (fields: object) => ({ type: EventType.TOOL_CALL_CHUNK, ...fields });
    const events = [
      chunk({ toolCallId: "a", toolCallName: "secret", delta: "1" }),
      chunk({ delta: "2" }),
      chunk({ toolCallId: "b", toolCallName: "weather", delta: "3" }),
      chunk({ delta: "4" }),
      chunk({ toolCallId: "c", toolCallName: "blurred", delta: "5" }),
      chunk({ delta: "6" }),
    ];
    const filtered = await through(toolFilter({ deny: ["secret"], redact: ["blurred"] }), events);
    expect(filtered).toEqual([events[2], events[3], { ...events[4], delta: "{}" }]);
  });

  test("shows a redacted call without its arguments and result", async () => {
    const run = await runAgent(twoCalls, { middleware: [toolFilter({ redact: ["secret"] })] });
    expect(run.toolCalls).toMatchObject([
      { name: "secret", args: {}, result: "[redacted]" },
      { name: "weather", args: { city: "Bern" }, result: "rain" },
    ]);
    expect(run).toBeValidRun();
    const snapshot = { type: EventType.MESSAGES_SNAPSHOT, messages: history };
    const [filtered] = await through(toolFilter({ redact: ["secret"] }), [snapshot]);
    expect(filtered?.messages).toMatchObject([
      {},
      { toolCalls: [{ function: { name: "secret", arguments: "{}" } }] },
      { content: "[redacted]" },
      { content: "So." },
    ]);
    expect(JSON.stringify(filtered)).not.toMatch(/42|why/);
  });

  test("refuses what is neither a list nor a rule", () => {
    expect(() => toolFilter({ deny: "secret" as never })).toThrow('{ deny: ["search"] }');
  });

  test("leaves any run valid, with nothing of a denied call in it", async () => {
    const filter = toolFilter({ deny: ["denied"], redact: ["blurred"] });
    await fc.assert(
      fc.asyncProperty(randomToolRun, async (events) => {
        expect(events).toBeValidRun();
        const filtered = await through(filter, events);
        expect(filtered).toBeValidRun();
        expect(JSON.stringify(filtered)).not.toContain("denied");
        const blurred = filtered.filter(
          ({ toolCallId: id }) => id && nameOf(id as string) === "blurred",
        );
        expect(JSON.stringify(blurred)).not.toContain("secret");
        const isOpen = ({ toolCallId: id }: BaseEvent) => id && nameOf(id as string) === "open";
        expect(filtered.filter(isOpen)).toEqual(events.filter(isOpen));
        await expect(collect(verifyEvents(false)(from(filtered) as never))).resolves.toHaveLength(
          filtered.length,
        );
      }),
      { numRuns: Number(process.env.MIDDLEWARE_RUNS ?? 150) },
    );
  });

  test("leaves a run that clients of AG-UI 0.0.59 accept", async () => {
    const deny = toolFilter({ deny: [toolNames[1]] });
    await fc.assert(
      fc.asyncProperty(randomToolRun, async (events) => {
        const filtered = await through(deny, events);
        const seen = await collect(verifyEvents0(false)(from(filtered) as never));
        expect(seen).toHaveLength(filtered.length);
      }),
    );
  });
});
