import { processDataStream } from "@ai-sdk/ui-utils";
import { AgentError } from "@holodeck/agui-core";
import { parseDataStreamV1, scriptedAgent } from "@holodeck/agui-testing";
import { describe, expect, test } from "vitest";
import { gate, load, serveChat } from "./_chat.ts";
import type { Loose } from "./_chat.ts";
import { receiveAssistantUi, receiveOldest, receiveV4 } from "./_v4-clients.ts";

const post = (api: string, body: object = {}): Promise<Response> =>
  fetch(api, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ id: "chat-1", messages: [{ role: "user", content: "hi" }], ...body }),
  });

const working = (): ReturnType<typeof scriptedAgent> =>
  scriptedAgent([
    "Let me see. ",
    (_, { emit }) => {
      const id = emit.toolCall("weather", { city: "Bern" }, { id: "call-1" });
      void emit.toolResult(id, { degrees: 20 });
    },
    "It is warm.",
  ]);

describe("data stream v1 on a socket", () => {
  test("has the headers of the protocol and of no proxy's buffer", async () => {
    const { api } = await serveChat(working());
    const response = await post(api);
    expect(response.status).toBe(200);
    expect(response.headers.get("content-type")).toBe("text/plain; charset=utf-8");
    expect(response.headers.get("x-vercel-ai-data-stream")).toBe("v1");
    expect(response.headers.get("cache-control")).toBe("no-cache, no-transform");
    expect(response.headers.get("x-accel-buffering")).toBe("no");
    const parts = await parseDataStreamV1(response);
    expect(parts[0]).toEqual({ type: "text", value: "" });
    expect(parts.filter(({ type }) => type === "finish_message")).toEqual([parts.at(-1)]);
  });

  test("has the headers of old when asked to", async () => {
    const { api } = await serveChat(working(), { legacyHeaders: true });
    const response = await post(api);
    expect(response.headers.get("content-encoding")).toBe("none");
    expect(response.headers.get("connection")).toBe("keep-alive");
    await response.body!.cancel();
  });

  test("begins before the agent has sent anything", async () => {
    const first = gate();
    const { api } = await serveChat(scriptedAgent([{ wait: first.opened }, "Hello"]));
    const response = await post(api);
    const reader = response.body!.getReader();
    const { value } = await reader.read();
    expect(new TextDecoder().decode(value)).toBe('0:""\n');
    first.open();
    await reader.cancel();
  });

  test.for([
    ["AI SDK 4", {}, receiveV4],
    ["AI SDK 3.4", { mode: "3.4" }, receiveOldest],
  ] as const)("answers callChatApi of %s, asked by itself", async ([, options, receive]) => {
    const seen: unknown[] = [];
    const { api } = await serveChat(async function* (input) {
      seen.push(input.messages.map(({ role, content }) => ({ role, content })));
      yield "Hello ";
      yield "world";
    }, options);
    const body = { id: "chat-1", messages: [{ id: "u", role: "user", content: "hi" }] };
    const received = await receive("", { api, fetch, body });
    expect(received.error).toBeUndefined();
    expect(received.message).toMatchObject({ role: "assistant", content: "Hello world" });
    expect(received.resubmits).toBe(false);
    expect(seen).toEqual([[{ role: "user", content: "hi" }]]);
  });

  test("is read by processDataStream, part by part", async () => {
    const { api } = await serveChat(working());
    const { body } = await post(api);
    const heard: Loose[] = [];
    await processDataStream({
      stream: body!,
      onTextPart: (text) => void (text && heard.push(text)),
      onToolCallPart: ({ toolName, args }) => void heard.push([toolName, args]),
      onToolResultPart: ({ result }) => void heard.push(result),
      onFinishMessagePart: ({ finishReason }) => void heard.push(finishReason),
    });
    expect(heard).toEqual([
      "Let me see. ",
      ["weather", { city: "Bern" }],
      { degrees: 20 },
      "It is warm.",
      "stop",
    ]);
  });

  test("is read by the client of AI SDK 3.4, in its mode", async () => {
    const { api } = await serveChat(working(), { mode: "3.4" });
    const { messages, error, finishReason, resubmits } = await receiveOldest(
      (await post(api)).body!,
    );
    expect(error).toBeUndefined();
    expect(finishReason).toBe("stop");
    expect(resubmits).toBe(false);
    expect(messages).toMatchObject([
      { content: "Let me see. ", toolInvocations: [{ toolName: "weather", state: "result" }] },
      { content: "It is warm." },
    ]);
  });

  test("is read by assistant-ui", async () => {
    const { api } = await serveChat(working());
    const message = await receiveAssistantUi((await post(api)).body!);
    expect(message).toMatchObject({
      status: { type: "complete", reason: "stop" },
      parts: [
        { type: "text", text: "Let me see. " },
        { type: "tool-call", toolName: "weather", args: { city: "Bern" }, result: { degrees: 20 } },
        { type: "text", text: "It is warm." },
      ],
    });
  });

  test("ends with the error and one d: when the agent fails, without the cause", async () => {
    const agent = scriptedAgent(["Hel", { throw: new Error("postgres://secret") }]);
    const { api } = await serveChat(agent);
    const text = await (await post(api)).text();
    expect(text).not.toContain("secret");
    const parts = parseDataStreamV1(text);
    expect(parts.slice(-2)).toMatchObject([
      { type: "error", value: "An error occurred." },
      { type: "finish_message", value: { finishReason: "error" } },
    ]);
  });

  test("shows the truth to a developer", async () => {
    const agent = scriptedAgent([{ throw: new Error("no such table") }]);
    const { api } = await serveChat(agent, {}, { debug: true });
    const parts = parseDataStreamV1(await (await post(api)).text());
    expect(parts.at(-2)).toEqual({ type: "error", value: "no such table" });
  });

  test("sends an author's own words by onError", async () => {
    const agent = scriptedAgent([{ throw: new AgentError("rate-limited", "Try later.") }]);
    const onError = ({ message, code }: Loose): string => `${code}: ${message}`;
    const { api } = await serveChat(agent, { onError });
    const parts = parseDataStreamV1(await (await post(api)).text());
    expect(parts.at(-2)).toEqual({ type: "error", value: "rate-limited: Try later." });
  });

  test("answers a question about a call with the call's result", async () => {
    const agent = scriptedAgent(
      [
        (_, { emit }) => {
          const toolCallId = emit.toolCall("delete", { id: 7 }, { id: "call-7" });
          emit.interrupt({ id: "i1", reason: "tool_call", toolCallId });
        },
      ],
      ["Deleted."],
    );
    const { api } = await serveChat(agent);
    const asked = parseDataStreamV1(await (await post(api)).text());
    expect(asked.at(-1)?.value).toMatchObject({ finishReason: "tool-calls" });
    const invocation = {
      state: "result",
      toolCallId: "call-7",
      toolName: "delete",
      args: { id: 7 },
      result: { approved: true },
    };
    const answer = await post(api, {
      messages: [
        { role: "user", content: "hi" },
        {
          role: "assistant",
          content: "",
          parts: [{ type: "tool-invocation", toolInvocation: invocation }],
        },
      ],
    });
    expect(parseDataStreamV1(await answer.text())).toContainEqual({
      type: "text",
      value: "Deleted.",
    });
    expect(agent.inputs[1]!.resume).toEqual([
      { interruptId: "i1", status: "resolved", payload: { approved: true } },
    ]);
  });

  test("keeps no thread for a completion, which no client could come back to", async () => {
    const { api, handler } = await serveChat(
      scriptedAgent(["Once"]),
      {},
      {
        limits: { maxSessions: 1 },
      },
    );
    const prompt = { id: undefined, messages: undefined, prompt: "Tell me" };
    for (let round = 0; round < 3; round++) {
      const response = await post(api, prompt);
      expect(response.status).toBe(200);
      expect(await response.text()).toContain('0:"Once"');
    }
    const { items } = await handler.sessions.list({ principal: "", limit: 10 });
    expect(items).toEqual([]);
  });

  test("leaves a message that the AI SDK's own server can read", async () => {
    const { convertToCoreMessages } = load("ai-4");
    const { api } = await serveChat(working());
    const { message } = await receiveV4((await post(api)).body!);
    const core = convertToCoreMessages([{ role: "user", content: "hi" }, message]);
    expect(core.map(({ role }: Loose) => role)).toEqual(["user", "assistant", "tool", "assistant"]);
  });
});
