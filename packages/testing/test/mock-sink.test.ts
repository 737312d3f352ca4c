import { EventType } from "@holodeck/agui-core";
import { Observable } from "rxjs";
import { describe, expect, test, vi } from "vitest";
import {
  exampleRun,
  fakeClock,
  mockSink,
  recordRun,
  runAgent,
  scriptedAgent,
  settle,
} from "../src/index.ts";

const ids = { threadId: "thread-1", runId: "run-1" };

describe("mockSink", () => {
  test("knows everything a client knows", async () => {
    const messages = [{ id: "u", role: "user" as const, content: "hi" }];
    const sink = await runAgent(scriptedAgent(exampleRun), { ...ids, messages });
    expect(sink.text).toBe('Line one\nline "two" 🌦 and no more.');
    expect(sink.reasoning).toBe("The user means Bern.");
    expect(sink.steps).toEqual(["research", "answer"]);
    expect(sink.state).toEqual({ count: 2, list: ["a", { "a/b": "~" }], best: "a" });
    expect(sink.custom).toEqual([{ name: "confetti", value: { colours: ["red", null] } }]);
    expect(sink.activities).toEqual([
      { id: "activity-1", type: "PLAN", content: { steps: [{ title: "look", done: true }] } },
    ]);
    expect(sink.usage).toMatchObject([{ model: "example-1", totalTokens: 150 }]);
    expect(sink.outcome).toEqual({ type: "success", pendingToolCallIds: ["call-2"] });
    expect(sink.toolCalls).toMatchObject([
      {
        id: "call-1",
        name: "weather",
        args: { city: "Bern" },
        argsText: '{"city":"Bern"}',
        parentMessageId: "message-1",
        result: [{ text: "18 °C\nand rain" }, { type: "image" }, { type: "document" }],
      },
      { id: "call-2", name: "ask", args: {} },
    ]);
    expect(sink.toolCalls[1]).not.toHaveProperty("result");
    expect(sink.messages.map(({ id }) => id)).toEqual([
      "message-0",
      "message-00",
      "result-0",
      "reasoning-1",
      "message-1",
      "result-1",
      "activity-1",
      "call-2",
    ]);
  });

  test("keeps the conversation that was sent", async () => {
    const { messages } = await runAgent(async () => "Hello", { message: "hi" });
    expect(messages).toMatchObject([
      { role: "user", content: "hi" },
      { role: "assistant", content: "Hello" },
    ]);
  });

  test("starts from the state that was sent", async () => {
    const { state } = await runAgent(
      async (_, context) => {
        await context.state.update<{ count: number }>((draft) => {
          draft.count++;
        });
      },
      { state: { count: 1 } },
    );
    expect(state).toEqual({ count: 2 });
  });

  test("leaves the text of other roles than the assistant out", async () => {
    const { text } = await runAgent(async (_, { emit }) => {
      const note = emit.message({ role: "user" });
      await note.text("not mine");
      await note.end();
      await emit.text("mine");
    });
    expect(text).toBe("mine");
  });

  test("has no arguments while they are not JSON", () => {
    const { toolCalls } = recordRun([
      { type: EventType.TOOL_CALL_START, toolCallId: "c", toolCallName: "t" },
      { type: EventType.TOOL_CALL_ARGS, toolCallId: "c", delta: '{"a' },
    ]);
    expect(toolCalls).toEqual([{ id: "c", name: "t", args: undefined, argsText: '{"a' }]);
  });

  test("makes an agent wait that can wait, and reads on after resume", async () => {
    const sink = mockSink({ stallAfter: 3 });
    let said = 0;
    const run = runAgent(
      async function* () {
        for (; said < 1_000; said++) yield "x";
      },
      { sink },
    );
    await settle();
    expect(sink.events).toHaveLength(3);
    expect(sink.ended).toBe(false);
    expect(said).toBeLessThan(1_000);
    const before = said;
    await settle();
    expect(said).toBe(before);
    sink.resume();
    await run;
    expect(sink.text).toBe("x".repeat(1_000));
    expect(sink.ended).toBe(true);
  });

  test("is cut when it stalls and owes too much", async () => {
    const sink = mockSink({ stallAfter: 1 });
    const stopped = vi.fn();
    await runAgent(
      () =>
        new Observable((subscriber) => {
          for (let i = 0; i < 100; i++) {
            subscriber.next({ type: "CUSTOM", name: "n", value: "x".repeat(100) });
          }
          return stopped;
        }),
      { sink, limits: { followerBytes: 1_000 } },
    );
    expect(sink.events).toHaveLength(1);
    expect(sink.ended).toBe(false);
    expect(stopped).toHaveBeenCalledOnce();
  });

  test("is cut when it stalls for too long", async () => {
    const clock = fakeClock();
    const sink = mockSink({ stallAfter: 1 });
    const agent = scriptedAgent(["a", { hang: true }]);
    const run = runAgent(agent, { sink, clock, limits: { stallMs: 1_000 } });
    await clock.advance(2_000);
    await run;
    expect(sink.events).toHaveLength(1);
  });

  test("leaves, which aborts the run", async () => {
    const sink = mockSink({ leaveAfter: 2 });
    let reason: unknown;
    await runAgent(
      async function* (_, { signal }) {
        signal.addEventListener("abort", () => (reason = signal.reason));
        for (;;) yield "x";
      },
      { sink },
    );
    expect(reason).toMatchObject({ code: "disconnected" });
    expect(sink.events).toHaveLength(2);
    expect(sink.ended).toBe(false);
    expect(sink.outcome).toBeUndefined();
  });

  test("leaves on request", async () => {
    const sink = mockSink();
    const run = runAgent(scriptedAgent(["a", { hang: true }]), { sink });
    await settle();
    sink.leave();
    await run;
    expect(sink.text).toBe("a");
    expect(sink.ended).toBe(false);
  });
});
