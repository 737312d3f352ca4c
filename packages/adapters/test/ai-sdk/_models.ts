import * as ai5 from "ai-5";
import { MockLanguageModelV2 } from "ai-5/test";
import * as ai6 from "ai-6";
import { MockLanguageModelV3 } from "ai-6/test";
import * as ai7 from "ai-7";
import { MockLanguageModelV4 } from "ai-7/test";

// Three releases of one library, whose types agree on little: here they are used as their users do.
export type Loose = any;

/** A major of the AI SDK with its scripted model. */
export interface Sdk {
  readonly major: 5 | 6 | 7;
  readonly ai: Loose;
  readonly Model: Loose;
}

export const sdks: readonly Sdk[] = [
  { major: 5, ai: ai5, Model: MockLanguageModelV2 },
  { major: 6, ai: ai6, Model: MockLanguageModelV3 },
  { major: 7, ai: ai7, Model: MockLanguageModelV4 },
];

/** A model that says one script per call, and remembers what it was asked. */
export function scriptedModel({ ai, Model }: Sdk, ...scripts: Loose[][]): Loose {
  let step = 0;
  const model = new Model({
    modelId: "scripted-1",
    doStream: async () => ({
      stream: ai.simulateReadableStream({
        chunks: [{ type: "stream-start", warnings: [] }, ...scripts[step++]!],
        initialDelayInMs: null,
        chunkDelayInMs: null,
      }),
    }),
  });
  return model;
}

/** The end of a step, in the form of the major. */
export function finish(
  sdk: Sdk,
  reason = "stop",
  [input, output]: readonly [number, number] = [3, 5],
): Loose {
  if (sdk.major === 5) {
    const usage = { inputTokens: input, outputTokens: output, totalTokens: input + output };
    return { type: "finish", finishReason: reason, usage };
  }
  return {
    type: "finish",
    finishReason: { unified: reason, raw: reason },
    usage: {
      inputTokens: { total: input, noCache: input, cacheRead: 1, cacheWrite: undefined },
      outputTokens: { total: output, text: output, reasoning: undefined },
    },
  };
}

export const text = (...deltas: string[]): Loose[] => [
  { type: "text-start", id: "0" },
  ...deltas.map((delta) => ({ type: "text-delta", id: "0", delta })),
  { type: "text-end", id: "0" },
];

export const call = (id: string, toolName: string, args: string): Loose[] => [
  { type: "tool-input-start", id, toolName },
  ...[...(args.match(/.{1,4}/g) ?? [])].map((delta) => ({ type: "tool-input-delta", id, delta })),
  { type: "tool-input-end", id },
  { type: "tool-call", toolCallId: id, toolName, input: args },
];
