import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { decodePlainInput } from "../src/decode/decode-plain-input.ts";
import { decodeClosely } from "../src/decode/decode-run-input.ts";

const body = {
  threadId: "t1",
  runId: "r1",
  protocolVersion: "1.0",
  state: { a: 1 },
  messages: [{ id: "m1", role: "user", content: "hi" }],
  tools: [{ name: "look", description: "Looks.", parameters: { type: "object" } }],
  context: [{ description: "place", value: "here" }],
  forwardedProps: {},
};

describe("a plain input", () => {
  it("is read at a glance as it is closely, to the order of its members", async () => {
    const inputs = [
      body,
      { ...body, agentId: "helper" },
      { ...body, protocolVersion: undefined },
      { ...body, messages: [], tools: [], context: [] },
      { ...body, messages: [{ content: "x", role: "assistant", id: "m2" }] },
    ].map((one) => JSON.parse(JSON.stringify(one)) as unknown);
    for (const input of inputs) {
      const plain = decodePlainInput(input, {});
      expect(plain).toBeDefined();
      expect(JSON.stringify(plain)).toBe(JSON.stringify(await decodeClosely(input, {})));
    }
  });

  it("shares no message with the body", () => {
    const { input } = decodePlainInput(body, {})!;
    expect(input.messages[0]).toEqual(body.messages[0]);
    expect(input.messages[0]).not.toBe(body.messages[0]);
  });

  it("is never taken for one where the full decoder decides otherwise", async () => {
    const odd = fc.oneof(
      fc.constantFrom(null, "", 0, true, [], {}, "user", "a b", [null], [{}], "system"),
      fc.array(fc.dictionary(fc.constantFrom("id", "role", "content", "name"), fc.string())),
    );
    const change = fc.dictionary(
      fc.constantFrom(...Object.keys(body), "agentId", "parentRunId", "run_id", "resume", "more"),
      odd,
      { maxKeys: 2 },
    );
    const property = fc.asyncProperty(change, async (changes) => {
      const limits = { messages: 3, messageChars: 5 };
      const plain = decodePlainInput({ ...body, ...changes }, limits);
      if (!plain) return;
      const closely = await decodeClosely({ ...body, ...changes }, limits);
      expect(JSON.stringify(plain)).toBe(JSON.stringify(closely));
    });
    await fc.assert(property, { numRuns: 500 });
  });

  it.each([
    ["too many messages", { messages: 0 }],
    ["a message that is too long", { messageChars: 1 }],
  ])("is none with %s", (_name, limits) => {
    expect(decodePlainInput(body, limits)).toBeUndefined();
  });
});
