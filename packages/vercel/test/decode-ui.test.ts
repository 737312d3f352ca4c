import { defaultLimits, isAgentError } from "@holodeck/agui-core";
import { decodeUi, decodeV4 } from "@holodeck/agui-vercel";
import * as fc from "fast-check";
import { expect, test } from "vitest";

const numRuns = Number(process.env.DECODE_RUNS ?? 500);

const some = fc.jsonValue({ maxDepth: 2 });
const word = fc.constantFrom("a", "b", "", "__proto__", "constructor", "toString");
const origin = fc.record(
  { agui: fc.oneof(some, fc.record({ messageId: fc.oneof(word, some), name: some })) },
  { requiredKeys: [] },
);
const kinds = ["text", "reasoning", "tool-look", "dynamic-tool", "file", "step-start", "data-x"];
const states = [
  "input-streaming",
  "input-available",
  "output-available",
  "output-error",
  "output-denied",
  "approval-requested",
  "approval-responded",
];

const part = fc.oneof(
  some,
  fc.record(
    {
      type: fc.oneof(fc.constantFrom(...kinds), some),
      text: fc.oneof(word, some),
      url: fc.oneof(fc.constantFrom("data:,%zz", "data:;base64,A", "https://a.test"), some),
      mediaType: some,
      toolCallId: fc.oneof(word, some),
      toolName: some,
      state: fc.constantFrom(...states),
      input: some,
      output: some,
      errorText: some,
      approval: fc.oneof(some, fc.record({ id: word, approved: some })),
      providerMetadata: fc.oneof(origin, some),
      callProviderMetadata: fc.oneof(origin, some),
    },
    { requiredKeys: ["type"] },
  ),
);

const message = fc.oneof(
  some,
  fc.record(
    {
      id: fc.oneof(word, some),
      role: fc.constantFrom("user", "assistant", "system", "data", "robot"),
      parts: fc.oneof(fc.array(part, { maxLength: 6 }), some),
      content: some,
      metadata: some,
    },
    { requiredKeys: ["role"] },
  ),
);

const body = fc.record(
  {
    id: fc.oneof(word, some),
    messages: fc.oneof(fc.array(message, { maxLength: 4 }), some),
    message,
    tools: some,
    context: some,
    state: some,
    resume: some,
    agentId: some,
    trigger: some,
  },
  { requiredKeys: [] },
);

test.for([
  ["UI messages", decodeUi],
  ["messages with content", decodeV4],
] as const)("reads any body of %s, or reports what is wrong with it", ([, decode]) => {
  fc.assert(
    fc.property(body, (sent) => {
      try {
        const { input } = decode(sent, { runId: "run-1", limits: defaultLimits });
        expect(input.messages.filter(({ id }) => id === "")).toEqual([]);
        // As it is stored and sent on.
        expect(() => JSON.stringify(input)).not.toThrow();
      } catch (error) {
        expect(isAgentError(error), String(error)).toBe(true);
      }
    }),
    { numRuns },
  );
});
