import { runAgent, scriptedAgent } from "@holodeck/agui-testing";
import { createAgentHandler, memorySessions } from "@holodeck/agui";
import type { AgentFunction } from "@holodeck/agui";
import { describe, expect, test, vi } from "vitest";
import { defineTool, withDispose } from "../src/index.ts";
import { deferred } from "./_helpers.ts";

const about = { name: "work", description: "Does what has to be done." };
const calling: AgentFunction = async (_input, { callTool }) => void (await callTool("work", {}));

describe("the tools of one run", () => {
  test("run at the same time, eight at most, and answer in the order of the calls", async () => {
    let running = 0;
    let most = 0;
    const gates = Array.from({ length: 20 }, () => deferred());
    const work = defineTool({
      ...about,
      parameters: { type: "object", properties: { at: { type: "integer" } } },
      execute: async ({ at }) => {
        most = Math.max(most, ++running);
        await gates[at as number]!.promise;
        running--;
        return at;
      },
    });
    let results: unknown[] = [];
    const done = runAgent(
      async (_input, { callTools }) => {
        const calls = gates.map((_gate, at) => ({ name: "work", args: { at } }));
        results = (await callTools(calls)).map(({ result }) => result);
      },
      { tools: [work] },
    );
    for (const gate of gates.toReversed()) gate.resolve();
    const { toolCalls } = await done;
    expect(most).toBe(8);
    expect(results).toEqual(gates.map((_gate, at) => at));
    expect(toolCalls.map(({ args, result }) => [args, result])).toEqual(
      gates.map((_gate, at) => [{ at }, String(at)]),
    );
  });

  test("fail alone: the others have their results", async () => {
    const work = defineTool({
      ...about,
      parameters: [{ name: "at", type: "integer" }],
      execute: ({ at }) => {
        if (at === 1) throw new Error("postgres://user:pw@db");
        return at;
      },
    });
    const { text } = await runAgent(
      async (_input, { callTools }) => {
        const calls = [0, 1, 2].map((at) => ({ name: "work", args: { at } }));
        const outcomes = await callTools([...calls, { name: "nobody", args: {} }]);
        return outcomes.map(({ status, error }) => error?.code ?? status).join();
      },
      { tools: [work] },
    );
    expect(text).toBe("done,tool-error,done,unknown-tool");
  });

  test("may be called without a client receiving it twice", async () => {
    const work = defineTool({ ...about, execute: () => "done" });
    const { events, toolCalls } = await runAgent(
      async (_input, { emit, callTools }) => {
        const id = emit.toolCall("work", {});
        const other = emit.toolCall("nobody", {});
        await callTools([
          { id, name: "work", args: {} },
          { id: other, name: "nobody", args: {} },
        ]);
      },
      { tools: [work] },
    );
    expect(events.filter(({ type }) => type === "TOOL_CALL_START")).toHaveLength(2);
    expect(toolCalls[0]!.result).toBe("done");
    expect(toolCalls[1]!.result).toContain("unknown-tool");
  });

  test("know their call, their thread and when to stop", async () => {
    const seen = vi.fn();
    const work = defineTool({
      ...about,
      execute: (_args, { toolCallId, threadId, signal, emit }) => {
        void emit.custom("progress", 50);
        seen(toolCallId, threadId, signal.aborted);
      },
    });
    const { toolCalls, custom } = await runAgent(calling, { tools: [work], threadId: "t" });
    expect(seen).toHaveBeenCalledExactlyOnceWith(toolCalls[0]!.id, "t", false);
    expect(custom).toEqual([{ name: "progress", value: 50 }]);
    expect(toolCalls[0]!.result).toBe("null");
  });

  test("are stopped with the run", async () => {
    const begun = deferred();
    const stopped = deferred<unknown>();
    const work = defineTool({
      ...about,
      execute: (_args, { signal }) => {
        signal.addEventListener("abort", () => stopped.resolve(signal.reason));
        begun.resolve();
        return new Promise(() => {});
      },
    });
    const controller = new AbortController();
    const done = runAgent(calling, { tools: [work], signal: controller.signal });
    await begun.promise;
    controller.abort();
    expect((await done).outcome).toEqual({ type: "cancelled" });
    expect(await stopped.promise).toMatchObject({ code: "stopped" });
  });

  test("return content parts as they are", async () => {
    const parts = [{ type: "text" as const, text: "A picture:" }];
    const work = defineTool({ ...about, execute: () => parts });
    const { toolCalls } = await runAgent(calling, { tools: [work] });
    expect(toolCalls[0]!.result).toEqual(parts);
  });

  test.for<[string, () => unknown]>([
    [
      "itself",
      () => {
        const loop: Record<string, unknown> = {};
        loop.loop = loop;
        return loop;
      },
    ],
    ["a BigInt", () => ({ big: 5n })],
  ])("that return what is no JSON, such as %s, have failed", async ([, execute]) => {
    const { toolCalls, error } = await runAgent(calling, {
      tools: [defineTool({ ...about, execute })],
    });
    expect(toolCalls[0]!.result).toContain("tool-error");
    expect(error).toMatchObject({ code: "tool-error" });
  });

  test("cannot wait for the client themselves", async () => {
    const work = defineTool({ ...about, execute: (_args, { callTool }) => callTool("pick", {}) });
    const { toolCalls, error } = await runAgent(calling, {
      tools: [work],
      clientTools: [{ name: "pick", description: "Picks.", parameters: {} }],
    });
    expect(toolCalls[0]!.result).toContain("waits for the client");
    expect(error?.code).toBe("tool-error");
  });
});

describe("what a tool leaves", () => {
  const leaving = (dispose: () => void | Promise<void>) =>
    defineTool({ ...about, execute: () => withDispose({ rows: 3 }, dispose) });

  test.for<[string, AgentFunction, string | undefined]>([
    ["ended well", calling, undefined],
    [
      "failed",
      async (input, context) => {
        await calling(input, context);
        throw new Error("x");
      },
      "agent-error",
    ],
    [
      "ended itself",
      async function* (input, context) {
        await (calling(input, context) as Promise<void>);
        yield { type: "RUN_FINISHED" };
      },
      undefined,
    ],
  ])("is tidied up when the run has %s", async ([, agent, code]) => {
    const disposed = deferred();
    const { toolCalls, error } = await runAgent(agent, { tools: [leaving(disposed.resolve)] });
    await disposed.promise;
    expect(toolCalls[0]!.result).toBe('{"rows":3}');
    expect(error?.code).toBe(code);
  });

  test("is tidied up when the run is stopped", async () => {
    const disposed = deferred();
    const called = deferred();
    const controller = new AbortController();
    const done = runAgent(
      async (input, context) => {
        await calling(input, context);
        called.resolve();
        await new Promise(() => {});
      },
      { tools: [leaving(disposed.resolve)], signal: controller.signal },
    );
    await called.promise;
    controller.abort();
    await disposed.promise;
    expect((await done).outcome).toEqual({ type: "cancelled" });
  });

  test("is tidied up not before the end, the newest first, each once, whatever the others do", async () => {
    const order: string[] = [];
    const all = deferred();
    const tool = (name: string, dispose: () => void) =>
      defineTool({ ...about, name, execute: () => withDispose(name, dispose) });
    const tools = [
      tool("one", () => {
        order.push("one");
        all.resolve();
      }),
      tool("two", () => {
        order.push("two");
        throw new Error("x");
      }),
    ];
    await runAgent(
      async (_input, { callTool }) => {
        await callTool("one", {});
        await callTool("two", {});
        order.push("agent");
      },
      { tools },
    );
    await all.promise;
    expect(order).toEqual(["agent", "two", "one"]);
  });

  test("is tidied up at once when it comes after the end", async () => {
    const begun = deferred();
    const go = deferred();
    const disposed = deferred();
    const controller = new AbortController();
    const work = defineTool({
      ...about,
      execute: async () => {
        begun.resolve();
        await go.promise;
        return withDispose("late", disposed.resolve);
      },
    });
    const done = runAgent(calling, { tools: [work], signal: controller.signal });
    await begun.promise;
    controller.abort();
    await done;
    go.resolve();
    await disposed.promise;
  });

  test("needs a function", () => {
    expect(() => withDispose(1, 5 as never)).toThrow("takes a function");
  });
});

describe("the tools of a handler", () => {
  const work = defineTool({ ...about, execute: () => "done" });
  const quiet = { logger: { debug() {}, info() {}, warn() {}, error() {} } };

  test.for<[string, readonly unknown[], string]>([
    [
      "two of a name",
      [work, { ...work }],
      'tools[1] is named "work", like tools[0]; tool names must be unique.',
    ],
    ["one without a name", [{ ...work, name: "" }], "tools[0].name"],
    ["one that cannot be invoked", [{ name: "x" }], "tools[0] must be an object with invoke"],
    ["none at all", 5 as never, "tools must be an array"],
  ])("are refused when there is %s, also by runAgent", async ([, tools, words]) => {
    const agent = scriptedAgent(["hi"]);
    expect(() => createAgentHandler(agent, { tools: tools as never })).toThrow(words);
    await expect(runAgent(agent, { tools: tools as never })).rejects.toThrow(words);
  });

  test("are warned about when a model could not know what they do; strict refuses them", () => {
    const warn = vi.fn();
    const short = defineTool({ ...about, description: "Works.", execute: () => 1 });
    const logger = { ...quiet.logger, warn };
    createAgentHandler(calling, { tools: [short, { ...work, name: "other" }], logger });
    expect(warn).toHaveBeenCalledExactlyOnceWith(
      { tools: ["work"] },
      expect.stringContaining("10"),
    );
    expect(() => createAgentHandler(calling, { tools: [short], strict: true, ...quiet })).toThrow(
      'tools[0], "work", needs a description of at least 10 characters',
    );
  });

  test("serve its agents", async () => {
    const { fetch } = createAgentHandler(calling, {
      ...quiet,
      tools: [work],
      sessions: memorySessions(),
    });
    const response = await fetch(
      new Request("http://test.local/agui", {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ messages: [] }),
      }),
    );
    expect(await response.text()).toContain('"content":"done"');
  });
});

test("a tool reports what it is doing: as text, and as progress that is replaced", async () => {
  const work = defineTool({
    ...about,
    execute: (_args, { emit }) => {
      emit.activity("agent", { agent: "work", type: "text", text: "Looking …" });
      const progress = (current: number, id?: string): string => {
        const data = { total: 2, current };
        const content = { agent: "work", type: "progress", text: `Step ${current}`, data };
        return emit.activity("agent", content, id === undefined ? {} : { id });
      };
      progress(2, progress(1));
    },
  });
  const { activities } = await runAgent(calling, { tools: [work] });
  expect(activities.map(({ type, content }) => [type, content.text, content.data])).toEqual([
    ["agent", "Looking …", undefined],
    ["agent", "Step 2", { total: 2, current: 2 }],
  ]);
});
