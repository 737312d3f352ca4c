import { decodeRunInput } from "@holodeck/agui-protocol";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { body, faultsOf, withCall, withMessage, withPart } from "./inputs.ts";

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
      `must be 1 to 1024 characters, not "".`,
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
      "is missing; it must be a string.",
    ],
    [
      "messages.0.content.0.data",
      withPart({ type: "binary", mimeType: "a/b", data: 5 }),
      "must be a string, not a number.",
    ],
    [
      "messages.0.content.0.id",
      withPart({ type: "binary", mimeType: "a/b", id: 5 }),
      "must be a string, not a number.",
    ],
    [
      "messages.0.content.0.url",
      withPart({ type: "binary", mimeType: "a/b", data: "AA", url: [] }),
      "must be a string, not an array.",
    ],
    [
      "messages.0.content.0.mimeType",
      withPart({ type: "binary", mimeType: 5, data: "AA" }),
      "must be a string, not a number.",
    ],
    [
      "messages.0.content.0.filename",
      withPart({ type: "binary", mimeType: "a/b", data: "AA", filename: {} }),
      "must be a string, not an object.",
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
  ])("gets the fault of %s", async ([path, given, message]) => {
    expect(await faultsOf(given)).toEqual([{ path, message: `${path} ${message}` }]);
  });

  test("gets all faults at once, at the client's paths", async () => {
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

  test("has the first fault in the message itself", async () => {
    await expect(decodeRunInput({ threadId: 5, runId: 5 })).rejects.toThrow(
      'The run input is not valid: threadId must be a string, not a number. 1 more fault in "errors".',
    );
  });

  test("gets an answer of bounded size", async () => {
    const faults = await faultsOf(body({ tools: Array.from({ length: 9_000 }, () => 5) }));
    expect(faults).toHaveLength(21);
    expect(faults.at(-2)?.path).toBe("tools.19");
    expect(faults.at(-1)).toEqual({ path: "", message: "More faults are not listed." });
    const parts = Array.from({ length: 200 }, () => ({ type: "nope" }));
    const few = await faultsOf(body({ messages: [{ id: "u", role: "user", content: parts }] }));
    expect(few).toHaveLength(21);
    expect(few.at(-1)).toEqual({ path: "", message: "More faults are not listed." });
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

const text = (content: unknown): unknown => ({ id: "m", role: "user", content });

describe("limits", () => {
  test("hold for the number of messages", async () => {
    const given = body({ messages: [text("a"), text("b"), text("c")] });
    expect(await faultsOf(given, { messages: 3 })).toEqual([]);
    expect(await faultsOf({ ...given, tools: "x" }, { messages: 2 })).toEqual([
      { path: "tools", message: "tools must be an array, not a string." },
      { path: "messages", message: "messages has 3 entries; this server accepts at most 2." },
    ]);
  });

  test("hold for the text of the user's last message, and for no other", async () => {
    const parts = [
      { type: "text", text: "abc" },
      { type: "text", text: "de" },
    ];
    const given = body({ messages: [text("abcd"), text("abcde"), text(parts)] });
    expect(await faultsOf(given, { messageChars: 5 })).toEqual([]);
    expect((await faultsOf(given, { messageChars: 4 })).map((fault) => fault.message)).toEqual([
      "messages.2.content has 5 characters of text; this server accepts at most 4.",
    ]);
    const answered = body({
      messages: [text("abcde"), { ...(text("abcde") as object), role: "assistant" }],
    });
    expect(await faultsOf(answered, { messageChars: 4 })).toEqual([]);
  });
});
