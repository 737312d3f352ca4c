import { runAgent, scriptedAgent } from "@holodeck/agui-testing";
import { EventType, mapEvents } from "@holodeck/agui";
import type { AgentEvent, AgentFunction, Message, RunAgentInput, RunContext } from "@holodeck/agui";
import { describe, expect, test, vi } from "vitest";
import { z } from "zod";
import { createToolLoopAgent, defineTool } from "../src/index.ts";
import { deferred } from "./_helpers.ts";

type Said = string | AgentEvent;

/** A model that says what is in the script, step by step, and remembers what it was asked. */
function scripted(...steps: readonly (readonly Said[])[]) {
  const asked: RunAgentInput[] = [];
  const generate: AgentFunction = async function* (input, { emit }) {
    asked.push(input);
    yield* steps[asked.length - 1] ?? ["I have nothing more to say."];
    emit.usage({ model: "scripted", inputTokens: 10, outputTokens: 1 });
  };
  return { generate, asked };
}

/** The fragments of a call, as models stream them. */
function call(id: string, name: string, ...fragments: string[]): AgentEvent[] {
  return [
    { type: "TOOL_CALL_START", toolCallId: id, toolCallName: name },
    ...fragments.map((delta): AgentEvent => ({ type: "TOOL_CALL_ARGS", toolCallId: id, delta })),
    { type: "TOOL_CALL_END", toolCallId: id },
  ];
}

const weather = defineTool({
  name: "weather",
  description: "The weather of a city, now.",
  parameters: z.object({ city: z.string() }),
  execute: ({ city }) => ({ city, celsius: 18 }),
});
const pick = { name: "pick", description: "Picks a colour.", parameters: { type: "object" } };
const roles = (messages: readonly Message[]): string => messages.map(({ role }) => role).join();

describe("the tool loop", () => {
  test("runs what the model calls, and asks it again with the results", async () => {
    const { generate, asked } = scripted(
      ["Let me look. ", ...call("c1", "weather", '{"city":', '"Bern"}')],
      ["It is ", "18 degrees."],
    );
    const agent = createToolLoopAgent({ generate, tools: [weather] });
    const { events, text, messages, error } = await runAgent(agent, { message: "Weather?" });
    expect(error).toBeUndefined();
    expect(text).toBe("Let me look. It is 18 degrees.");
    expect(events.map(({ type }) => type)).toEqual([
      "RUN_STARTED",
      "TEXT_MESSAGE_START",
      "TEXT_MESSAGE_CONTENT",
      "TEXT_MESSAGE_END",
      "TOOL_CALL_START",
      "TOOL_CALL_ARGS",
      "TOOL_CALL_ARGS",
      "TOOL_CALL_END",
      "TOOL_CALL_RESULT",
      "TEXT_MESSAGE_START",
      "TEXT_MESSAGE_CONTENT",
      "TEXT_MESSAGE_CONTENT",
      "TEXT_MESSAGE_END",
      "RUN_FINISHED",
    ]);
    expect(messages).toMatchObject([
      { role: "user" },
      { role: "assistant", content: "Let me look. ", toolCalls: [{ id: "c1" }] },
      { role: "tool", toolCallId: "c1", content: '{"city":"Bern","celsius":18}' },
      { role: "assistant", content: "It is 18 degrees." },
    ]);
    expect(asked[0]!.tools).toEqual([expect.objectContaining({ name: "weather" })]);
    expect(asked[0]!.tools[0]).not.toHaveProperty("invoke");
    expect(asked[1]!.messages).toMatchObject(
      messages.slice(0, 3).map((message) => ({ ...message, id: expect.any(String) })),
    );
  });

  test("streams text and arguments as they come", async () => {
    const gates = [deferred(), deferred()];
    const seen: string[] = [];
    const agent = createToolLoopAgent({
      generate: async function* (input) {
        if (input.messages.at(-1)?.role === "tool") return;
        yield "One";
        await gates[0]!.promise;
        yield {
          type: "TOOL_CALL_CHUNK",
          toolCallId: "c",
          toolCallName: "weather",
          delta: '{"city"',
        };
        await gates[1]!.promise;
        yield { type: "TOOL_CALL_CHUNK", toolCallId: "c", delta: ':"Bern"}' };
      },
      tools: [weather],
    });
    const watch = mapEvents((event) => {
      seen.push(event.type);
      // The next piece is made only when this one was passed on.
      if (event.type === EventType.TEXT_MESSAGE_CONTENT) gates[0]!.resolve();
      if (event.type === EventType.TOOL_CALL_ARGS) gates[1]!.resolve();
      return event;
    });
    const { toolCalls } = await runAgent(agent, { middleware: [watch] });
    expect(toolCalls).toMatchObject([{ argsText: '{"city":"Bern"}' }]);
    expect(seen.filter((type) => type === EventType.TOOL_CALL_ARGS)).toHaveLength(2);
  });

  test("runs parallel calls at once, in one message", async () => {
    const both = [deferred(), deferred()];
    const meet = defineTool({
      name: "meet",
      description: "Waits for the other one.",
      parameters: [{ name: "at", type: "integer" }],
      execute: async ({ at }) => {
        both[at as number]!.resolve();
        await both[1 - (at as number)]!.promise;
        return at;
      },
    });
    const { generate, asked } = scripted(
      [...call("a", "meet", '{"at":0}'), ...call("b", "meet", '{"at":1}')],
      ["Met."],
    );
    const { messages } = await runAgent(createToolLoopAgent({ generate, tools: [meet] }));
    expect(messages).toMatchObject([
      { role: "assistant", toolCalls: [{ id: "a" }, { id: "b" }] },
      { role: "tool" },
      { role: "tool" },
      { role: "assistant", content: "Met." },
    ]);
    const [, one, two] = asked[1]!.messages as { toolCallId?: string }[];
    expect([one?.toolCallId, two?.toolCallId]).toEqual(["a", "b"]);
  });

  test("reports to the model what went wrong, and goes on", async () => {
    const broken = defineTool({
      name: "broken",
      description: "Never works at all.",
      execute: () => Promise.reject(new Error("postgres://user:pw@db")),
    });
    const { generate, asked } = scripted(
      [
        ...call("a", "broken", "{}"),
        ...call("b", "weather", '{"city":5}'),
        ...call("c", "weather", '{"city":'),
        ...call("d", "nobody", "{}"),
        ...call("e", "weather", '{"city":"Bern"}'),
      ],
      ["Sorry."],
    );
    const agent = createToolLoopAgent({ generate, tools: [weather, broken] });
    const { text, toolCalls, error, outcome } = await runAgent(agent);
    const results = asked[1]!.messages.slice(-5).map(({ content }) => JSON.stringify(content));
    for (const [index, word] of [
      "tool-error",
      "city",
      "not JSON",
      "unknown-tool",
      "18",
    ].entries()) {
      expect(results[index]).toContain(word);
      expect(toolCalls[index]!.result).toContain(word);
    }
    expect(results.join()).not.toContain("postgres");
    expect([text, error, outcome]).toEqual(["Sorry.", undefined, { type: "success" }]);
  });

  test("answers a call itself that was refused on the model's side, unless the model has its answer", async () => {
    const refusal = (id: string, code = "unknown-tool"): AgentEvent => ({
      type: "TOOL_CALL_RESULT",
      toolCallId: id,
      messageId: `${id}-result`,
      content: "refused",
      metadata: { error: code },
    });
    const { generate, asked } = scripted(
      [
        ...call("a", "nobody", "{}"),
        refusal("a"),
        "I see, no nobody.",
        ...call("b", "nobody", "{}"),
        refusal("b"),
      ],
      ["Done."],
    );
    const { text, toolCalls, outcome } = await runAgent(createToolLoopAgent({ generate }));
    expect([text, outcome]).toEqual(["I see, no nobody.Done.", { type: "success" }]);
    expect(toolCalls.map(({ result }) => result)).toEqual([
      "refused",
      expect.stringContaining("Known:"),
    ]);
    const results = asked[1]!.messages.filter(({ role }) => role === "tool");
    expect(results.map(({ content }) => content)).toEqual(toolCalls.map(({ result }) => result));
  });

  test("takes a result that the model's own side has found for an answer", async () => {
    const { generate, asked } = scripted([
      ...call("a", "search", "{}"),
      { type: "TOOL_CALL_RESULT", toolCallId: "a", messageId: "m", content: "found" },
    ]);
    const { toolCalls } = await runAgent(createToolLoopAgent({ generate }));
    expect([asked.length, toolCalls[0]!.result]).toEqual([1, "found"]);
  });

  test("sums what the steps have spent", async () => {
    const { generate } = scripted(call("a", "weather", '{"city":"Bern"}'), ["18."]);
    const { usage } = await runAgent(createToolLoopAgent({ generate, tools: [weather] }));
    expect(usage).toMatchObject([{ model: "scripted", inputTokens: 20, outputTokens: 2 }]);
  });

  test("asks the model no more than it may, the last time without tools", async () => {
    const again = call("a", "weather", '{"city":"Bern"}');
    const { generate, asked } = scripted(
      again,
      again.map((event) => ({ ...event, toolCallId: "b" })),
      ["Enough."],
    );
    const { text } = await runAgent(
      createToolLoopAgent({ generate, tools: [weather], maxSteps: 3 }),
    );
    expect(asked.map(({ tools }) => tools.length)).toEqual([1, 1, 0]);
    expect(text).toBe("Enough.");
  });

  test("refuses the calls of a model that does not know when to stop", async () => {
    const asked = vi.fn();
    const agent = createToolLoopAgent({
      generate: async function* (input) {
        asked();
        yield* call(`c${input.messages.length}`, "weather", '{"city":"Bern"}');
      },
      tools: [weather],
      maxSteps: 2,
    });
    const { toolCalls, outcome } = await runAgent(agent);
    expect(asked).toHaveBeenCalledTimes(2);
    expect(toolCalls[1]!.result).toContain("No more than 2 steps");
    expect(outcome).toEqual({ type: "success" });
  });

  test("knows the handler's tools, its own before them, and none of the client's in their place", async () => {
    const { generate, asked } = scripted(call("a", "weather", '{"city":"Bern"}'), ["Done."]);
    const others = { ...weather, invoke: () => "the handler's" };
    const clock = defineTool({
      name: "clock",
      description: "What time it is now.",
      execute: () => 12,
    });
    const { toolCalls } = await runAgent(createToolLoopAgent({ generate, tools: [weather] }), {
      tools: [others, clock],
      clientTools: [pick, { ...pick, name: "clock" }, { ...pick, name: "weather" }],
    });
    expect(asked[0]!.tools.map(({ name }) => name)).toEqual(["weather", "clock", "pick"]);
    expect(toolCalls[0]!.result).toContain("celsius");
  });

  test("leaves the client's tools to the client, and goes on with its answer", async () => {
    const { generate, asked } = scripted(
      [...call("a", "weather", '{"city":"Bern"}'), ...call("b", "pick", '{"from":', "[1]}")],
      ["You took red."],
    );
    const agent = createToolLoopAgent({ generate, tools: [weather] });
    const first = await runAgent(agent, { message: "hi", clientTools: [pick] });
    expect(first.outcome).toEqual({ type: "success", pendingToolCallIds: ["b"] });
    expect(first.toolCalls[0]!.result).toContain("celsius");
    expect(asked).toHaveLength(1);
    const answer: Message = { id: "r", role: "tool", toolCallId: "b", content: "red" };
    const second = await runAgent(agent, {
      messages: [...first.messages, answer],
      clientTools: [pick],
    });
    expect(second.text).toBe("You took red.");
    expect(roles(asked[1]!.messages)).toBe("user,assistant,tool,tool");
  });

  test("gives the model an answer to every call, whatever the user did instead", async () => {
    const { generate, asked } = scripted(call("b", "pick", "{}"), ["All right."]);
    const agent = createToolLoopAgent({ generate });
    const first = await runAgent(agent, { message: "hi", clientTools: [pick] });
    const orphan: Message = { id: "x", role: "tool", toolCallId: "gone", content: "?" };
    await runAgent(agent, { messages: [orphan, ...first.messages], message: "Never mind." });
    expect(roles(asked[1]!.messages)).toBe("user,assistant,tool,user");
    expect(asked[1]!.messages[2]!.content).toContain("not answered");
  });

  test.for([
    [true, "paid", 1],
    [false, "approval-denied", 0],
  ] as const)("asks a person, and takes %s for an answer", async ([approved, words, times]) => {
    const execute = vi.fn(() => "paid");
    const pay = defineTool({
      name: "pay",
      description: "Pays an amount of money.",
      parameters: z.object({ amount: z.number() }),
      needsApproval: true,
      execute,
    });
    const { generate, asked } = scripted(
      [...call("a", "pay", '{"amount":5}'), ...call("b", "weather", '{"city":"Bern"}')],
      ["Well."],
    );
    const agent = createToolLoopAgent({ generate, tools: [pay, weather] });
    const first = await runAgent(agent, { message: "Pay!" });
    const { interrupts } = first.outcome as { interrupts: { id: string; toolCallId: string }[] };
    expect(interrupts).toMatchObject([{ toolCallId: "a" }]);
    expect(first.toolCalls[1]!.result).toContain("celsius");
    const resume = [
      { interruptId: interrupts[0]!.id, status: "resolved" as const, payload: { approved } },
    ];
    const second = await runAgent(agent, { after: first, resume });
    expect(execute).toHaveBeenCalledTimes(times);
    expect(second.text).toBe("Well.");
    expect(second.events[1]).toMatchObject({ type: "TOOL_CALL_RESULT", toolCallId: "a" });
    expect(roles(asked[1]!.messages)).toBe("user,assistant,tool,tool");
    expect(asked[1]!.messages[2]!.content).toContain(words);
  });

  test("stops the model when the run is stopped", async () => {
    const heard = deferred();
    const tidied = deferred();
    const controller = new AbortController();
    const agent = createToolLoopAgent({
      generate: async function* (_input, { signal }) {
        try {
          yield "I think";
          await new Promise((resolve) => signal.addEventListener("abort", resolve));
          yield "too late";
        } finally {
          tidied.resolve();
        }
      },
    });
    const listen = mapEvents((event) => {
      if (event.type === EventType.TEXT_MESSAGE_CONTENT) heard.resolve();
      return event;
    });
    const done = runAgent(agent, { signal: controller.signal, middleware: [listen] });
    await heard.promise;
    controller.abort();
    const { text, outcome } = await done;
    await tidied.promise;
    expect([text, outcome]).toEqual(["I think", { type: "cancelled" }]);
  });

  test("stops a model that does not listen, and asks it no more", async () => {
    const begun = deferred();
    const asked = vi.fn();
    const unsubscribed = deferred();
    const controller = new AbortController();
    const agent = createToolLoopAgent({
      generate: () => ({
        subscribe(observer) {
          asked();
          observer.next("I think");
          begun.resolve();
          return { unsubscribe: unsubscribed.resolve };
        },
      }),
    });
    const done = runAgent(agent, { signal: controller.signal });
    await begun.promise;
    controller.abort();
    await unsubscribed.promise;
    expect((await done).outcome).toEqual({ type: "cancelled" });
    expect(asked).toHaveBeenCalledOnce();
  });

  test.for<[string, AgentFunction, string]>([
    [
      "throws",
      () => {
        throw new Error("postgres://user:pw@db");
      },
      "agent-error",
    ],
    ["rejects", async () => Promise.reject(new Error("postgres://user:pw@db")), "agent-error"],
    [
      "says so",
      () => [{ type: "RUN_ERROR", message: "Too many tokens.", code: "vendor/tokens" }],
      "vendor/tokens",
    ],
  ])("fails with a model that %s", async ([, generate, code]) => {
    const { error } = await runAgent(createToolLoopAgent({ generate }));
    expect(error?.code).toBe(code);
    expect(error?.message).not.toContain("postgres");
  });

  test("passes on what else a model sends: reasoning, state, questions, its own tools' results", async () => {
    const seen: unknown[] = [];
    const agent = createToolLoopAgent({
      generate: async (input: RunAgentInput, { emit, state }: RunContext) => {
        seen.push(input.state);
        await emit.reasoning("Hm.");
        await state.set({ steps: 1 });
        const id = emit.toolCall("web_search", { q: "x" });
        await emit.toolResult(id, "found");
        emit.interrupt({ reason: "input_required", message: "Which one?" });
      },
    });
    const run = await runAgent(agent, { state: { steps: 0 } });
    expect([run.reasoning, run.state]).toEqual(["Hm.", { steps: 1 }]);
    expect(run.toolCalls).toMatchObject([{ name: "web_search", result: "found" }]);
    expect(run.outcome).toMatchObject({
      type: "interrupt",
      interrupts: [{ message: "Which one?" }],
    });
    expect(seen).toEqual([{ steps: 0 }]);
  });

  test("returns what the model returns", async () => {
    const agent = createToolLoopAgent({ generate: async () => ({ answer: 42 }) });
    const { events } = await runAgent(agent);
    expect(events.at(-1)).toMatchObject({ type: "RUN_FINISHED", result: { answer: 42 } });
  });

  test.for<[string, object, string]>([
    ["no model", {}, "generate must be a function"],
    ["no steps", { generate: scriptedAgent(["x"]), maxSteps: 0 }, "above 0, not 0"],
    [
      "two tools of a name",
      { generate: scriptedAgent(["x"]), tools: [weather, weather] },
      "tools[1]",
    ],
    ["an option it does not know", { generate: scriptedAgent(["x"]), model: 1 }, "model is not"],
  ])("is refused with %s", ([, options, words]) => {
    expect(() => createToolLoopAgent(options as never)).toThrow(words);
  });
});
