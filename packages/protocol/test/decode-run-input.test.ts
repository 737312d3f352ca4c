import { isOpaqueId } from "@holodeck/agui-core";
import { decodeRunInput } from "@holodeck/agui-protocol";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { body, inputOf, messageOf, partOf, withCall } from "./inputs.ts";

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

  test("may name an unknown version, with a warning", async () => {
    const decoded = await decodeRunInput(body({ protocolVersion: "next" }));
    expect(decoded.protocolVersion).toBe("next");
    expect(decoded.warnings).toEqual([
      'protocolVersion "next" is not a valid version; treated as a newer one.',
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

  test("in both spellings means the camelCase one, whichever comes first", async () => {
    const both = { thread_id: "b", threadId: "a", runId: "c", run_id: "d" };
    expect(await inputOf(both)).toMatchObject({ threadId: "a", runId: "c" });
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
    expect(input.messages[0]).not.toHaveProperty("name");
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
