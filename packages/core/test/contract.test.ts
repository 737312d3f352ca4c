import * as official from "@ag-ui/core";
import { runAgent, scriptedAgent } from "@holodeck/agui-testing";
import { describe, expect, test } from "vitest";
import * as core from "../src/index.ts";
import { EventType, mapEvents } from "../src/index.ts";
import type { AgentFunction } from "../src/index.ts";

const hello = scriptedAgent(["Hello ", "world"]);

describe("the events", () => {
  test("are those of @ag-ui/core, without a second list", () => {
    expect(core.EventType).toBe(official.EventType);
    expect(core.PROTOCOL_VERSION).toBe("1.1");
  });

  test.for<[string, AgentFunction]>([
    ["yields nothing but empty strings", () => ["", ""]],
    ["emits empty text", async (_, { emit }) => void emit.text("")],
    ["returns an empty string", async () => ""],
  ])("of an agent that %s hold no empty delta", async ([, agent]) => {
    const { events } = await runAgent(agent);
    expect(events.map(({ type }) => type)).toEqual(["RUN_STARTED", "RUN_FINISHED"]);
  });

  test("of a tool call take a parent that is null as none", async () => {
    const { events, toolCalls } = await runAgent(
      () => [
        {
          type: "TOOL_CALL_START",
          toolCallId: "c",
          toolCallName: "search",
          parentMessageId: null,
        },
        { type: "TOOL_CALL_ARGS", toolCallId: "c", delta: '{"q":' },
        { type: "TOOL_CALL_ARGS", toolCallId: "c", delta: "1}" },
        { type: "TOOL_CALL_END", toolCallId: "c" },
      ],
      { strict: false },
    );
    expect(events[1]).not.toHaveProperty("parentMessageId");
    expect(toolCalls).toMatchObject([{ id: "c", name: "search", args: { q: 1 } }]);
  });

  test("of an activity are a snapshot and RFC 6902 patches of it", async () => {
    const { activities } = await runAgent(async (_, { emit }) => {
      const messageId = emit.activity("PLAN", { steps: [] });
      await emit.event({
        type: "ACTIVITY_DELTA",
        messageId,
        activityType: "PLAN",
        patch: [{ op: "add", path: "/steps/-", value: "look" }],
      });
    });
    expect(activities).toMatchObject([{ content: { steps: ["look"] } }]);
  });
});

describe("mapEvents", () => {
  test("lets middleware drop, change and add events", async () => {
    const { text, custom } = await runAgent(hello, {
      middleware: [
        mapEvents((event) => {
          if (event.delta === "world") return null;
          if (event.type !== EventType.TEXT_MESSAGE_CONTENT) return event;
          const note = { type: EventType.CUSTOM, name: "seen", value: event.delta };
          return [{ ...event, delta: "Goodbye" }, note];
        }),
      ],
    });
    expect(text).toBe("Goodbye");
    expect(custom).toEqual([{ name: "seen", value: "Hello " }]);
  });

  test("puts metadata on events, counted run by run", async () => {
    const numbered = mapEvents.perRun(() => {
      let count = 0;
      return (event) => ({ ...event, metadata: { ...event.metadata, seq: ++count } });
    });
    const runs = [hello, hello].map((agent) => runAgent(agent, { middleware: [numbered] }));
    for (const { events } of await Promise.all(runs)) {
      expect(events.map(({ metadata }) => metadata?.seq)).toEqual([1, 2, 3, 4, 5, 6]);
    }
  });

  test("fails the run, masked, when the mapper throws", async () => {
    const broken = mapEvents(() => {
      throw new Error("postgres://user:pw@db");
    });
    const { error, events } = await runAgent(hello, { middleware: [broken] });
    expect(error).toEqual({ code: "agent-error", message: "The agent failed." });
    expect(JSON.stringify(events)).not.toContain("postgres");
  });
});
