import { adapterUsage } from "@holodeck/agui-testing/vitest";
import type { AdapterModel, AdapterTool } from "@holodeck/agui-testing/vitest";
import { fromAiSdk, toAiSdkMessages, toAiSdkTools } from "../../src/ai-sdk/index.ts";
import { finish, sdks } from "../ai-sdk/_models.ts";
import type { Loose, Sdk } from "../ai-sdk/_models.ts";
import { testSubject } from "./_subject.ts";

for (const sdk of sdks) {
  const { streamText, jsonSchema, stepCountIs } = sdk.ai;
  testSubject(`fromAiSdk with AI SDK ${sdk.major}`, ({ model, tools }) => {
    const own = toTools(sdk, tools);
    const fake = toModel(sdk, model);
    return fromAiSdk(
      (input, { signal, session }) =>
        streamText({
          model: fake,
          messages: toAiSdkMessages(input.messages, { answers: session.answers }),
          tools: { ...own, ...toAiSdkTools(input.tools, jsonSchema) },
          abortSignal: signal,
          stopWhen: stepCountIs(5),
          maxRetries: 0,
          onError: () => {},
        }),
      { tools: own },
    );
  });
}

function toTools({ ai }: Sdk, tools: readonly AdapterTool[]): Record<string, Loose> {
  const entries = tools.map(({ name, description, parameters, needsApproval, execute }) => [
    name,
    ai.tool({
      description,
      inputSchema: ai.jsonSchema(parameters),
      execute: (args: unknown, { abortSignal }: Loose) => execute(args, abortSignal),
      ...(needsApproval ? { needsApproval } : {}),
    }),
  ]);
  return Object.fromEntries(entries) as Record<string, Loose>;
}

function toModel(sdk: Sdk, model: AdapterModel): Loose {
  return new sdk.Model({
    modelId: "fake-1",
    doStream: async ({ prompt, tools, abortSignal }: Loose) => ({
      stream: (ReadableStream as Loose).from(answer(sdk, model, { prompt, tools, abortSignal })),
    }),
  });
}

async function* answer(sdk: Sdk, model: AdapterModel, asked: Loose): AsyncGenerator<Loose> {
  const { abortSignal, ...request } = asked;
  yield { type: "stream-start", warnings: [] };
  let open: string | undefined;
  let reason = "stop";
  for await (const part of model.answer(request, abortSignal)) {
    if (open !== undefined && open !== part.type) yield { type: `${open}-end`, id: open };
    if (part.type === "call") {
      open = undefined;
      reason = "tool-calls";
      const { id, name: toolName, args } = part;
      yield { type: "tool-input-start", id, toolName };
      for (const delta of args) yield { type: "tool-input-delta", id, delta };
      yield { type: "tool-input-end", id };
      yield { type: "tool-call", toolCallId: id, toolName, input: args.join("") };
    } else {
      if (open !== part.type) yield { type: `${part.type}-start`, id: part.type };
      open = part.type;
      yield { type: `${part.type}-delta`, id: part.type, delta: part.delta };
    }
  }
  if (open !== undefined) yield { type: `${open}-end`, id: open };
  yield finish(sdk, reason, [adapterUsage.inputTokens, adapterUsage.outputTokens]);
}
