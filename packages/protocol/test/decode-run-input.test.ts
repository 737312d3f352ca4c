import type { Fault, RunAgentInput } from "@holodeck/agui-core";
import { isAgentError, isOpaqueId } from "@holodeck/agui-core";
import { decodeRunInput } from "@holodeck/agui-protocol";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";

/** A full and valid body, with `change` on top. */
function body(change: Record<string, unknown> = {}): Record<string, unknown> {
  return { threadId: "t-1", runId: "r-1", messages: [], ...change };
}

const withMessage = (message: Record<string, unknown>): Record<string, unknown> =>
  body({ messages: [{ id: "m-1", ...message }] });
const withPart = (part: unknown): Record<string, unknown> =>
  withMessage({ role: "user", content: [part] });
const withCall = (call: unknown): Record<string, unknown> =>
  withMessage({ role: "assistant", toolCalls: [call] });

async function faultsOf(given: unknown, ...limits: object[]): Promise<readonly Fault[]> {
  try {
    await decodeRunInput(given, ...limits);
  } catch (error) {
    if (!isAgentError(error)) throw error;
    expect(error).toMatchObject({ code: "invalid-request", status: 400 });
    return error.errors ?? [];
  }
  return [];
}

async function inputOf(given: unknown): Promise<RunAgentInput> {
  return (await decodeRunInput(given)).input;
}

async function messageOf(given: Record<string, unknown>): Promise<unknown> {
  return (await inputOf(given)).messages[0];
}

async function partOf(part: unknown): Promise<unknown> {
  const message = await messageOf(withPart(part));
  return (message as { content: unknown[] }).content[0];
}

describe("a valid input", () => {
  test("comes through as it was sent", async () => {
    const source = { type: "file", value: "f-1", provider: "openai", mimeType: "application/pdf" };
    const full = {
      threadId: "t-1",
      runId: "r-1",
      parentRunId: "r-0",
      protocolVersion: "1.0",
      state: { a: 1 },
      messages: [
        { id: "1", role: "system", content: "s", name: "n", metadata: { a: 1 } },
        { id: "2", role: "developer", content: "d", encryptedValue: "e", subagentRunId: "s" },
        { id: "3", role: "user", content: "u" },
        {
          id: "4",
          role: "user",
          content: [
            { type: "text", text: "t", id: "p", metadata: { a: 1 } },
            { type: "document", source, metadata: { filename: "x" } },
            { type: "image", source: { type: "url", value: "https://x.test/i.png" } },
          ],
        },
        {
          id: "5",
          role: "assistant",
          content: "a",
          toolCalls: [
            {
              id: "c",
              type: "function",
              function: { name: "f", arguments: "{}" },
              encryptedValue: "e",
              metadata: { a: 1 },
            },
          ],
        },
        { id: "6", role: "tool", toolCallId: "c", content: "r", error: "e" },
        { id: "7", role: "reasoning", content: "hm", encryptedValue: "e" },
      ],
      tools: [{ name: "f", description: "d", parameters: { type: "object" }, metadata: { a: 1 } }],
      context: [{ description: "d", value: "v" }],
      forwardedProps: { a: 1 },
      resume: [{ interruptId: "i", status: "resolved", payload: [1], metadata: { a: 1 } }],
    };
    const before = structuredClone(full);
    const decoded = await decodeRunInput(full);
    expect(decoded).toStrictEqual({ input: full, protocolVersion: "1.0", warnings: [] });
    expect(full).toEqual(before);
  });

  test("of the smallest kind gets ids and empty lists, and no state", async () => {
    const { input, warnings } = await decodeRunInput({
      messages: [{ role: "user", content: "hi" }],
    });
    expect(isOpaqueId(input.threadId) && isOpaqueId(input.runId)).toBe(true);
    expect(input.threadId).not.toBe(input.runId);
    expect(Object.keys(input).sort()).toEqual([
      "context",
      "messages",
      "runId",
      "threadId",
      "tools",
    ]);
    expect(input).toMatchObject({ tools: [], context: [], messages: [{ role: "user" }] });
    expect(isOpaqueId(input.messages[0]?.id)).toBe(true);
    expect(warnings).toEqual([]);
    expect((await inputOf({})).messages).toEqual([]);
  });

  test("names its agent in either spelling, at the top level only", async () => {
    expect(await decodeRunInput(body({ agentId: "a" }))).toMatchObject({ agentId: "a" });
    expect(await decodeRunInput(body({ agent_id: "a" }))).toMatchObject({ agentId: "a" });
    const elsewhere = body({ agentId: null, forwardedProps: { agentId: "a" } });
    expect(await decodeRunInput(elsewhere)).not.toHaveProperty("agentId");
  });

  test.for(["2.0", "1.1"])("may come from version %s", async (protocolVersion) => {
    const decoded = await decodeRunInput(body({ protocolVersion }));
    expect(decoded).toMatchObject({ protocolVersion, warnings: [] });
  });

  test("may name a version nobody knows, with a warning", async () => {
    const decoded = await decodeRunInput(body({ protocolVersion: "next" }));
    expect(decoded.protocolVersion).toBe("next");
    expect(decoded.warnings).toEqual([
      'protocolVersion "next" is not a version; taken for a newer one.',
    ]);
  });
});

describe("what other clients send", () => {
  test("in snake_case is understood on the envelope and in messages", async () => {
    const sent = {
      thread_id: "t",
      run_id: "r",
      parent_run_id: "p",
      protocol_version: "1.0",
      forwarded_props: { keep_me: 1 },
      messages: [
        {
          id: "1",
          role: "assistant",
          encrypted_value: "e",
          subagent_run_id: "s",
          tool_calls: [
            {
              id: "c",
              type: "function",
              function: { name: "f", arguments: "{}" },
              encrypted_value: "e",
            },
          ],
        },
        { id: "2", role: "tool", tool_call_id: "c", content: "x" },
      ],
      resume: [{ interrupt_id: "i", status: "cancelled" }],
    };
    const { input, warnings, protocolVersion } = await decodeRunInput(sent);
    expect(warnings).toEqual([]);
    expect(protocolVersion).toBe("1.0");
    expect(input).toEqual({
      threadId: "t",
      runId: "r",
      parentRunId: "p",
      protocolVersion: "1.0",
      forwardedProps: { keep_me: 1 },
      tools: [],
      context: [],
      messages: [
        {
          id: "1",
          role: "assistant",
          encryptedValue: "e",
          subagentRunId: "s",
          toolCalls: [
            {
              id: "c",
              type: "function",
              function: { name: "f", arguments: "{}" },
              encryptedValue: "e",
            },
          ],
        },
        { id: "2", role: "tool", toolCallId: "c", content: "x" },
      ],
      resume: [{ interruptId: "i", status: "cancelled" }],
    });
  });

  test("in both spellings means the camelCase one", async () => {
    expect(await inputOf({ thread_id: "b", threadId: "a", run_id: "d", runId: "c" })).toMatchObject(
      {
        threadId: "a",
        runId: "c",
      },
    );
  });

  test.for<[string, Record<string, unknown>, Record<string, unknown>]>([
    ["state", { state: null }, {}],
    ["forwardedProps", { forwardedProps: null }, {}],
    ["parentRunId", { parentRunId: null }, {}],
    ["protocolVersion", { protocolVersion: null }, {}],
    ["resume", { resume: null }, {}],
    ["tools", { tools: null }, {}],
    ["context", { context: null }, {}],
    ["messages", { messages: null }, {}],
    [
      "tools[].parameters",
      { tools: [{ name: "f", description: "d", parameters: null, metadata: null }] },
      { tools: [{ name: "f", description: "d" }] },
    ],
    [
      "resume[].payload",
      { resume: [{ interruptId: "i", status: "resolved", payload: null }] },
      { resume: [{ interruptId: "i", status: "resolved" }] },
    ],
    [
      "members of an assistant message",
      {
        messages: [
          {
            id: "1",
            role: "assistant",
            content: null,
            toolCalls: null,
            name: null,
            metadata: null,
          },
        ],
      },
      { messages: [{ id: "1", role: "assistant" }] },
    ],
    [
      "media metadata",
      {
        messages: [
          {
            id: "1",
            role: "user",
            content: [
              {
                type: "image",
                id: null,
                metadata: null,
                source: { type: "url", value: "u", mimeType: null },
              },
            ],
          },
        ],
      },
      {
        messages: [
          {
            id: "1",
            role: "user",
            content: [{ type: "image", source: { type: "url", value: "u" } }],
          },
        ],
      },
    ],
  ])("as null for %s counts as not sent", async ([, sent, seen]) => {
    const { input, warnings } = await decodeRunInput(body(sent));
    expect(input).toStrictEqual({ tools: [], context: [], ...body(), ...seen });
    expect(warnings).toEqual([]);
  });

  test("as null for an id gets a new one", async () => {
    const input = await inputOf({
      threadId: null,
      runId: null,
      messages: [{ id: null, role: "user", content: "" }],
    });
    for (const id of [input.threadId, input.runId, input.messages[0]?.id]) {
      expect(isOpaqueId(id)).toBe(true);
    }
  });

  test("as an object for context becomes a list", async () => {
    const context = JSON.parse('{"city_name":"Rome","n":1,"deep":{"a_b":[null]},"__proto__":"p"}');
    expect((await inputOf(body({ context }))).context).toEqual([
      { description: "city_name", value: "Rome" },
      { description: "n", value: "1" },
      { description: "deep", value: '{"a_b":[null]}' },
      { description: "__proto__", value: "p" },
    ]);
  });

  test.for<[string, unknown, unknown]>([
    [
      "data",
      { type: "binary", mimeType: "image/png", data: "AA", filename: "a.png" },
      {
        type: "image",
        source: { type: "data", value: "AA", mimeType: "image/png" },
        metadata: { filename: "a.png" },
      },
    ],
    [
      "a url",
      { type: "binary", mimeType: "AUDIO/mpeg", url: "https://x.test/a", data: null },
      { type: "audio", source: { type: "url", value: "https://x.test/a", mimeType: "AUDIO/mpeg" } },
    ],
    [
      "an id",
      { type: "binary", mimeType: "video/mp4", id: "f-1" },
      { type: "video", source: { type: "file", value: "f-1", mimeType: "video/mp4" } },
    ],
    [
      "several, of which data counts",
      { type: "binary", mimeType: "application/pdf", id: "f-1", url: "u", data: "AA" },
      { type: "document", source: { type: "data", value: "AA", mimeType: "application/pdf" } },
    ],
  ])("as a binary part with %s becomes a media part", async ([, sent, seen]) => {
    expect(await partOf(sent)).toStrictEqual(seen);
  });

  test("as parsed arguments becomes their text", async () => {
    const args = { city_name: "Rome", list: [1] };
    const call = { id: "c", type: "function", function: { name: "f", arguments: args } };
    expect(await messageOf(withCall(call))).toMatchObject({
      toolCalls: [{ function: { arguments: '{"city_name":"Rome","list":[1]}' } }],
    });
  });

  test("as activity messages is left out, with a warning", async () => {
    const activity = { id: "a", role: "activity", activityType: "PLAN", content: {} };
    const user = { id: "u", role: "user", content: "hi" };
    const { input, warnings } = await decodeRunInput(
      body({ messages: [activity, user, activity] }),
    );
    expect(input.messages).toEqual([user]);
    expect(warnings).toEqual([
      "messages[]: activity messages are for display only and were left out.",
    ]);
  });

  test("beyond AG-UI is left out everywhere, with one warning each", async () => {
    const source = { type: "url", value: "u", extra: 1 };
    const call = {
      id: "c",
      type: "function",
      function: { name: "f", arguments: "", x: 1 },
      index: 0,
    };
    const { input, warnings } = await decodeRunInput(
      body({
        extra: 1,
        messages: [
          { id: "1", role: "user", content: [{ type: "image", source, alt: 1 }], createdAt: 1 },
          { id: "2", role: "user", content: "", createdAt: 2 },
          { id: "3", role: "assistant", toolCalls: [call] },
          { id: "4", role: "reasoning", content: "", name: "n" },
        ],
        tools: [{ name: "f", description: "d", strict: true }],
        context: [{ description: "d", value: "v", id: 1 }],
        resume: [{ interruptId: "i", status: "resolved", at: 1 }],
      }),
    );
    expect(JSON.stringify(input)).not.toMatch(/extra|createdAt|alt|index|strict|"at"|"x"/);
    expect(warnings.sort()).toEqual(
      [
        '"extra" is unknown and was ignored.',
        'messages[]: "createdAt" is unknown and was ignored.',
        'messages[]: "name" is unknown and was ignored.',
        'messages[].content[]: "alt" is unknown and was ignored.',
        'messages[].content[].source: "extra" is unknown and was ignored.',
        'messages[].toolCalls[]: "index" is unknown and was ignored.',
        'messages[].toolCalls[].function: "x" is unknown and was ignored.',
        'tools[]: "strict" is unknown and was ignored.',
        'context[]: "id" is unknown and was ignored.',
        'resume[]: "at" is unknown and was ignored.',
      ].sort(),
    );
  });

  test("cannot fill the log with warnings", async () => {
    const many = Object.fromEntries(Array.from({ length: 500 }, (_, i) => [`x${i}`.repeat(99), i]));
    const { warnings } = await decodeRunInput(body(many));
    expect(warnings).toHaveLength(50);
    for (const warning of warnings) expect(warning.length).toBeLessThan(100);
  });

  test("with __proto__ reaches no prototype", async () => {
    const text = `{"threadId":"t","runId":"r","__proto__":{"agentId":"evil"},"state":{"__proto__":{"x":1}},
      "messages":[{"id":"1","role":"user","content":"","__proto__":{"name":"evil"}}]}`;
    const { input, agentId, warnings } = await decodeRunInput(JSON.parse(text));
    expect(agentId).toBeUndefined();
    expect(Object.getPrototypeOf(input.messages[0])).toBe(Object.prototype);
    expect(input.messages[0]?.name).toBeUndefined();
    expect(JSON.stringify(input.state)).toBe('{"__proto__":{"x":1}}');
    expect(({} as Record<string, unknown>).x).toBeUndefined();
    expect(warnings).toContain('"__proto__" is unknown and was ignored.');
    const inherited = Object.create({ agentId: "evil", threadId: "evil" });
    const decoded = await decodeRunInput(inherited);
    expect(decoded.agentId).toBeUndefined();
    expect(decoded.input.threadId).not.toBe("evil");
  });

  test("inside payloads keeps its keys, whatever they are called", async () => {
    const key = fc.constantFrom(
      "thread_id",
      "tool_call_id",
      "mime_type",
      "a_b",
      "__proto__",
      "type",
      "role",
    );
    const payload = fc.dictionary(
      fc.oneof(key, fc.string()),
      fc.oneof(fc.jsonValue(), fc.dictionary(key, fc.jsonValue())),
    );
    await fc.assert(
      fc.asyncProperty(payload, fc.string(), async (given, text) => {
        const value = JSON.parse(JSON.stringify(given));
        const source = { type: "url", value: text };
        const sent = body({
          state: value,
          forwardedProps: value,
          tools: [{ name: "f", description: "d", parameters: value, metadata: value }],
          resume: [{ interruptId: "i", status: "resolved", payload: value, metadata: value }],
          messages: [
            {
              id: "1",
              role: "user",
              content: [{ type: "image", source, metadata: value }],
              metadata: value,
            },
            {
              id: "2",
              role: "assistant",
              toolCalls: [
                {
                  id: "c",
                  type: "function",
                  function: { name: "f", arguments: value },
                  metadata: value,
                },
              ],
            },
            { id: "3", role: "tool", toolCallId: "c", content: text },
          ],
        });
        const text1 = JSON.stringify(sent);
        const { input, warnings } = await decodeRunInput(sent);
        expect(JSON.stringify(sent)).toBe(text1);
        expect(warnings).toEqual([]);
        const call = { name: "f", arguments: JSON.stringify(value) };
        const seen = JSON.parse(text1);
        seen.messages[1].toolCalls[0].function = call;
        expect(JSON.parse(JSON.stringify(input))).toEqual({ ...seen, context: [] });
      }),
    );
  });
});

describe("a wrong input", () => {
  test.for<[string, unknown]>([
    ["an array", []],
    ["a string", "hi"],
    ["a number", 5],
    ["null", null],
    ["nothing", undefined],
    ["a boolean", true],
  ])("that is %s is refused as a whole", async ([, given]) => {
    expect(await faultsOf(given)).toEqual([
      { path: "", message: "The body must be a JSON object." },
    ]);
  });

  const call = { id: "c", type: "function", function: { name: "f", arguments: "" } };
  const roles = '"developer", "system", "assistant", "user", "tool", "activity", "reasoning"';
  const kinds = '"text", "image", "audio", "video", "document"';
  const visible = "1 to 256 visible characters";
  test.for<[string, unknown, string]>([
    ["threadId", body({ threadId: 5 }), "must be a string, not a number."],
    ["threadId", body({ threadId: "" }), `must be ${visible}, not "".`],
    ["threadId", body({ threadId: "a b" }), `must be ${visible}, not "a b".`],
    ["threadId", { thread_id: [], runId: "r" }, "must be a string, not an array."],
    ["runId", body({ runId: {} }), "must be a string, not an object."],
    ["runId", body({ runId: "x".repeat(257) }), `must be ${visible}, not "${"x".repeat(40)}…".`],
    ["parentRunId", body({ parentRunId: true }), "must be a string, not a boolean."],
    ["parentRunId", body({ parentRunId: "\n" }), `must be ${visible}, not "\\n".`],
    ["protocolVersion", body({ protocolVersion: 1 }), "must be a string, not a number."],
    ["agentId", body({ agentId: 5 }), "must be the name of an agent, not a number."],
    ["agentId", body({ agent_id: "" }), 'must be the name of an agent, not "".'],
    ["messages", body({ messages: "hi" }), "must be an array, not a string."],
    ["messages", body({ messages: {} }), "must be an array, not an object."],
    ["messages.0", body({ messages: ["hi"] }), "must be an object, not a string."],
    ["messages.0", body({ messages: [null] }), "must be an object, not null."],
    ["messages.0", body({ messages: [[]] }), "must be an object, not an array."],
    ["messages.0.role", withMessage({ content: "" }), `is missing; it must be one of ${roles}.`],
    ["messages.0.role", withMessage({ role: "bot" }), `must be one of ${roles}, not "bot".`],
    ["messages.0.role", withMessage({ role: 5 }), `must be one of ${roles}, not a number.`],
    [
      "messages.0.id",
      withMessage({ id: 5, role: "user", content: "" }),
      "must be a string, not a number.",
    ],
    [
      "messages.0.id",
      withMessage({ id: "", role: "user", content: "" }),
      `must be ${visible}, not "".`,
    ],
    ["messages.0.content", withMessage({ role: "system" }), "is missing; it must be a string."],
    [
      "messages.0.content",
      withMessage({ role: "system", content: null }),
      "must be a string, not null.",
    ],
    [
      "messages.0.content",
      withMessage({ role: "developer", content: [] }),
      "must be a string, not an array.",
    ],
    [
      "messages.0.content",
      withMessage({ role: "assistant", content: 1 }),
      "must be a string, not a number.",
    ],
    [
      "messages.0.content",
      withMessage({ role: "reasoning", content: {} }),
      "must be a string, not an object.",
    ],
    [
      "messages.0.content",
      withMessage({ role: "user", content: 5 }),
      "must be a string or an array of content parts, not a number.",
    ],
    [
      "messages.0.content",
      withMessage({ role: "user" }),
      "is missing; it must be a string or an array of content parts.",
    ],
    [
      "messages.0.content",
      withMessage({ role: "tool", toolCallId: "c", content: null }),
      "must be a string or an array of content parts, not null.",
    ],
    [
      "messages.0.name",
      withMessage({ role: "user", content: "", name: 5 }),
      "must be a string, not a number.",
    ],
    [
      "messages.0.encryptedValue",
      withMessage({ role: "user", content: "", encrypted_value: [] }),
      "must be a string, not an array.",
    ],
    [
      "messages.0.subagentRunId",
      withMessage({ role: "user", content: "", subagentRunId: 1 }),
      "must be a string, not a number.",
    ],
    [
      "messages.0.metadata",
      withMessage({ role: "user", content: "", metadata: [] }),
      "must be an object, not an array.",
    ],
    [
      "messages.0.metadata",
      withMessage({ role: "user", content: "", metadata: "x" }),
      "must be an object, not a string.",
    ],
    [
      "messages.0.toolCallId",
      withMessage({ role: "tool", content: "" }),
      "is missing; it must be a string.",
    ],
    [
      "messages.0.toolCallId",
      withMessage({ role: "tool", content: "", tool_call_id: 5 }),
      "must be a string, not a number.",
    ],
    [
      "messages.0.error",
      withMessage({ role: "tool", content: "", toolCallId: "c", error: {} }),
      "must be a string, not an object.",
    ],
    [
      "messages.0.toolCalls",
      withMessage({ role: "assistant", toolCalls: {} }),
      "must be an array, not an object.",
    ],
    ["messages.0.toolCalls.0", withCall("x"), "must be an object, not a string."],
    ["messages.0.toolCalls.0.id", withCall({ ...call, id: 1 }), "must be a string, not a number."],
    [
      "messages.0.toolCalls.0.type",
      withCall({ ...call, type: "x" }),
      'must be "function", not "x".',
    ],
    [
      "messages.0.toolCalls.0.function",
      withCall({ ...call, function: "x" }),
      "must be an object, not a string.",
    ],
    [
      "messages.0.toolCalls.0.function.name",
      withCall({ ...call, function: { arguments: "" } }),
      "is missing; it must be a string.",
    ],
    [
      "messages.0.toolCalls.0.function.arguments",
      withCall({ ...call, function: { name: "f", arguments: 5 } }),
      "must be a string, not a number.",
    ],
    [
      "messages.0.toolCalls.0.encryptedValue",
      withCall({ ...call, encryptedValue: 5 }),
      "must be a string, not a number.",
    ],
    [
      "messages.0.toolCalls.0.metadata",
      withCall({ ...call, metadata: 5 }),
      "must be an object, not a number.",
    ],
    ["messages.0.content.0", withPart("hi"), "must be an object, not a string."],
    ["messages.0.content.0.type", withPart({}), `is missing; it must be one of ${kinds}.`],
    ["messages.0.content.0.type", withPart({ type: "x" }), `must be one of ${kinds}, not "x".`],
    ["messages.0.content.0.text", withPart({ type: "text" }), "is missing; it must be a string."],
    [
      "messages.0.content.0.id",
      withPart({ type: "text", text: "", id: 5 }),
      "must be a string, not a number.",
    ],
    [
      "messages.0.content.0.source",
      withPart({ type: "image" }),
      "is missing; it must be an object.",
    ],
    [
      "messages.0.content.0.source",
      withPart({ type: "audio", source: "u" }),
      "must be an object, not a string.",
    ],
    [
      "messages.0.content.0.source.type",
      withPart({ type: "video", source: { value: "u" } }),
      'is missing; it must be one of "data", "url", "file".',
    ],
    [
      "messages.0.content.0.source.value",
      withPart({ type: "document", source: { type: "file", value: 5 } }),
      "must be a string, not a number.",
    ],
    [
      "messages.0.content.0.source.mimeType",
      withPart({ type: "image", source: { type: "data", value: "AA", mime_type: "image/png" } }),
      "is missing; it must be a string.",
    ],
    [
      "messages.0.content.0",
      withPart({ type: "binary", mimeType: "image/png" }),
      "needs one of data, url and id; a binary part without them has no content.",
    ],
    [
      "messages.0.content.0.mimeType",
      withPart({ type: "binary", data: "AA" }),
      'must be a string, such as "image/png".',
    ],
    [
      "messages.0.content.0.data",
      withPart({ type: "binary", mimeType: "a/b", data: 5 }),
      "must be a string.",
    ],
    [
      "messages.0.content.0.id",
      withPart({ type: "binary", mimeType: "a/b", id: 5 }),
      "must be a string.",
    ],
    ["tools", body({ tools: "x" }), "must be an array, not a string."],
    ["tools", body({ tools: {} }), "must be an array, not an object."],
    ["tools.0", body({ tools: ["x"] }), "must be an object, not a string."],
    ["tools.0.name", body({ tools: [{ description: "d" }] }), "is missing; it must be a string."],
    [
      "tools.0.name",
      body({ tools: [{ name: 5, description: "d" }] }),
      "must be a string, not a number.",
    ],
    ["tools.0.description", body({ tools: [{ name: "n" }] }), "is missing; it must be a string."],
    [
      "tools.0.metadata",
      body({ tools: [{ name: "n", description: "d", metadata: [] }] }),
      "must be an object, not an array.",
    ],
    ["context", body({ context: "x" }), "must be an array, not a string."],
    ["context.0", body({ context: [5] }), "must be an object, not a number."],
    [
      "context.0.description",
      body({ context: [{ value: "v" }] }),
      "is missing; it must be a string.",
    ],
    [
      "context.0.value",
      body({ context: [{ description: "d", value: {} }] }),
      "must be a string, not an object.",
    ],
    ["resume", body({ resume: {} }), "must be an array, not an object."],
    ["resume.0", body({ resume: [true] }), "must be an object, not a boolean."],
    [
      "resume.0.interruptId",
      body({ resume: [{ status: "resolved" }] }),
      "is missing; it must be a string.",
    ],
    [
      "resume.0.status",
      body({ resume: [{ interruptId: "i", status: "yes" }] }),
      'must be one of "resolved", "cancelled", not "yes".',
    ],
    [
      "resume.0.metadata",
      body({ resume: [{ interruptId: "i", status: "resolved", metadata: 1 }] }),
      "must be an object, not a number.",
    ],
  ])("is told about %s", async ([path, given, message]) => {
    expect(await faultsOf(given)).toEqual([{ path, message: `${path} ${message}` }]);
  });

  test("is told about everything at once, where the client put it", async () => {
    const activity = { id: "a", role: "activity" };
    const faults = await faultsOf({
      threadId: 5,
      runId: "",
      agentId: 5,
      messages: [
        activity,
        { role: "bot" },
        activity,
        { role: "user", content: [{ type: "x" }, { type: "text" }] },
      ],
      tools: "x",
      context: [5],
      resume: [{}],
    });
    expect(faults.map((fault) => fault.path).sort()).toEqual(
      [
        "threadId",
        "runId",
        "agentId",
        "messages.1.role",
        "messages.3.content.0.type",
        "messages.3.content.1.text",
        "tools",
        "context.0",
        "resume.0.interruptId",
        "resume.0.status",
      ].sort(),
    );
    for (const { path, message } of faults) expect(message.startsWith(`${path} `)).toBe(true);
  });

  test("says the first fault in the message itself", async () => {
    await expect(decodeRunInput({ threadId: 5, runId: 5 })).rejects.toThrow(
      'The run input is not valid: threadId must be a string, not a number. 1 more fault in "errors".',
    );
  });

  test("gets an answer of bounded size", async () => {
    const faults = await faultsOf(body({ tools: Array.from({ length: 9_000 }, () => 5) }));
    expect(faults).toHaveLength(101);
    expect(faults.at(-1)).toEqual({ path: "", message: "8900 more faults are not listed." });
    expect(await faultsOf(body({ tools: Array.from({ length: 10_001 }, () => ({})) }))).toEqual([
      { path: "tools", message: "tools has 10001 entries; at most 10000 are accepted." },
    ]);
  });

  test("is never more than a refusal, whatever it is", async () => {
    const members = fc.constantFrom(
      "threadId",
      "runId",
      "messages",
      "tools",
      "context",
      "state",
      "resume",
      "agent_id",
    );
    const message = fc.dictionary(
      fc.constantFrom("id", "role", "content", "toolCalls", "tool_call_id", "__proto__"),
      fc.oneof(fc.constantFrom("user", "assistant", "tool"), fc.jsonValue()),
    );
    const value = fc.oneof(fc.jsonValue(), fc.array(message));
    await fc.assert(
      fc.asyncProperty(fc.oneof(fc.jsonValue(), fc.dictionary(members, value)), async (given) => {
        await faultsOf(given);
      }),
    );
  });
});

describe("limits", () => {
  const text = (content: unknown): unknown => ({ id: "m", role: "user", content });

  test("hold for the number of messages", async () => {
    const given = body({ messages: [text("a"), text("b"), text("c")] });
    expect(await faultsOf(given, { messages: 3 })).toEqual([]);
    expect(await faultsOf({ ...given, tools: "x" }, { messages: 2 })).toEqual([
      { path: "tools", message: "tools must be an array, not a string." },
      { path: "messages", message: "messages has 3 entries; this server accepts 2." },
    ]);
  });

  test("hold for the text of each message", async () => {
    const parts = [
      { type: "text", text: "abc" },
      { type: "text", text: "de" },
    ];
    const given = body({ messages: [text("abcd"), text("abcde"), text(parts)] });
    expect(await faultsOf(given, { messageChars: 5 })).toEqual([]);
    expect((await faultsOf(given, { messageChars: 4 })).map((fault) => fault.message)).toEqual([
      "messages.1.content has 5 characters of text; this server accepts 4.",
      "messages.2.content has 5 characters of text; this server accepts 4.",
    ]);
  });
});
