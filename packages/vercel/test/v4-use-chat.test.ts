import { scriptedAgent } from "@holodeck/agui-testing";
import { describe, expect, test } from "vitest";
import { gate, serveChat } from "./_chat.ts";
import type { Loose } from "./_chat.ts";
import { renderHook } from "./_v4-page.ts";

const isDone = ({ status }: Loose): boolean => status === "ready" || status === "error";
const last = ({ messages }: Loose): Loose => messages.at(-1);

describe("useChat of AI SDK 4", () => {
  test("shows the answer as it comes", async () => {
    const seen = gate();
    const agent = scriptedAgent(["Hello ", { wait: seen.opened }, "world"]);
    const { api } = await serveChat(agent);
    const finished: Loose[] = [];
    const onFinish = (message: Loose, info: Loose): unknown => finished.push({ message, info });
    const chat = await renderHook("useChat", { api, id: "chat-1", onFinish });
    void chat.current.append({ role: "user", content: "hi" });
    await chat.until((now) => last(now)?.content === "Hello ");
    expect(chat.current.status).toBe("streaming");
    seen.open();
    await chat.until(isDone);
    expect(chat.current.messages.map(({ role, content }: Loose) => [role, content])).toEqual([
      ["user", "hi"],
      ["assistant", "Hello world"],
    ]);
    expect(finished).toMatchObject([
      { message: { content: "Hello world" }, info: { finishReason: "stop" } },
    ]);
    expect(agent.inputs[0]).toMatchObject({
      threadId: "chat-1",
      messages: [{ role: "user", content: "hi" }],
    });
  });

  test("has the tokens, the reasoning, the sources and the files of an answer", async () => {
    const agent = scriptedAgent([
      (_, { emit }) => void emit.reasoning("Hmm."),
      "Answer",
      (_, { emit }) => {
        void emit.custom("source-url", { url: "https://example.com", title: "Example" });
        void emit.custom("file", { url: "data:image/png;base64,AA==", mediaType: "image/png" });
        emit.usage({ model: "m", inputTokens: 3, outputTokens: 4 });
      },
    ]);
    const { api } = await serveChat(agent);
    const usages: Loose[] = [];
    const onFinish = (_: Loose, { usage }: Loose): unknown => usages.push(usage);
    const chat = await renderHook("useChat", { api, onFinish });
    await chat.current.append({ role: "user", content: "hi" });
    await chat.until(isDone);
    const shown = last(chat.current).parts.filter((part: Loose) => part.type !== "step-start");
    expect(shown.filter((part: Loose) => part.text !== "")).toMatchObject([
      { type: "reasoning", reasoning: "Hmm." },
      { type: "text", text: "Answer" },
      { type: "source", source: { url: "https://example.com", title: "Example" } },
      { type: "file", mimeType: "image/png", data: "AA==" },
    ]);
    expect(usages).toEqual([{ promptTokens: 3, completionTokens: 4, totalTokens: 7 }]);
  });

  test("runs a tool of the client's and goes on in the same message", async () => {
    const agent = scriptedAgent(
      ["Let me ask. ", (_, { emit }) => void emit.toolCall("confirm", { n: 1 }, { id: "call-1" })],
      ["Thank you."],
    );
    const { api } = await serveChat(agent);
    const chat = await renderHook("useChat", { api, id: "chat-1", maxSteps: 5 });
    await chat.current.append({ role: "user", content: "hi" });
    await chat.until((now) => isDone(now) && last(now).toolInvocations?.[0]?.state === "call");
    expect(last(chat.current).toolInvocations).toMatchObject([
      { toolCallId: "call-1", toolName: "confirm", args: { n: 1 } },
    ]);
    chat.current.addToolResult({ toolCallId: "call-1", result: { yes: true } });
    await chat.until((now) => isDone(now) && last(now).content === "Let me ask. Thank you.");
    expect(chat.current.messages).toHaveLength(2);
    expect(agent.inputs).toHaveLength(2);
    expect(agent.inputs[1]!.messages).toMatchObject([
      { role: "user" },
      { role: "assistant", content: "Let me ask. ", toolCalls: [{ id: "call-1" }] },
      { role: "tool", toolCallId: "call-1", content: '{"yes":true}' },
    ]);
  });

  test("does not send a finished server tool back", async () => {
    const tools = [
      { name: "weather", description: "", invoke: () => Promise.resolve({ degrees: 20 }) },
    ];
    const agent = scriptedAgent([
      async (_, context) => void (await context.callTool("weather", { city: "Bern" })),
    ]);
    const { api } = await serveChat(agent, {}, { tools });
    const chat = await renderHook("useChat", { api, maxSteps: 5 });
    await chat.current.append({ role: "user", content: "hi" });
    await chat.until(isDone);
    expect(last(chat.current).toolInvocations).toMatchObject([
      { toolName: "weather", state: "result", args: { city: "Bern" }, result: { degrees: 20 } },
    ]);
    expect(agent.inputs).toHaveLength(1);
    // The result comes back with the next question, as the server knows it.
    await chat.current.append({ role: "user", content: "and now?" });
    await chat.until((now) => isDone(now) && now.messages.length === 4);
    expect(agent.inputs[1]!.messages.map(({ role }) => role)).toEqual([
      "user",
      "assistant",
      "tool",
      "user",
    ]);
  });

  test("does not send the chat again after an error behind a tool", async () => {
    const agent = scriptedAgent([
      (_, { emit }) => {
        const id = emit.toolCall("look", {});
        void emit.toolResult(id, "seen");
      },
      { throw: new Error("postgres://secret") },
    ]);
    const { api } = await serveChat(agent);
    const errors: Loose[] = [];
    const chat = await renderHook("useChat", {
      api,
      maxSteps: 5,
      onError: (error: Loose) => errors.push(error.message),
    });
    await chat.current.append({ role: "user", content: "hi" });
    await chat.until(isDone);
    expect(chat.current.status).toBe("error");
    expect(errors).toEqual(["An error occurred."]);
    expect(agent.inputs).toHaveLength(1);
  });

  test("shows what a workflow does, and the questions to ask next", async () => {
    const agent = scriptedAgent([
      (_, { emit }) => {
        const event = { agent: "writer", type: "text", text: "Writing", data: null };
        emit.activity("agent", event);
        emit.activity("agent", {
          agent: "writer",
          type: "progress",
          text: "Page",
          data: { id: "p", total: 2, current: 1 },
        });
        void emit.custom("suggested_questions", ["And then?"]);
        void emit.custom("mood", { happy: true });
      },
      "Done.",
    ]);
    const { api } = await serveChat(agent);
    const chat = await renderHook("useChat", { api });
    await chat.current.append({ role: "user", content: "hi" });
    await chat.until(isDone);
    expect(last(chat.current).annotations).toEqual([
      { type: "agent", data: { agent: "writer", type: "text", text: "Writing", data: null } },
      {
        type: "agent",
        data: {
          agent: "writer",
          type: "progress",
          text: "Page",
          data: { id: "p", total: 2, current: 1 },
        },
      },
      { type: "suggested_questions", data: ["And then?"] },
    ]);
    expect(chat.current.data).toContainEqual({ type: "mood", data: { happy: true } });
  });

  test("sends attachments along", async () => {
    const agent = scriptedAgent(["Nice."]);
    const { api } = await serveChat(agent);
    const chat = await renderHook("useChat", { api });
    await chat.current.append(
      { role: "user", content: "look" },
      {
        experimental_attachments: [
          { name: "a.png", contentType: "image/png", url: "data:image/png;base64,AA==" },
          { contentType: "application/pdf", url: "https://example.com/a.pdf" },
        ],
        body: { theme: "dark" },
        data: { page: 3 },
      },
    );
    await chat.until(isDone);
    expect(agent.inputs[0]).toMatchObject({
      messages: [
        {
          content: [
            { type: "text", text: "look" },
            {
              type: "image",
              source: { type: "data", value: "AA==", mimeType: "image/png" },
              metadata: { filename: "a.png" },
            },
            { type: "document", source: { type: "url", value: "https://example.com/a.pdf" } },
          ],
        },
      ],
      forwardedProps: { theme: "dark", data: { page: 3 } },
    });
  });

  test("stops the agent when the user does", async () => {
    const stopped = gate();
    const agent = scriptedAgent([
      "Hello",
      (_, { signal }) => signal.addEventListener("abort", () => stopped.open()),
      { hang: true },
    ]);
    const { api } = await serveChat(agent);
    const chat = await renderHook("useChat", { api });
    void chat.current.append({ role: "user", content: "hi" });
    await chat.until((now) => last(now)?.content === "Hello");
    chat.current.stop();
    await stopped.opened;
    await chat.until(isDone);
    expect(chat.current.status).toBe("ready");
  });

  test("stops for every client by the stop route", async () => {
    const { api } = await serveChat(scriptedAgent(["Hello", { hang: true }]));
    const reasons: Loose[] = [];
    const onFinish = (_: Loose, { finishReason }: Loose): unknown => reasons.push(finishReason);
    const chat = await renderHook("useChat", { api, id: "chat-1", onFinish });
    void chat.current.append({ role: "user", content: "hi" });
    await chat.until((now) => last(now)?.content === "Hello");
    const { status } = await fetch(`${api}/chat-1/stop`, { method: "POST" });
    expect(status).toBe(202);
    await chat.until(isDone);
    expect(reasons).toEqual(["other"]);
    expect(last(chat.current).content).toBe("Hello");
  });

  test("resumes when the page is loaded again, with nothing lost and nothing twice", async () => {
    const seen = gate();
    const agent = scriptedAgent(["Hello ", { wait: seen.opened }, "world"]);
    const { api } = await serveChat(agent, {}, { onDisconnect: "continue" });
    const messages = [{ id: "u", role: "user", content: "hi" }];
    const response = await fetch(api, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ id: "chat-1", messages }),
    });
    await response.body!.cancel();
    const chat = await renderHook("useChat", {
      api,
      id: "chat-1",
      initialMessages: messages,
    });
    chat.current.experimental_resume();
    await chat.until((now) => last(now)?.content === "Hello ");
    seen.open();
    await chat.until((now) => isDone(now) && last(now)?.content === "Hello world");
    expect(chat.current.messages).toHaveLength(2);
    expect(agent.inputs).toHaveLength(1);
  });

  test("finds nothing to resume, and that is no error", async () => {
    const { api } = await serveChat(scriptedAgent(["Hello"]));
    const chat = await renderHook("useChat", { api, id: "chat-1" });
    chat.current.experimental_resume();
    await chat.until(({ status }) => status === "submitted");
    await chat.until(isDone);
    expect(chat.current.error).toBeUndefined();
  });

  test("reads plain text with streamProtocol text", async () => {
    const agent = scriptedAgent([
      (_, { emit }) => void emit.reasoning("Hmm."),
      "Hello ",
      (_, { emit }) => void emit.custom("mood", 1),
      "wörld",
    ]);
    const { api } = await serveChat(agent, { protocol: "text" });
    const chat = await renderHook("useChat", { api, streamProtocol: "text" });
    await chat.current.append({ role: "user", content: "hi" });
    await chat.until(isDone);
    expect(last(chat.current)).toMatchObject({ role: "assistant", content: "Hello wörld" });
  });
});

describe("useCompletion of AI SDK 4", () => {
  test("completes a prompt", async () => {
    const agent = scriptedAgent(["Once ", "upon a time"]);
    const { api } = await serveChat(agent);
    const completion = await renderHook("useCompletion", { api, body: { style: "short" } });
    await completion.current.complete("Tell me");
    await completion.until(({ isLoading }) => !isLoading);
    expect(completion.current.completion).toBe("Once upon a time");
    expect(agent.inputs[0]).toMatchObject({
      messages: [{ role: "user", content: "Tell me" }],
      forwardedProps: { style: "short" },
    });
  });

  test("shows that something failed, and not what", async () => {
    const { api } = await serveChat(scriptedAgent(["Hel", { throw: new Error("secret") }]));
    const completion = await renderHook("useCompletion", { api });
    await completion.current.complete("Tell me");
    await completion.until(({ error }) => error !== undefined);
    expect(completion.current.error.message).toBe("An error occurred.");
    expect(completion.current.completion).toBe("Hel");
  });
});
