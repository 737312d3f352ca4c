import { fakeClock, mockSink } from "@holodeck/agui-testing";
import type { FakeClock, MockSink } from "@holodeck/agui-testing";
import { describe, expect, test, vi } from "vitest";
import { AgentError, defaultLimits, isAgentError } from "../src/index.ts";
import { createTicker, LiveRun, runOfClientCall } from "../src/internal.ts";
import type { AgentFunction, Pending, RunAgentInput, ServerTool } from "../src/index.ts";
import type { Questions } from "../src/internal.ts";

const quiet = { debug() {}, info() {}, warn() {}, error() {} };
const offered = { name: "pick", description: "Lets the user pick one.", parameters: {} };

interface Started {
  readonly run: LiveRun;
  readonly sink: MockSink;
  readonly clock: FakeClock;
  readonly opened: Pending[];
  readonly closed: string[];
}

function start(
  agent: AgentFunction,
  options: {
    tools?: RunAgentInput["tools"];
    own?: readonly ServerTool[];
    questions?: Questions | undefined;
  } = {},
): Started {
  const opened: Pending[] = [];
  const closed: string[] = [];
  const kept: Questions = {
    open: (question) => void opened.push(question),
    close: (id) => void closed.push(id),
  };
  const { tools = [offered], own = [] } = options;
  const questions = "questions" in options ? options.questions : kept;
  const clock = fakeClock();
  const run = new LiveRun(
    {
      agent,
      input: { threadId: "t", runId: "r", messages: [], tools, context: [], state: {} },
      middleware: [],
      context: { threadId: "t", runId: "r", tools: own },
      questions,
    },
    {
      limits: { ...defaultLimits, stallMs: 60_000 },
      clock,
      ticker: createTicker(clock, 10),
      logger: quiet,
      heartbeatMs: 15_000,
      onDisconnect: "abort",
      debug: false,
      strict: true,
    },
  );
  const sink = mockSink();
  run.follow(sink.encoder, sink);
  return { run, sink, clock, opened, closed };
}

const picking: AgentFunction = async (_input, { callTool }) => {
  try {
    return JSON.stringify(await callTool("pick", { from: ["a", "b"] }));
  } catch (error) {
    return isAgentError(error) ? `${error.code}: ${error.message}` : "unexpected";
  }
};

describe("a client tool that is waited for", () => {
  test("is asked for, answered and sent, and the agent goes on with the result", async () => {
    const { run, sink, clock, opened, closed } = start(picking);
    await clock.advance(1_000);
    expect(opened).toEqual([
      { id: "r-1", kind: "tool", runId: "r", value: { name: "pick", args: { from: ["a", "b"] } } },
    ]);
    expect(sink.events.map(({ type }) => type)).toEqual([
      "RUN_STARTED",
      "TOOL_CALL_START",
      "TOOL_CALL_ARGS",
      "TOOL_CALL_END",
    ]);
    const answer = { type: "tool-result", toolCallId: "r-1", result: { picked: "b" } } as const;
    expect(run.answer({ ...answer, executionTimeMs: 12 })).toBe(true);
    expect(run.answer(answer)).toBe(false);
    await run.done;
    expect(sink.text).toBe('{"picked":"b"}');
    expect(sink.events.find(({ type }) => type === "TOOL_CALL_RESULT")).toMatchObject({
      toolCallId: "r-1",
      content: '{"picked":"b"}',
      metadata: { executionTimeMs: 12 },
    });
    expect(sink.outcome).toEqual({ type: "success" });
    expect(closed).toEqual([]);
  });

  test.for([[null], [false], [0], [""], [[]], [undefined]])(
    "may answer %j",
    async ([result], { expect: check }) => {
      const { run, clock } = start(async (_input, { callTool, state }) => {
        await state.set({ got: await callTool("pick", {}) });
      });
      await clock.advance(1);
      run.answer({ type: "tool-result", toolCallId: "r-1", result });
      check((await run.done).state).toEqual({ got: result ?? null });
    },
  );

  test("that fails is an error the agent can catch, in the client's words", async () => {
    const { run, sink, clock } = start(picking);
    await clock.advance(1);
    run.answer({ type: "tool-result", toolCallId: "r-1", error: "The user looked away." });
    await run.done;
    expect(sink.text).toBe("tool-error: The user looked away.");
    expect(sink.toolCalls[0]?.result).toBe(
      '{"error":{"code":"tool-error","message":"The user looked away."}}',
    );
  });

  test.for<[number, object]>([
    [30_000, {}],
    [2_000, { metadata: { timeoutMs: 2_000 } }],
  ])("is given up after %d ms, its own time or the run's", async ([ms, own]) => {
    const { run, sink, clock, closed } = start(picking, { tools: [{ ...offered, ...own }] });
    await clock.advance(ms - 1);
    expect(sink.text).toBe("");
    await clock.advance(1);
    await run.done;
    expect(sink.text).toBe(`timeout: The tool "pick" took longer than ${ms} ms.`);
    expect(closed).toEqual(["r-1"]);
    expect(run.answer({ type: "tool-result", toolCallId: "r-1", result: 1 })).toBe(false);
  });

  test("is not waited for any longer when the run is stopped", async () => {
    const caught = vi.fn<(code: string) => void>();
    const { run, sink, clock } = start(async (_input, { callTool }) => {
      await callTool("pick", {}).catch((error: AgentError) => caught(error.code));
    });
    await clock.advance(1);
    run.abort(new AgentError("stopped", "The run was stopped."));
    await run.done;
    await clock.advance(1);
    expect(caught).toHaveBeenCalledExactlyOnceWith("stopped");
    expect(sink.outcome).toEqual({ type: "cancelled" });
  });

  test("has another id at each call, which names the run", async () => {
    const { run, clock, opened } = start(async (_input, { callTools }) => {
      const outcomes = await callTools([
        { name: "pick", args: 1 },
        { name: "pick", args: 2 },
      ]);
      return outcomes.map(({ id, result }) => `${id}=${String(result)}`).join(" ");
    });
    await clock.advance(1);
    expect(opened.map(({ id }) => id)).toEqual(["r-1", "r-2"]);
    run.answer({ type: "tool-result", toolCallId: "r-2", result: "two" });
    run.answer({ type: "tool-result", toolCallId: "r-1", result: "one" });
    const { messages } = await run.done;
    expect(messages.at(-1)).toMatchObject({ content: "r-1=one r-2=two" });
    expect(runOfClientCall("r-2")).toBe("r");
    expect(runOfClientCall("a-b\n-12")).toBe("a-b\n");
    expect(["r", "r-", "-1", "r-x", ""].map(runOfClientCall)).toEqual(Array(5).fill(undefined));
  });

  test("is not shown to the client when it cannot be written down", async () => {
    const refuse = { open: () => Promise.reject(new Error("redis://user:pw@db")), close() {} };
    const { run, sink } = start(picking, { questions: refuse });
    await run.done;
    expect(sink.text).toBe('tool-error: The tool "pick" failed.');
    expect(sink.toolCalls).toEqual([]);
  });

  test("gives way to a server tool of the same name", async () => {
    const own: ServerTool = { ...offered, invoke: () => "ours" };
    const { run, sink, opened } = start(picking, { own: [own] });
    await run.done;
    expect(sink.text).toBe('"ours"');
    expect(opened).toEqual([]);
  });
});

test("a client tool halts a run that does not wait for its client", async () => {
  const { run, sink } = start(picking, { questions: undefined });
  await run.done;
  expect(sink.text).toContain("halted");
  expect(run.answer({ type: "tool-result", toolCallId: "r-1", result: 1 })).toBe(false);
});
