import { AgentError, defaultLimits } from "@holodeck/agui-core";
import type { Limits, Message } from "@holodeck/agui-core";
import { dataStreamEncoder, decodeV4 } from "@holodeck/agui-vercel";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { validRun } from "../../core/test/guard-valid-runs.ts";
import { encodeAll, receiveV4, toBody, toLog } from "./_v4-clients.ts";

type Body = Record<string, unknown>;

const decode = (body: Body, limits: Partial<Limits> = {}): ReturnType<typeof decodeV4> =>
  decodeV4(body, { runId: "run", limits: { ...defaultLimits, ...limits } });
const messagesOf = (...messages: unknown[]): readonly Message[] =>
  decode({ messages }).input.messages;
const invocation = (state: string, more: Body = {}): Body => ({
  state,
  toolCallId: "c1",
  toolName: "look",
  args: { at: 1 },
  ...more,
});
const tool = (state: string, more: Body = {}): Body => ({
  type: "tool-invocation",
  toolInvocation: invocation(state, more),
});
const look = {
  id: "c1",
  type: "function",
  function: { name: "look", arguments: '{"at":1}' },
};

describe("a request of AI SDK 4", () => {
  test("becomes a run of the chat's thread", () => {
    const body = { id: "chat-1", messages: [{ role: "user", content: "hi", parts: [] }] };
    expect(decode(body)).toEqual({
      input: {
        threadId: "chat-1",
        runId: "run",
        messages: [{ id: "message-0", role: "user", content: "hi" }],
        tools: [],
        context: [],
        state: {},
        forwardedProps: {},
      },
    });
  });

  test("passes on what it does not know", () => {
    const { input, agentId } = decode({
      id: "chat-1",
      messages: [{ role: "user", content: "hi", createdAt: "now", vendor: 1 }],
      data: { page: 1 },
      theme: "dark",
      agentId: "helper",
      tools: { ask: { description: "Asks.", parameters: { type: "object" } } },
    });
    expect(input.forwardedProps).toEqual({ data: { page: 1 }, theme: "dark" });
    expect(input.tools).toEqual([
      { name: "ask", description: "Asks.", parameters: { type: "object" } },
    ]);
    expect(agentId).toBe("helper");
  });

  test("may be a prompt", () => {
    const { input } = decode({ prompt: "Tell me", style: "short" });
    expect(input).toMatchObject({
      threadId: "run",
      messages: [{ id: "run", role: "user", content: "Tell me" }],
      forwardedProps: { style: "short" },
    });
    expect(input.forwardedProps).not.toHaveProperty("prompt");
  });

  test("may be the last message only, which is never taken for an old one", () => {
    const { input } = decode({ id: "chat-1", message: { role: "user", content: "and now?" } });
    expect(input.messages).toEqual([{ id: "run", role: "user", content: "and now?" }]);
  });

  test("has the same ids in the next request when it brings none", () => {
    const first = messagesOf({ role: "user", content: "a" });
    const second = messagesOf(
      { role: "user", content: "a" },
      { role: "assistant", content: "b" },
      { id: "own", role: "user", content: "c" },
    );
    expect(second[0]).toEqual(first[0]);
    expect(second.map(({ id }) => id)).toEqual(["message-0", "message-1", "own"]);
  });

  test("leaves out the notes that a client writes to itself", () => {
    expect(
      messagesOf({ role: "data", content: "", data: 1 }, { role: "user", content: "hi" }),
    ).toEqual([{ id: "message-1", role: "user", content: "hi" }]);
  });

  test("brings files in attachments and in parts", () => {
    const [message] = messagesOf({
      role: "user",
      content: "look",
      experimental_attachments: [
        { name: "a.png", contentType: "image/png", url: "data:image/png;base64,AA==" },
        { contentType: "text/plain", url: "data:text/plain,h%C3%A4" },
        { contentType: "audio/mpeg", url: "https://example.com/a.mp3" },
      ],
      parts: [{ type: "file", mimeType: "video/mp4", data: "AAAA" }],
    });
    expect(message!.content).toEqual([
      { type: "text", text: "look" },
      {
        type: "image",
        source: { type: "data", value: "AA==", mimeType: "image/png" },
        metadata: { filename: "a.png" },
      },
      { type: "document", source: { type: "data", value: "aMOk", mimeType: "text/plain" } },
      {
        type: "audio",
        source: { type: "url", value: "https://example.com/a.mp3", mimeType: "audio/mpeg" },
      },
      { type: "video", source: { type: "data", value: "AAAA", mimeType: "video/mp4" } },
    ]);
  });

  test("brings a tool's result, and names the message that goes on", () => {
    const { input, continues } = decode({
      messages: [
        { role: "user", content: "hi" },
        {
          id: "m1",
          role: "assistant",
          content: "Wait.",
          parts: [
            { type: "step-start" },
            { type: "text", text: "Wait." },
            tool("result", { result: 7 }),
          ],
        },
      ],
    });
    expect(continues).toBe("m1");
    expect(input.messages.slice(1)).toEqual([
      { id: "m1", role: "assistant", content: "Wait.", toolCalls: [look] },
      { id: "c1:result", role: "tool", toolCallId: "c1", content: "7" },
    ]);
  });

  test("has one message for each round of the model", () => {
    const [, ...said] = messagesOf(
      { role: "user", content: "hi" },
      {
        id: "m1",
        role: "assistant",
        content: "Wait.Done.Bye.",
        parts: [
          { type: "step-start" },
          {
            type: "reasoning",
            reasoning: "Hmm",
            details: [
              { type: "text", text: "Hmm", signature: "s" },
              { type: "redacted", data: "secret" },
            ],
          },
          { type: "text", text: "Wait." },
          tool("result", { result: "ok" }),
          { type: "text", text: "Done." },
          { type: "step-start" },
          { type: "step-start" },
          { type: "text", text: "Bye." },
        ],
      },
      { role: "user", content: "more" },
    );
    expect(said.slice(0, -1)).toEqual([
      { id: "m1:reasoning-0", role: "reasoning", content: "Hmm", encryptedValue: "s" },
      { id: "m1:reasoning-1", role: "reasoning", content: "", encryptedValue: "secret" },
      { id: "m1", role: "assistant", content: "Wait.", toolCalls: [look] },
      { id: "c1:result", role: "tool", toolCallId: "c1", content: "ok" },
      { id: "m1:1", role: "assistant", content: "Done." },
      { id: "m1:2", role: "assistant", content: "Bye." },
    ]);
  });

  test.for([
    ["a call that waits, in the last message", [], [look]],
    ["no call that was given up", [{ role: "user", content: "never mind" }], undefined],
  ] as const)("has %s", ([, later, calls]) => {
    const waiting = {
      role: "assistant",
      content: "Hm",
      parts: [{ type: "text", text: "Hm" }, tool("call")],
    };
    const [, message] = messagesOf({ role: "user", content: "hi" }, waiting, ...later);
    expect(message).toEqual({
      id: "message-1",
      role: "assistant",
      content: "Hm",
      ...(calls && { toolCalls: calls }),
    });
  });

  test("has no half calls", () => {
    const half = { role: "assistant", content: "", parts: [tool("partial-call")] };
    expect(messagesOf({ role: "user", content: "hi" }, half)).toHaveLength(1);
  });

  test.for([
    ["opens the last message", [], ["look", "tool", "tool"]],
    ["closes an older one", [{ role: "user", content: "more" }], ["tool", "tool", "look"]],
  ] as const)("has text of a client without parts: it %s", ([, later, order]) => {
    const second = { toolCallId: "c2", step: 1 };
    const [, ...said] = messagesOf(
      { role: "user", content: "hi" },
      {
        role: "assistant",
        content: "look",
        toolInvocations: [
          invocation("result", { result: "a", step: 0 }),
          invocation("result", { result: "b", ...second }),
        ],
      },
      ...later,
    );
    const kinds = said
      .slice(0, later.length === 0 ? undefined : -1)
      .flatMap((message) => (message.role === "tool" ? "tool" : (message.content ?? [])));
    expect(kinds).toEqual(order);
  });

  test.for<[string, Body, Partial<Limits>, string]>([
    ["messages that are none", { messages: 7 }, {}, "messages must be an array, not 7."],
    ["a message that is none", { messages: ["hi"] }, {}, 'not "hi".'],
    ["an unknown role", { messages: [{ role: "tool" }] }, {}, 'messages.0.role must be "user"'],
    ["content that is none", { messages: [{ role: "user", content: 7 }] }, {}, "must be a string"],
    ["an id that is none", { id: "a b", messages: [] }, {}, "id must be 1 to 256 visible"],
    ["too many messages", { messages: [1, 2] }, { messages: 1 }, "has 2 entries"],
    ["too much text", { prompt: "hello" }, { messageChars: 4 }, "has 5 characters"],
    [
      "a file from nowhere",
      {
        messages: [
          { role: "user", content: "", experimental_attachments: [{ url: "file:///etc/passwd" }] },
        ],
      },
      {},
      'messages.0.experimental_attachments.0.url must be a data: or http(s): URL, not "file:///etc/passwd".',
    ],
    [
      "attachments that are none",
      { messages: [{ role: "user", content: "", experimental_attachments: "x" }] },
      {},
      "experimental_attachments must be an array",
    ],
    [
      "too many files",
      {
        messages: [
          {
            role: "user",
            content: "",
            experimental_attachments: [{ url: "data:,a" }, { url: "data:,b" }],
          },
        ],
      },
      { files: 1 },
      "has 2 files; this server accepts at most 1",
    ],
  ])("is refused for %s", ([, body, limits, message]) => {
    expect(() => decode(body, limits)).toThrow(message);
    expect(() => decode(body, limits)).toThrow(AgentError);
  });

  test("is too large with files that are", () => {
    const file = { url: "data:image/png;base64,AAAAAAAA" };
    const messages = [{ role: "user", content: "", experimental_attachments: [file] }];
    expect(() => decode({ messages }, { inlineFileBytes: 5 })).toThrow(
      expect.objectContaining({ code: "payload-too-large" }) as Error,
    );
  });

  test("never fails in another way than by refusing", () => {
    const keys = fc.constantFrom("id", "messages", "message", "prompt", "tools", "resume", "state");
    const part = fc.dictionary(
      fc.constantFrom("type", "text", "toolInvocation", "reasoning", "details", "data"),
      fc.oneof(fc.constantFrom("text", "tool-invocation", "reasoning", "file"), fc.jsonValue()),
    );
    const message = fc.record(
      {
        role: fc.constantFrom("user", "assistant", "system", "data", "x"),
        content: fc.oneof(fc.string(), fc.jsonValue()),
        parts: fc.oneof(fc.array(part, { maxLength: 3 }), fc.jsonValue()),
        toolInvocations: fc.oneof(fc.constant([invocation("result"), null]), fc.jsonValue()),
        experimental_attachments: fc.jsonValue(),
        annotations: fc.jsonValue(),
      },
      { requiredKeys: [] },
    );
    const body = fc.dictionary(keys, fc.oneof(fc.array(message, { maxLength: 3 }), fc.jsonValue()));
    fc.assert(
      fc.property(body, (sent) => {
        try {
          decode(sent);
        } catch (error) {
          expect(error).toBeInstanceOf(AgentError);
        }
      }),
      { numRuns: Number(process.env.VERCEL_RUNS ?? 200) },
    );
  });

  test("brings back the content of any answer", async () => {
    await fc.assert(
      fc.asyncProperty(validRun, async (events) => {
        const log = toLog(events);
        const { message } = await receiveV4(toBody(encodeAll(dataStreamEncoder(), log)));
        const { input } = decode({
          messages: [{ role: "user", content: "hi" }, message, { role: "user", content: "more" }],
        });
        const said = input.messages.slice(1, -1);
        const texts = said.flatMap((one) => (one.role === "assistant" ? (one.content ?? "") : []));
        expect(texts.join("")).toBe(message?.content);
        const calls = said.flatMap((one) =>
          one.role === "assistant" ? (one.toolCalls ?? []) : [],
        );
        const answered = said.flatMap((one) => (one.role === "tool" ? one.toolCallId : []));
        expect(calls.map(({ id }) => id).toSorted()).toEqual(answered.toSorted());
        expect(new Set(said.map(({ id }) => id)).size).toBe(said.length);
      }),
      { numRuns: Number(process.env.VERCEL_RUNS ?? 60) },
    );
  });
});
