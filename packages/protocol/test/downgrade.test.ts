import { EventType } from "@holodeck/agui-core";
import type { BaseEvent } from "@holodeck/agui-core";
import { aguiSseEncoder, downgrade } from "@holodeck/agui-protocol";
import { EventSchemas } from "ag-ui-client-0";
import { describe, expect, test } from "vitest";
import { asJson, entry, sampleRows, samples } from "./events.ts";

const dropped = [
  "empty text content",
  "empty tool args",
  "empty reasoning content",
  "step started",
  "step finished",
  "subagent started",
  "subagent finished",
  "subagent suspended",
  "subagent error",
];

describe("for clients older than 1.0", () => {
  test.for(sampleRows)("%s is what 0.0.59 can read, or nothing", ([name, event]) => {
    const before = structuredClone(event);
    const reduced = downgrade(event);
    expect(event).toEqual(before);
    expect(reduced === undefined).toBe(dropped.includes(name));
    if (reduced) expect(EventSchemas.safeParse(asJson(reduced)).error).toBeUndefined();
  });

  test("what needs no change is passed on as it is", () => {
    const changed = sampleRows
      .filter(([name, event]) => !dropped.includes(name) && downgrade(event) !== event)
      .map(([name]) => name);
    expect(changed).toEqual([
      "run started",
      "run finished",
      "run finished with an interrupt",
      "run finished as cancelled",
      "tool result of parts",
      "messages snapshot",
    ]);
  });

  test.for([
    "run started",
    "run finished",
    "run finished as cancelled",
    "tool result of parts",
    "messages snapshot",
  ])("%s would have failed the run there", (name) => {
    expect(EventSchemas.safeParse(asJson(samples[name])).success).toBe(false);
  });

  test("a run ends with the outcome such clients know", () => {
    const { outcome, ...rest } = samples["run finished"]!;
    expect(outcome).toHaveProperty("pendingToolCallIds");
    // Absent means success, and stops no client that has tools to answer.
    expect(downgrade(samples["run finished"]!)).toEqual(rest);
    const interrupted = samples["run finished with an interrupt"]!;
    expect(downgrade(interrupted)).toEqual(interrupted);
    const { outcome: _, ...cancelled } = samples["run finished as cancelled"]!;
    expect(downgrade(samples["run finished as cancelled"]!)).toEqual({
      ...cancelled,
      result: { status: "cancelled" },
    });
    const ids = { type: EventType.RUN_FINISHED, threadId: "t", runId: "r" };
    expect(downgrade({ ...ids, outcome: { type: "later" } })).toEqual(ids);
    expect(downgrade(ids)).toBe(ids);
  });

  test("parts of a tool's result become their text", () => {
    expect(downgrade(samples["tool result of parts"]!)?.content).toBe("It is sunny.");
    const picture = { type: "image", source: { type: "url", value: "https://x.test" } };
    expect(downgrade({ ...samples["tool result"]!, content: [picture] })?.content).toBe("");
  });

  test("messages keep what such clients can show", () => {
    const snapshot = downgrade(samples["messages snapshot"]!);
    const [, , user, , tool] = JSON.parse(JSON.stringify(snapshot)).messages;
    expect(tool.content).toBe("It is sunny.");
    const kinds = user.content.map(({ type }: { type: string }) => type);
    expect(kinds).toEqual(["text", "image", "audio", "video", "text"]);
  });

  test("an empty chunk keeps what it opens", () => {
    const chunk = {
      type: EventType.TOOL_CALL_CHUNK,
      toolCallId: "c",
      toolCallName: "t",
      delta: "",
    };
    expect(downgrade(chunk)).toEqual({
      type: "TOOL_CALL_CHUNK",
      toolCallId: "c",
      toolCallName: "t",
    });
  });

  test("content that makes no sense is passed on, not thrown at", () => {
    const events: BaseEvent[] = [
      {
        type: EventType.MESSAGES_SNAPSHOT,
        messages: [null, 1, { content: [null, { source: 1 }] }],
      },
      { type: EventType.MESSAGES_SNAPSHOT },
      { type: EventType.TOOL_CALL_RESULT, content: [null, { type: "text" }] },
      { type: EventType.RUN_STARTED, input: { messages: 1 } },
    ];
    for (const event of events) expect(downgrade(event)?.type).toBe(event.type);
  });

  test("a subagent's words stay, tagged", () => {
    const said = samples["text content"]!;
    expect(said).toHaveProperty("subagentRunId");
    expect(downgrade(said)).toBe(said);
    const own = { type: EventType.STEP_STARTED, stepName: "plan" };
    expect(downgrade(own)).toBe(own);
  });

  test("the encoder drops and reduces the same way", () => {
    const encoder = aguiSseEncoder();
    expect(encoder.encode(entry(samples["subagent started"]!))).toBe("");
    const frame = String(encoder.encode(entry(samples["run finished as cancelled"]!, 7)));
    expect(frame).toMatch(/^id: 7\ndata: .*"result":\{"status":"cancelled"\}\}\n\n$/);
  });
});
