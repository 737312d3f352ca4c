import { defaultLimits } from "@holodeck/agui-core";
import type { Json } from "@holodeck/agui-core";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { decodePlainUi } from "../src/decode/decode-plain-ui.ts";
import { decodePlainV4 } from "../src/decode/decode-plain-v4.ts";
import { decodeUiClosely } from "../src/decode/decode-ui.ts";
import { decodeV4Closely } from "../src/decode/decode-v4.ts";

const options = { runId: "run", limits: { ...defaultLimits, messages: 5, messageChars: 8 } };
const parse = (body: unknown): Json => JSON.parse(JSON.stringify(body)) as Json;
const text = (said: string, more: Json = {}): Json => ({ type: "text", text: said, ...more });

const ask = { id: "m1", role: "user", parts: [text("hi")] };
const ui = { id: "chat", trigger: "submit-message", messages: [ask] };
const uiBodies = [
  ui,
  { ...ui, messages: [] },
  { ...ui, messageId: "m1", trigger: "regenerate-message", model: "small", nested: { a: [1] } },
  { ...ui, messages: [{ ...ask, parts: [text("a"), text("b")], metadata: { at: 1 } }] },
  {
    ...ui,
    messages: [
      { id: "m0", role: "system", parts: [text("Be nice.")] },
      ask,
      {
        id: "run-0",
        role: "assistant",
        metadata: { threadId: "chat", finishReason: "stop" },
        parts: [
          { type: "step-start" },
          text("hello", { state: "done", providerMetadata: { agui: { messageId: "a1" } } }),
        ],
      },
      { id: "m3", role: "assistant", parts: [text("hello")] },
      { ...ask, id: "m4" },
    ],
  },
];

const askV4 = { role: "user", content: "hi", parts: [text("hi")] };
const v4 = { id: "chat", messages: [askV4] };
const v4Bodies = [
  v4,
  { messages: [{ role: "user", content: "hi" }] },
  { id: null, messages: [] },
  { ...v4, data: { a: 1 }, model: "small" },
  {
    ...v4,
    messages: [
      { id: "m0", role: "system", content: "Be nice." },
      askV4,
      { role: "assistant", content: "x", parts: [{ type: "step-start" }, text("hello")] },
      { id: "m3", role: "assistant", content: "hello", parts: [] },
      askV4,
    ],
  },
];

const anything = fc.oneof(
  fc.constantFrom(null, "", 0, true, [], {}, "a b", "longer than eight", [null], [{}]),
  fc.jsonValue({ maxDepth: 2 }),
);
const call = { state: "result", toolCallId: "c", toolName: "look", args: {}, result: 1 };
const file = { type: "file", data: "eA==", mimeType: "text/plain", url: "data:,x" };
const step = { type: "step-start" };

/** What a member may be instead, where more than chance is needed to make it matter. */
const others: Readonly<Record<string, readonly unknown[]>> = {
  id: ["m1", "a b", undefined],
  role: ["user", "assistant", "system", "data", "tool"],
  type: ["text", "step-start", "file", "reasoning", "tool-look", "dynamic-tool"],
  text: ["", "x", "longer than eight"],
  parts: [
    [text("x"), text("y")],
    [step, text("x"), step, step],
    [step, text("x"), step, text("y")],
    [file, text("x")],
    [text("x"), { type: "reasoning", text: "y", reasoning: "y" }],
    [{ type: "tool-invocation", toolInvocation: call }, text("x")],
    [[], "x", null, text("x")],
  ],
  content: ["x", [text("x")], undefined],
  metadata: [{ agui: { encrypted: { a1: "secret", m3: "secret" } } }, { agui: null }, {}],
  providerMetadata: [
    { agui: { messageId: "z" } },
    { agui: { messageId: "a b", name: "n" } },
    { agui: { name: "n" } },
    { agui: { subagentRunId: "s" } },
    { agui: null },
    { agui: "x" },
  ],
  annotations: [[{ type: "agui-encrypted", data: { entityId: "c", encryptedValue: "x" } }]],
  toolInvocations: [[call], []],
  reasoning: ["why", ""],
  experimental_attachments: [[{ url: "data:,x" }], [], null],
};
const othersOfBody: typeof others = {
  id: ["chat 1", "chat-1"],
  agentId: ["helper", ""],
  tools: [[{ name: "look" }], {}],
  context: [[{ description: "place", value: "here" }], []],
  resume: [[{ interruptId: "i", status: "resolved" }], []],
  state: [{ a: 1 }],
};

function change(keys: readonly string[], values = others): fc.Arbitrary<Json> {
  const member = fc.constantFrom(...keys).chain((key) =>
    fc.tuple(
      fc.constant(key),
      fc.oneof(
        {
          weight: 3,
          arbitrary: fc.constantFrom(...(Object.hasOwn(values, key) ? values[key]! : [null])),
        },
        anything,
      ),
    ),
  );
  return fc.array(member, { maxLength: 2 }).map((members) => withMembers({}, members));
}

const bodyKeys = ["messages", "message", "prompt", "trigger", "constructor", "__proto__"];
const partKeys = new Set(["type", "text", "providerMetadata"]);
const messageKeys = Object.keys(others).filter((key) => !partKeys.has(key));

/** One of the bodies with some members, of its messages and of their parts too, that are otherwise. */
function changed(bodies: readonly Json[]): fc.Arbitrary<Json> {
  const longest = bodies.at(-1)!;
  return fc
    .record({
      body: fc.constantFrom(...bodies, longest, longest, longest).map(parse),
      top: fc.oneof(
        fc.constant({}),
        change([...bodyKeys, ...Object.keys(othersOfBody)], othersOfBody),
      ),
      at: fc.nat(4),
      ofMessage: change([...messageKeys, "__proto__"]),
      ofPart: fc.oneof(fc.constant({}), change([...partKeys])),
    })
    .map(({ body, top, at, ofMessage, ofPart }) => {
      const messages = (body.messages as Json[]).map((one, index) => {
        if (index !== at) return one;
        const { parts } = one as { parts?: Json[] };
        const otherParts = parts?.map((part) => withMembers({ ...part }, Object.entries(ofPart)));
        return withMembers({ ...one, parts: otherParts }, Object.entries(ofMessage));
      });
      return parse(withMembers({ ...body, messages }, Object.entries(top)));
    });
}

// As JSON.parse does: `__proto__` is a member like any other.
function withMembers(record: Json, members: Iterable<readonly [string, unknown]>): Json {
  for (const [key, value] of members) {
    const how = { enumerable: true, configurable: true, writable: true };
    Object.defineProperty(record, key, { value, ...how });
  }
  return record;
}

describe.each([
  ["AI SDK 5 to 7", uiBodies, decodePlainUi, decodeUiClosely],
  ["AI SDK 4", v4Bodies, decodePlainV4, decodeV4Closely],
] as const)("an ordinary body of %s", (_, bodies, decodePlain, decodeClosely) => {
  test.each(bodies.map((body) => [parse(body)]))("is read at a glance as closely: %j", (body) => {
    const plain = decodePlain(body, options);
    expect(plain).toBeDefined();
    expect(JSON.stringify(plain)).toBe(JSON.stringify(decodeClosely(body, options)));
  });

  test("is never taken for one where the full decoder decides otherwise", () => {
    let taken = 0;
    fc.assert(
      fc.property(changed(bodies), (body) => {
        const plain = decodePlain(body, options);
        if (!plain) return;
        taken++;
        // A closer look that refuses it throws here.
        expect(JSON.stringify(plain)).toBe(JSON.stringify(decodeClosely(body, options)));
        expect(plain).toEqual(decodeClosely(body, options));
      }),
      { numRuns: 2_000 },
    );
    expect(taken).toBeGreaterThan(200);
  });

  test("shares no message with what is decoded", () => {
    const body = parse(bodies.at(-1));
    const { input } = decodePlain(body, options)!;
    for (const message of input.messages) expect(body.messages).not.toContain(message);
  });

  test("is left to a closer look when it has too much", () => {
    const { limits } = options;
    const body = parse(bodies[0]);
    expect(decodePlain(body, { ...options, limits: { ...limits, messages: 0 } })).toBeUndefined();
    expect(
      decodePlain(body, { ...options, limits: { ...limits, messageChars: 1 } }),
    ).toBeUndefined();
  });
});
