import { EventType } from "@holodeck/agui-core";
import type { BaseEvent } from "@holodeck/agui-core";
import { describe, expect, test } from "vitest";
import { exampleRun, runAgent } from "../src/index.ts";
import { runMatchers } from "../src/vitest/index.ts";

expect.extend(runMatchers);

const [started, ...rest] = exampleRun as [BaseEvent, ...BaseEvent[]];
const finished = rest.at(-1)!;

describe("toBeValidRun", () => {
  test("passes a valid run and the record of one", async () => {
    expect(exampleRun).toBeValidRun();
    expect(await runAgent(async () => "Hello")).toBeValidRun();
    expect([started, { type: EventType.RUN_ERROR, message: "No." }]).toBeValidRun();
  });

  test.for<[string, BaseEvent[], RegExp]>([
    ["nothing", [], /begins with nothing/],
    ["no start", rest, /begins with SUBAGENT_STARTED/],
    ["no end", exampleRun.slice(0, -1), /has 0 terminal events and ends with STEP_FINISHED/],
    ["two ends", [...exampleRun, finished], /has 2 terminal events/],
    ["more after the end", [...exampleRun, rest[0]!], /ends with SUBAGENT_STARTED/],
    [
      "an open step",
      [started, { type: EventType.STEP_STARTED, stepName: "s" }, finished],
      /event 2 needs the repair "left-open"/,
    ],
    [
      "an orphan",
      [started, { type: EventType.TOOL_CALL_ARGS, toolCallId: "c", delta: "{}" }, finished],
      /event 1 needs the repair "not-started"/,
    ],
  ] as [string, BaseEvent[], RegExp][])("names what is wrong with %s", ([, events, fault]) => {
    expect(events).not.toBeValidRun();
    expect(() => expect(events).toBeValidRun()).toThrow(fault);
  });

  test("applies deltas to the state the client had", () => {
    const delta = [{ op: "replace" as const, path: "/n", value: 2 }];
    const run = [started, { type: EventType.STATE_DELTA, delta }, finished];
    expect(run).not.toBeValidRun();
    expect(run).toBeValidRun({ state: { n: 1 } });
  });
});

describe("toHaveText", () => {
  test("compares the assistant's text", async () => {
    const run = await runAgent(async () => "Hello");
    expect(run).toHaveText("Hello");
    expect(run.events).toHaveText("Hello");
    expect(() => expect(run).toHaveText("Bye")).toThrow('it sent "Hello"');
  });
});
