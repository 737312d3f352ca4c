import { createAgentHandler } from "@holodeck/agui";
import { silentLogger } from "@holodeck/agui-core";
import type { AgentLike } from "@holodeck/agui-core";
import { runAgent } from "@holodeck/agui-testing";
import { createToolLoopAgent, defineTool } from "@holodeck/agui-tools";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { fromAiSdk, toAiSdkMessages, toAiSdkTools } from "../../src/ai-sdk/index.ts";
import { eventsOf, gate, post } from "../_helpers.ts";
import { call, finish, scriptedModel, sdks, text } from "./_models.ts";
import type { Loose } from "./_models.ts";

const quiet = { onError: () => {} };

describe.for(sdks)("fromAiSdk with AI SDK $major", (sdk) => {
  const { streamText, tool, jsonSchema } = sdk.ai;

  test("sends the text in pieces, and the tokens with the model's name", async () => {
    const model = scriptedModel(sdk, [...text("Hello ", "", "world"), finish(sdk)]);
    const agent = fromAiSdk(({ messages }, { signal }) =>
      streamText({ model, messages: toAiSdkMessages(messages), abortSignal: signal }),
    );
    const sink = await runAgent(agent, { message: "hi" });
    expect(sink.error).toBeUndefined();
    expect(sink.events.map(({ type }) => type)).toEqual([
      "RUN_STARTED",
      "TEXT_MESSAGE_START",
      "TEXT_MESSAGE_CONTENT",
      "TEXT_MESSAGE_CONTENT",
      "TEXT_MESSAGE_END",
      "RUN_FINISHED",
    ]);
    expect(sink.text).toBe("Hello world");
    expect(sink.events.at(-1)!.usage).toMatchObject([
      { model: "scripted-1", inputTokens: 3, outputTokens: 5, totalTokens: 8 },
    ]);
    expect(model.doStreamCalls[0].prompt).toMatchObject([
      { role: "user", content: [{ type: "text", text: "hi" }] },
    ]);
  });

  test("is what a generator yields, among other things", async () => {
    const model = scriptedModel(sdk, [...text("one"), finish(sdk)], [...text("two"), finish(sdk)]);
    const agent: AgentLike = async function* (_input, context) {
      yield "zero ";
      yield* fromAiSdk(streamText({ model, prompt: "a" }).fullStream, context);
      yield* fromAiSdk(streamText({ model, prompt: "b" }), context);
      yield " three";
    };
    const sink = await runAgent(agent, { message: "hi" });
    expect(sink.error).toBeUndefined();
    expect(sink.text).toBe("zero onetwo three");
    // Every answer has a message of its own, although the model calls all of them "0".
    expect(sink.messages.filter(({ role }) => role === "assistant")).toHaveLength(4);
    expect(sink.events.at(-1)!.usage).toMatchObject([{ inputTokens: 6, outputTokens: 10 }]);
  });

  test("shows the model's reasoning apart from its text", async () => {
    const thought = [
      { type: "reasoning-start", id: "0" },
      { type: "reasoning-delta", id: "0", delta: "Hm, " },
      { type: "reasoning-delta", id: "0", delta: "yes." },
      { type: "reasoning-end", id: "0" },
    ];
    const model = scriptedModel(sdk, [...thought, ...text("Yes."), finish(sdk)]);
    const sink = await runAgent(() => fromAiSdk(streamText({ model, prompt: "hi" })));
    expect(sink.error).toBeUndefined();
    expect(sink.messages).toMatchObject([
      { role: "reasoning", content: "Hm, yes." },
      { role: "assistant", content: "Yes." },
    ]);
  });

  test("shows the tools it runs, with streamed arguments, over several steps", async () => {
    const model = scriptedModel(
      sdk,
      [
        ...text("Let me look."),
        ...call("call-1", "weather", '{"city":"Bern"}'),
        ...call("call-2", "broken", "{}"),
        finish(sdk, "tool-calls"),
      ],
      [...text("18 degrees."), finish(sdk)],
    );
    const tools = {
      weather: tool({
        description: "The weather.",
        inputSchema: z.object({ city: z.string() }),
        execute: async ({ city }: Loose) => ({ city, celsius: 18 }),
      }),
      broken: tool({
        description: "Fails.",
        inputSchema: z.object({}),
        execute: async () => {
          throw new Error("password hunter2");
        },
      }),
    };
    const agent = fromAiSdk(() =>
      streamText({ model, prompt: "hi", tools, stopWhen: sdk.ai.stepCountIs(3) }),
    );
    const sink = await runAgent(agent);
    expect(sink.error).toBeUndefined();
    expect(sink.text).toBe("Let me look.18 degrees.");
    expect(sink.messages).toMatchObject([
      {
        role: "assistant",
        content: "Let me look.",
        toolCalls: [
          { id: "call-1", function: { name: "weather", arguments: '{"city":"Bern"}' } },
          { id: "call-2", function: { name: "broken", arguments: "{}" } },
        ],
      },
      { role: "tool" },
      { role: "tool" },
      { role: "assistant", content: "18 degrees." },
    ]);
    const args = sink.events.filter(({ toolCallId }) => toolCallId === "call-1");
    expect(args.filter(({ type }) => type === "TOOL_CALL_ARGS").length).toBeGreaterThan(2);
    expect(JSON.stringify(sink.events)).not.toContain("hunter2");
    // They ran at the same time, so that either may come first.
    const results = sink.messages.filter((message) => message.role === "tool");
    const contentOf = (id: string): unknown =>
      JSON.parse(results.find(({ toolCallId }) => toolCallId === id)!.content as string);
    expect(contentOf("call-1")).toEqual({ city: "Bern", celsius: 18 });
    expect(contentOf("call-2")).toEqual({
      error: { code: "tool-error", message: 'The tool "broken" failed.' },
    });
    expect(sink.events.at(-1)!.usage).toMatchObject([{ inputTokens: 6 }]);
  });

  test("leaves the client's tools to the client, and brings back what it answered", async () => {
    const model = scriptedModel(
      sdk,
      [...call("call-1", "where", "{}"), finish(sdk, "tool-calls")],
      [...text("So you are in Bern."), finish(sdk)],
    );
    const agent = fromAiSdk(({ messages, tools }) =>
      streamText({
        model,
        messages: toAiSdkMessages(messages),
        tools: toAiSdkTools(tools, jsonSchema),
      }),
    );
    const parameters = { type: "object", properties: { exact: { type: "boolean" } } };
    const clientTools = [{ name: "where", description: "Where the user is.", parameters }];
    const first = await runAgent(agent, { message: "Where am I?", clientTools });
    expect(first.error).toBeUndefined();
    expect(first.events.at(-1)).toMatchObject({ outcome: { pendingToolCallIds: ["call-1"] } });
    expect(model.doStreamCalls[0].tools).toMatchObject([
      { name: "where", inputSchema: { properties: { exact: { type: "boolean" } } } },
    ]);
    const answer = { id: "t1", role: "tool" as const, toolCallId: "call-1", content: "Bern" };
    const second = await runAgent(agent, {
      messages: [...first.messages, answer],
      clientTools,
    });
    expect(second.error).toBeUndefined();
    expect(second.text).toBe("So you are in Bern.");
    expect(model.doStreamCalls[1].prompt).toMatchObject([
      { role: "user" },
      { role: "assistant", content: [{ type: "tool-call", toolName: "where" }] },
      { role: "tool", content: [{ output: { type: "text", value: "Bern" } }] },
    ]);
  });

  test("runs server tools in the loop of the handler's own tools", async () => {
    const model = scriptedModel(
      sdk,
      [...call("call-1", "weather", '{"city":"Bern"}'), finish(sdk, "tool-calls")],
      [...text("18 degrees."), finish(sdk)],
    );
    const weather = defineTool({
      name: "weather",
      description: "The weather of a city.",
      parameters: z.object({ city: z.string() }),
      execute: ({ city }) => ({ city, celsius: 18 }),
    });
    const generate = fromAiSdk(({ messages, tools }) =>
      streamText({
        model,
        messages: toAiSdkMessages(messages),
        tools: toAiSdkTools(tools, jsonSchema),
      }),
    );
    const agent = createToolLoopAgent({ generate, tools: [weather] });
    const sink = await runAgent(agent, { message: "Weather?" });
    expect(sink.error).toBeUndefined();
    expect(sink.text).toBe("18 degrees.");
    expect(sink.events.at(-1)!.usage).toMatchObject([{ inputTokens: 6, outputTokens: 10 }]);
    expect(model.doStreamCalls[1].prompt.at(-1)).toMatchObject({
      role: "tool",
      content: [{ toolCallId: "call-1", output: { value: '{"city":"Bern","celsius":18}' } }],
    });
  });

  test("leaves calls that it cannot read to the loop, which reports them to the model and goes on", async () => {
    const model = scriptedModel(
      sdk,
      [
        ...text("Let me see."),
        ...call("call-1", "wether", '{"city":"Bern"}'),
        ...call("call-2", "weather", '{"city":'),
        ...call("call-3", "where", "{"),
        finish(sdk, "tool-calls"),
      ],
      [...text("I cannot."), finish(sdk)],
    );
    const weather = defineTool({
      name: "weather",
      description: "The weather of a city.",
      parameters: z.object({ city: z.string() }),
      execute: ({ city }) => ({ city, celsius: 18 }),
    });
    const where = { name: "where", description: "Where the user is.", parameters: {} };
    const generate = fromAiSdk(({ messages, tools }) =>
      streamText({
        model,
        messages: toAiSdkMessages(messages),
        tools: toAiSdkTools(tools, jsonSchema),
        ...quiet,
      }),
    );
    const agent = createToolLoopAgent({ generate, tools: [weather] });
    const sink = await runAgent(agent, { message: "Weather?", clientTools: [where] });
    expect(sink.outcome).toEqual({ type: "success" });
    expect(sink.text).toBe("Let me see.I cannot.");
    const results = sink.toolCalls.map(({ name, result }) => [name, result]);
    expect(results).toEqual([
      ["wether", expect.stringContaining("unknown-tool")],
      ["weather", expect.stringContaining("not JSON")],
      ["where", expect.stringContaining("not JSON")],
    ]);
    const heard = JSON.stringify(model.doStreamCalls[1].prompt.slice(2));
    for (const id of ["call-1", "call-2", "call-3"]) expect(heard).toContain(id);
    expect(heard.match(/not JSON/g)).toHaveLength(2);
  });

  test("reports what was wrong with a call when the AI SDK has answered the model itself", async () => {
    const weather = tool({
      description: "The weather of a city.",
      inputSchema: z.object({ city: z.string() }),
      execute: () => 18,
    });
    const stopWhen = sdk.ai.stepCountIs(3);
    for (const serve of [
      (agent: AgentLike) => agent,
      (generate: AgentLike) => createToolLoopAgent({ generate }),
    ]) {
      const model = scriptedModel(
        sdk,
        [
          ...call("call-1", "wether", '{"city":"Bern"}'),
          ...call("call-2", "weather", '{"city":'),
          ...text("Wait."),
          finish(sdk, "tool-calls"),
        ],
        [...text("I cannot."), finish(sdk)],
      );
      const agent = fromAiSdk(() =>
        streamText({ model, prompt: "hi", tools: { weather }, stopWhen, ...quiet }),
      );
      const sink = await runAgent(serve(agent), { message: "Weather?" });
      expect(sink.text).toBe("Wait.I cannot.");
      expect(sink.toolCalls.map(({ result }) => JSON.parse(result as string))).toEqual([
        { error: { code: "unknown-tool", message: 'There is no tool "wether".' } },
        {
          error: {
            code: "invalid-arguments",
            message: 'The arguments of "weather" are not valid.',
          },
        },
      ]);
      expect(model.doStreamCalls).toHaveLength(2);
    }
  });

  test("hands on sources and files", async () => {
    const source = {
      type: "source",
      sourceType: "url",
      id: "s1",
      url: "https://a.example",
      title: "A",
    };
    const file = { type: "file", mediaType: "image/png", data: "AAAA" };
    const data = sdk.major === 7 ? { data: { type: "data", data: "AAAA" } } : {};
    const model = scriptedModel(sdk, [source, { ...file, ...data }, ...text("x"), finish(sdk)]);
    const sink = await runAgent(() => fromAiSdk(streamText({ model, prompt: "hi" })));
    expect(sink.error).toBeUndefined();
    expect(sink.events.filter(({ type }) => type === "CUSTOM")).toMatchObject([
      { name: "source-url", value: { sourceId: "s1", url: "https://a.example", title: "A" } },
      { name: "file", value: { mediaType: "image/png", url: "data:image/png;base64,AAAA" } },
    ]);
  });

  test("fails when the model fails, without the cause", async () => {
    const error = new Error("key sk-1234 is wrong");
    const model = scriptedModel(sdk, [
      { type: "text-start", id: "0" },
      { type: "text-delta", id: "0", delta: "He" },
      { type: "error", error },
    ]);
    const logged: unknown[] = [];
    const logger = { ...silentLogger, error: (fields: object) => void logged.push(fields) };
    const handler = createAgentHandler(
      fromAiSdk(() => streamText({ model, prompt: "hi", ...quiet })),
      { logger },
    );
    const events = await eventsOf(await handler.fetch(post()));
    expect(events.at(-1)).toMatchObject({ type: "RUN_ERROR", code: "agent-error" });
    expect(JSON.stringify(events)).not.toContain("sk-1234");
    expect(logged).toMatchObject([{ error }]);
    await handler.close();
  });

  test("stops the model with the run", async () => {
    let seen: AbortSignal | undefined;
    const begun = gate();
    const model = new sdk.Model({
      doStream: async ({ abortSignal }: Loose) => {
        seen = abortSignal;
        return {
          stream: new ReadableStream({
            start(controller) {
              for (const chunk of text("Hi").slice(0, 2)) controller.enqueue(chunk);
              abortSignal.addEventListener("abort", () => controller.error(abortSignal.reason));
              begun.open();
            },
          }),
        };
      },
    });
    const stop = new AbortController();
    const agent = fromAiSdk((_input, { signal }) =>
      streamText({ model, prompt: "hi", abortSignal: signal, ...quiet }),
    );
    const running = runAgent(agent, { signal: stop.signal });
    await begun.opened;
    stop.abort();
    const sink = await running;
    expect(sink.events.at(-1)).toMatchObject({ outcome: { type: "cancelled" } });
    expect(seen!.aborted).toBe(true);
  });

  test("ends as stopped when the author's own signal stops the model", async () => {
    const own = new AbortController();
    const model = new sdk.Model({
      doStream: async ({ abortSignal }: Loose) => ({
        stream: new ReadableStream({
          start(controller) {
            for (const chunk of text("Hi").slice(0, 2)) controller.enqueue(chunk);
            abortSignal.addEventListener("abort", () => controller.error(abortSignal.reason));
          },
        }),
      }),
    });
    const agent: AgentLike = async function* (_input, context) {
      const result = streamText({ model, prompt: "hi", abortSignal: own.signal, ...quiet });
      for await (const event of fromAiSdk(result, context)) {
        yield event;
        if (event.type === "TEXT_MESSAGE_CONTENT") own.abort();
      }
    };
    const sink = await runAgent(agent);
    expect(sink.text).toBe("Hi");
    expect(sink.events.at(-1)).toMatchObject({
      type: "RUN_FINISHED",
      outcome: { type: "cancelled" },
    });
  });
});

describe.for(sdks.filter(({ major }) => major > 5))("approvals of AI SDK $major", (sdk) => {
  const { streamText, tool } = sdk.ai;
  const script = () =>
    scriptedModel(
      sdk,
      [...call("call-1", "remove", '{"id":7}'), finish(sdk, "tool-calls")],
      [...text("Done."), finish(sdk)],
    );

  function agentOf(model: Loose, removed: unknown[]): AgentLike {
    const execute = async ({ id }: Loose): Promise<string> => {
      removed.push(id);
      return `Removed ${id}.`;
    };
    const inputSchema = z.object({ id: z.number() });
    const tools = {
      remove: tool({ description: "Removes.", inputSchema, needsApproval: true, execute }),
    };
    return fromAiSdk(({ messages }, { session }) =>
      streamText({
        model,
        messages: toAiSdkMessages(messages, { answers: session.answers }),
        tools,
        stopWhen: sdk.ai.stepCountIs(3),
      }),
    );
  }

  test("ask a person, and go on with a yes", async () => {
    const removed: unknown[] = [];
    const agent = agentOf(script(), removed);
    const first = await runAgent(agent, { message: "Remove 7." });
    expect(first.error).toBeUndefined();
    const { outcome } = first.events.at(-1) as Loose;
    expect(outcome).toMatchObject({
      type: "interrupt",
      interrupts: [{ reason: "tool_call", toolCallId: "call-1" }],
    });
    expect(removed).toEqual([]);
    const interruptId: string = outcome.interrupts[0].id;
    const second = await runAgent(agent, {
      after: first,
      resume: [{ interruptId, status: "resolved", payload: { approved: true } }],
    });
    expect(second.error).toBeUndefined();
    expect(removed).toEqual([7]);
    expect(second.text).toBe("Done.");
    expect(second.messages.find(({ role }) => role === "tool")).toMatchObject({
      toolCallId: "call-1",
      content: "Removed 7.",
    });
  });

  test("ask a person, and leave it with a no", async () => {
    const removed: unknown[] = [];
    const agent = agentOf(script(), removed);
    const first = await runAgent(agent, { message: "Remove 7." });
    const interruptId: string = (first.events.at(-1) as Loose).outcome.interrupts[0].id;
    const second = await runAgent(agent, {
      after: first,
      resume: [{ interruptId, status: "resolved", payload: { approved: false } }],
    });
    expect(second.error).toBeUndefined();
    expect(removed).toEqual([]);
    expect(second.text).toBe("Done.");
  });

  test("names what is missing to ask a person", async () => {
    const agent: AgentLike = () =>
      fromAiSdk(
        streamText({
          model: script(),
          prompt: "hi",
          tools: {
            remove: tool({ inputSchema: z.object({ id: z.number() }), needsApproval: true }),
          },
        }),
      );
    const sink = await runAgent(agent, { debug: true });
    expect(sink.error?.message).toContain("fromAiSdk(stream, context)");
  });
});

test("names what it takes when it gets something else", () => {
  expect(() => fromAiSdk("text" as never)).toThrow(
    'fromAiSdk takes the result of streamText or its fullStream, not "text".',
  );
});
