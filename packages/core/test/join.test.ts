import type { BaseEvent, Message } from "@ag-ui/core";
import { describe, expect, test } from "vitest";
import { toPrelude } from "../src/view/prelude.ts";
import { createRunView } from "../src/view/run-view.ts";

type Loose = { type: string } & Record<string, unknown>;

const ids = { threadId: "t", runId: "r" };
const preludeOf = (said: readonly Loose[]): BaseEvent[] => {
  const view = createRunView({ messages: [{ id: "u", role: "user", content: "hi" }], state: {} });
  for (const event of said) view.apply(event as never);
  return toPrelude(ids, view, { offset: said.length, at: 0 }).map(({ event }) => event);
};
const typesOf = (events: readonly BaseEvent[]): string[] => events.map(({ type }) => type);
const call = (toolCallId: string): Loose[] => [
  { type: "TOOL_CALL_START", toolCallId, toolCallName: "look" },
  { type: "TOOL_CALL_END", toolCallId },
];
const result = (toolCallId: string): Loose => ({
  type: "TOOL_CALL_RESULT",
  messageId: `${toolCallId}-result`,
  toolCallId,
  content: "seen",
});

describe("what a client receives that joins", () => {
  test("leaves the messages it has in their places while they only grew", () => {
    const events = preludeOf([...call("a"), result("a"), ...call("b"), result("b")]);
    expect(typesOf(events)).toEqual(["RUN_STARTED", "MESSAGES_SNAPSHOT", "STATE_SNAPSHOT"]);
  });

  test("takes them away first when a result came between them", () => {
    const events = preludeOf([
      ...call("a"),
      ...call("b"),
      { type: "ACTIVITY_SNAPSHOT", messageId: "plan", activityType: "PLAN", content: { n: 1 } },
      result("a"),
    ]);
    expect(typesOf(events)).toEqual([
      "RUN_STARTED",
      "MESSAGES_SNAPSHOT",
      "MESSAGES_SNAPSHOT",
      "STATE_SNAPSHOT",
      "ACTIVITY_SNAPSHOT",
    ]);
    // Only for one of their kind does a client let go of its activities.
    expect((events[1]!.messages as Message[]).map(({ role }) => role)).toEqual(["activity"]);
    expect((events[2]!.messages as Message[]).map(({ id }) => id)).toEqual([
      "u",
      "a",
      "a-result",
      "b",
      "plan",
    ]);
  });

  test.for([
    { what: "a message", open: "TEXT_MESSAGE_START", id: { messageId: "m" } },
    { what: "a call", open: "TOOL_CALL_START", id: { toolCallId: "m", toolCallName: "look" } },
  ])("does not bring back $what that is open and was taken away", ({ open, id }) => {
    const events = preludeOf([
      { type: open, ...id },
      { type: "MESSAGES_SNAPSHOT", messages: [{ id: "u", role: "user", content: "hi" }] },
    ]);
    expect(typesOf(events)).toEqual([
      "RUN_STARTED",
      open,
      "MESSAGES_SNAPSHOT",
      "MESSAGES_SNAPSHOT",
      "STATE_SNAPSHOT",
    ]);
  });

  test("has the metadata of an open message once, as it is now", () => {
    const events = preludeOf([
      { type: "TEXT_MESSAGE_START", messageId: "m", metadata: { step: 1 } },
      { type: "TEXT_MESSAGE_CONTENT", messageId: "m", delta: "x", metadata: { step: 2 } },
    ]);
    expect((events[1]!.messages as Message[])[1]).toMatchObject({ metadata: { step: 2 } });
    expect(events.at(-1)).toEqual({ type: "TEXT_MESSAGE_START", messageId: "m" });
  });

  test("goes on from the middle of a run with the messages as they are there", () => {
    const messages: Message[] = [{ id: "m", role: "assistant", content: "x" }];
    const open = [
      { type: "TEXT_MESSAGE_START", messageId: "m", metadata: { step: 1 } },
      { type: "TEXT_MESSAGE_START", messageId: "gone" },
    ] as never;
    const view = createRunView({ messages, state: {}, open });
    view.apply({ type: "TEXT_MESSAGE_CONTENT", messageId: "gone", delta: "lost" } as never);
    view.apply({ type: "TEXT_MESSAGE_CONTENT", messageId: "m", delta: "y" } as never);
    expect(view.messages).toEqual([{ id: "m", role: "assistant", content: "xy" }]);
    expect(view.open()).toEqual(open);
  });

  test("leaves an activity of a subagent to its owner", () => {
    const events = preludeOf([
      { type: "SUBAGENT_STARTED", subagentRunId: "s", name: "helper" },
      {
        type: "ACTIVITY_SNAPSHOT",
        messageId: "plan",
        activityType: "PLAN",
        content: {},
        subagentRunId: "s",
      },
      { type: "SUBAGENT_FINISHED", subagentRunId: "s" },
    ]);
    expect(typesOf(events)).not.toContain("ACTIVITY_SNAPSHOT");
    expect((events[1]!.messages as Message[])[1]).toMatchObject({ subagentRunId: "s" });
  });
});
