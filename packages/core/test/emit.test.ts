import { EventType } from "@ag-ui/core";
import type { Message } from "@ag-ui/core";
import { describe, expect, test } from "vitest";
import { createEmit } from "../src/agent/emit.ts";
import type { RunEnding } from "../src/guard/guard.ts";
import { AgentError } from "../src/index.ts";
import type { Emit } from "../src/index.ts";

interface Bench {
  emit: Emit;
  said: unknown[];
  ending: RunEnding;
}

function bench(options: { debug?: boolean; pace?: Promise<void> } = {}): Bench {
  const said: unknown[] = [];
  const ending: RunEnding = { interrupts: [], usage: [] };
  let count = 0;
  const push = (value: unknown): void | Promise<void> => {
    said.push(value);
    return options.pace;
  };
  const newId = (): string => `id-${++count}`;
  return { emit: createEmit({ push, ending, newId, debug: options.debug }), said, ending };
}

const types = (said: readonly unknown[]): unknown[] =>
  said.map((value) => (typeof value === "string" ? value : (value as { type: string }).type));

async function* fragments(...parts: string[]): AsyncGenerator<string> {
  for (const part of parts) {
    await Promise.resolve();
    yield part;
  }
}

async function* broken(): AsyncGenerator<string> {
  yield* fragments("{");
  throw new Error("cut");
}

describe("emit", () => {
  test("sends text and reasoning, and nothing for nothing", () => {
    const { emit, said } = bench();
    void emit.text("Hello");
    void emit.text("");
    void emit.reasoning("because");
    void emit.reasoning("");
    expect(said).toEqual(["Hello", { type: "REASONING_MESSAGE_CHUNK", delta: "because" }]);
  });

  test("writes a message of one's own and ends it once", () => {
    const { emit, said } = bench();
    const message = emit.message({ role: "system", name: "note" });
    void message.text("a");
    void message.text("");
    void message.text("b");
    void message.end();
    void message.end();
    expect(message.id).toBe("id-1");
    expect(said).toEqual([
      { type: "TEXT_MESSAGE_START", messageId: "id-1", role: "system", name: "note" },
      { type: "TEXT_MESSAGE_CONTENT", messageId: "id-1", delta: "a" },
      { type: "TEXT_MESSAGE_CONTENT", messageId: "id-1", delta: "b" },
      { type: "TEXT_MESSAGE_END", messageId: "id-1" },
    ]);
    expect(emit.message({ id: "mine" }).id).toBe("mine");
    expect(said.at(-1)).toEqual({
      type: "TEXT_MESSAGE_START",
      messageId: "mine",
      role: "assistant",
    });
  });

  test.for<[string, Record<string, unknown> | string | undefined, string[]]>([
    ["an object", { q: 1 }, ['{"q":1}']],
    ["a text as it is", '{"q":', ['{"q":']],
    ["no arguments", undefined, ["{}"]],
    ["an empty text", "", []],
  ])("calls a tool with %s", ([, args, deltas]) => {
    const { emit, said } = bench();
    expect(emit.toolCall("look", args)).toBe("id-1");
    expect(said).toEqual([
      { type: "TOOL_CALL_START", toolCallId: "id-1", toolCallName: "look" },
      ...deltas.map((delta) => ({ type: "TOOL_CALL_ARGS", toolCallId: "id-1", delta })),
      { type: "TOOL_CALL_END", toolCallId: "id-1" },
    ]);
  });

  test("streams the arguments of a tool call", async () => {
    const { emit, said } = bench();
    const id = emit.toolCall("look", fragments('{"q"', "", ":1}"), {
      id: "mine",
      parentMessageId: "m",
    });
    expect(types(said)).toEqual(["TOOL_CALL_START"]);
    expect(await id).toBe("mine");
    expect(said).toEqual([
      { type: "TOOL_CALL_START", toolCallId: "mine", toolCallName: "look", parentMessageId: "m" },
      { type: "TOOL_CALL_ARGS", toolCallId: "mine", delta: '{"q"' },
      { type: "TOOL_CALL_ARGS", toolCallId: "mine", delta: ":1}" },
      { type: "TOOL_CALL_END", toolCallId: "mine" },
    ]);
  });

  test("ends a tool call whose arguments break off", async () => {
    const { emit, said } = bench();
    await expect(emit.toolCall("look", broken())).rejects.toThrow("cut");
    expect(types(said)).toEqual(["TOOL_CALL_START", "TOOL_CALL_ARGS", "TOOL_CALL_END"]);
  });

  const image = { type: "image", source: { type: "url", value: "https://example.com/a.png" } };
  test.for<[string, unknown, unknown]>([
    ["a text", "seen", "seen"],
    ["parts", [{ type: "text", text: "a" }, image], [{ type: "text", text: "a" }, image]],
    ["an object", { ok: true }, '{"ok":true}'],
    ["a list that is not of parts", [{ type: "text" }], '[{"type":"text"}]'],
    ["a list of null", [null], "[null]"],
    ["an empty list", [], "[]"],
    ["a number", 7, "7"],
    ["null", null, "null"],
    ["nothing", undefined, ""],
  ])("answers a tool call with %s", ([, content, sent]) => {
    const { emit, said } = bench();
    void emit.toolResult("call", content as string);
    expect(said).toEqual([
      {
        type: "TOOL_CALL_RESULT",
        messageId: "id-1",
        toolCallId: "call",
        content: sent,
        role: "tool",
      },
    ]);
  });

  test("brackets a step, also when it fails", async () => {
    const { emit, said } = bench();
    const result = await emit.step("plan", () => {
      void emit.text("x");
      return 7;
    });
    expect(result).toBe(7);
    const failing = emit.step("act", () => {
      throw new Error("no");
    });
    await expect(failing).rejects.toThrow("no");
    expect(said).toEqual([
      { type: "STEP_STARTED", stepName: "plan" },
      "x",
      { type: "STEP_FINISHED", stepName: "plan" },
      { type: "STEP_STARTED", stepName: "act" },
      { type: "STEP_FINISHED", stepName: "act" },
    ]);
  });

  test("begins a step at once, so that what follows it in the code follows it in the run", async () => {
    const { emit, said } = bench();
    const step = emit.step("plan", () => emit.text("in"));
    void emit.text("after");
    await step;
    expect(types(said)).toEqual(["STEP_STARTED", "in", "after", "STEP_FINISHED"]);
  });

  test("shows activities, and keeps them apart from later changes", () => {
    const { emit, said } = bench();
    const content = { percent: 0 };
    const id = emit.activity("PROGRESS", content);
    content.percent = 50;
    emit.activity("PROGRESS", content, { id, replace: false });
    content.percent = 100;
    const event = { type: "ACTIVITY_SNAPSHOT", messageId: "id-1", activityType: "PROGRESS" };
    expect(said).toEqual([
      { ...event, content: { percent: 0 } },
      { ...event, content: { percent: 50 }, replace: false },
    ]);
  });

  test("sends messages, predictions, custom and raw events, and events as they are", () => {
    const { emit, said } = bench();
    const messages: Message[] = [{ id: "u", role: "user", content: "Hi" }];
    const entries = [{ state_key: "draft", tool: "write", tool_argument: "text" }];
    const own = { type: EventType.STEP_STARTED, stepName: "own" };
    void emit.messages(messages);
    void emit.predictState(entries);
    void emit.custom("ping", undefined);
    void emit.raw({ from: "model" }, "provider");
    void emit.raw(null);
    void emit.event(own);
    expect(said).toEqual([
      { type: "MESSAGES_SNAPSHOT", messages },
      { type: "CUSTOM", name: "PredictState", value: entries },
      { type: "CUSTOM", name: "ping", value: null },
      { type: "RAW", event: { from: "model" }, source: "provider" },
      { type: "RAW", event: null },
      own,
    ]);
    expect(said.at(-1)).toBe(own);
  });

  test("puts the subagent's id on everything it sends", async () => {
    const { emit, said } = bench();
    const result = await emit.subagent(
      "helper",
      async (inner) => {
        void inner.text("t");
        void inner.reasoning("r");
        void inner.message({ id: "m" }).end();
        inner.toolCall("look", "{}", { id: "c" });
        void inner.toolResult("c", "ok");
        await inner.step("s", () => {});
        inner.activity("A", {});
        void inner.custom("n", 1);
        void inner.raw({});
        void inner.event({ type: EventType.STATE_SNAPSHOT, snapshot: {} });
        return 7;
      },
      { description: "helps", parentToolCallId: "pc", parentMessageId: undefined },
    );
    expect(result).toBe(7);
    expect(said[0]).toEqual({
      type: "SUBAGENT_STARTED",
      subagentRunId: "id-1",
      name: "helper",
      description: "helps",
      parentToolCallId: "pc",
    });
    expect(said[1]).toEqual({ type: "TEXT_MESSAGE_CHUNK", delta: "t", subagentRunId: "id-1" });
    expect(said).toHaveLength(16);
    for (const event of said) expect(event).toMatchObject({ subagentRunId: "id-1" });
    expect(said.at(-1)).toEqual({ type: "SUBAGENT_FINISHED", subagentRunId: "id-1" });
  });

  test("puts no subagent on what speaks of the whole run, nor over an id that is there", async () => {
    const { emit, said } = bench();
    await emit.subagent("helper", (inner) => {
      void inner.messages([]);
      void inner.event({ type: EventType.RUN_ERROR, message: "no" });
      void inner.event({ type: EventType.CUSTOM, name: "n", value: 1, subagentRunId: "other" });
    });
    expect(said.slice(1, 4)).toEqual([
      { type: "MESSAGES_SNAPSHOT", messages: [] },
      { type: "RUN_ERROR", message: "no" },
      { type: "CUSTOM", name: "n", value: 1, subagentRunId: "other" },
    ]);
  });

  test("names the parent of a subagent within a subagent", async () => {
    const { emit, said } = bench();
    await emit.subagent("outer", (outer) => outer.subagent("inner", (inner) => inner.text("x")));
    expect(said).toEqual([
      { type: "SUBAGENT_STARTED", subagentRunId: "id-1", name: "outer" },
      {
        type: "SUBAGENT_STARTED",
        subagentRunId: "id-2",
        name: "inner",
        parentSubagentRunId: "id-1",
      },
      { type: "TEXT_MESSAGE_CHUNK", delta: "x", subagentRunId: "id-2" },
      { type: "SUBAGENT_FINISHED", subagentRunId: "id-2" },
      { type: "SUBAGENT_FINISHED", subagentRunId: "id-1" },
    ]);
  });

  test.for<[string, Error, boolean, object]>([
    [
      "hides the message of",
      new Error("pw=1"),
      false,
      { message: "The agent failed.", code: "agent-error" },
    ],
    ["shows, when debugging, the message of", new Error("pw=1"), true, { message: "pw=1" }],
    [
      "shows our own message of",
      new AgentError("timeout", "Too slow."),
      false,
      { message: "Too slow.", code: "timeout" },
    ],
  ])("%s a subagent that fails, and passes the error on", async ([, error, debug, shown]) => {
    const { emit, said } = bench({ debug });
    const failing = emit.subagent("helper", () => Promise.reject(error));
    await expect(failing).rejects.toBe(error);
    expect(types(said)).toEqual(["SUBAGENT_STARTED", "SUBAGENT_ERROR"]);
    expect(said[1]).toMatchObject({ subagentRunId: "id-1", ...shown });
  });

  test("keeps interrupts and usage for the end of the run", async () => {
    const { emit, said, ending } = bench();
    expect(emit.interrupt({ reason: "confirmation", message: "Sure?" })).toBe("id-1");
    expect(emit.interrupt({ id: "mine", reason: "input_required" })).toBe("mine");
    emit.usage({ model: "m", inputTokens: 3 });
    await emit.subagent("helper", (inner) => inner.interrupt({ id: "sub", reason: "tool_call" }));
    expect(ending).toEqual({
      interrupts: [
        { id: "id-1", reason: "confirmation", message: "Sure?" },
        { id: "mine", reason: "input_required" },
        { id: "sub", reason: "tool_call", subagentRunId: "id-2" },
      ],
      usage: [{ model: "m", inputTokens: 3 }],
    });
    expect(said.at(-1)).toEqual({
      type: "SUBAGENT_FINISHED",
      subagentRunId: "id-2",
      outcome: { type: "suspended", interruptIds: ["sub"] },
    });
  });

  test("returns the promise of clients that are behind, from every method that may wait", () => {
    const pace = Promise.resolve();
    const { emit } = bench({ pace });
    const message = emit.message();
    const returned = [
      emit.text("x"),
      emit.reasoning("x"),
      message.text("x"),
      message.end(),
      emit.toolResult("c", "x"),
      emit.messages([]),
      emit.predictState([]),
      emit.custom("n", 1),
      emit.raw(1),
      emit.event({ type: EventType.STEP_STARTED, stepName: "s" }),
    ];
    for (const promise of returned) expect(promise).toBe(pace);
  });

  test("holds a step, a subagent and streamed arguments back while the clients are behind", async () => {
    let release: (() => void) | undefined;
    const pace = new Promise<void>((resolve) => {
      release = resolve;
    });
    const { emit, said } = bench({ pace });
    const work = Promise.all([
      emit.step("s", () => void said.push("in the step")),
      emit.subagent("a", () => void said.push("in the subagent")),
      emit.toolCall("t", fragments("1", "2")),
    ]);
    // Longer than any chain of promises here takes.
    for (let i = 0; i < 20; i++) await Promise.resolve();
    expect(types(said)).toEqual([
      "STEP_STARTED",
      "SUBAGENT_STARTED",
      "TOOL_CALL_START",
      "TOOL_CALL_ARGS",
    ]);
    release?.();
    await work;
    expect(types(said)).toContain("in the step");
    expect(types(said)).toContain("in the subagent");
    expect(types(said).filter((type) => type === "TOOL_CALL_ARGS")).toHaveLength(2);
  });

  test("makes ids that differ when none are given", () => {
    const emit = createEmit({ push: () => {}, ending: { interrupts: [], usage: [] } });
    const ids = Array.from({ length: 100 }, () => emit.toolCall("t"));
    expect(new Set(ids).size).toBe(100);
    expect(ids[0]).toMatch(/^[0-9A-Z]{26}$/);
  });
});
