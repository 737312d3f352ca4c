import type { CallbackManagerForLLMRun } from "@langchain/core/callbacks/manager";
import { BaseChatModel } from "@langchain/core/language_models/chat_models";
import type { BaseChatModelCallOptions } from "@langchain/core/language_models/chat_models";
import { AIMessageChunk } from "@langchain/core/messages";
import type { BaseMessage } from "@langchain/core/messages";
import { ChatGenerationChunk } from "@langchain/core/outputs";
import { tool } from "@langchain/core/tools";
import {
  Annotation,
  Command,
  END,
  MemorySaver,
  MessagesAnnotation,
  START,
  StateGraph,
  interrupt,
} from "@langchain/langgraph";
import { ToolNode } from "@langchain/langgraph/prebuilt";
import { adapterUsage } from "@holodeck/agui-testing/vitest";
import type { AdapterModel, AdapterTool } from "@holodeck/agui-testing/vitest";
import { fromLangGraph, toLangChainMessages } from "../../src/langgraph/index.ts";
import { testSubject } from "./_subject.ts";

const State = Annotation.Root({ ...MessagesAnnotation.spec, clientTools: Annotation<unknown> });

testSubject("fromLangGraph with LangGraph 1", ({ model, tools, shared }) => {
  const fake = new FakeModel(model);
  const own = new Set(tools.map(({ name }) => name));
  const graph = new StateGraph(State)
    .addNode("model", async ({ messages, clientTools }, config) => ({
      messages: [await fake.invoke(messages, { ...config, tools: clientTools } as never)],
    }))
    .addNode("tools", new ToolNode(tools.map(toTool)))
    .addEdge(START, "model")
    .addConditionalEdges("model", ({ messages }) => {
      const { tool_calls = [] } = messages.at(-1) as AIMessageChunk;
      return tool_calls.some(({ name }) => own.has(name)) ? "tools" : END;
    })
    .addEdge("tools", "model")
    .compile({ checkpointer: shared(() => new MemorySaver()) });
  return fromLangGraph(graph, {
    command: (resume) => new Command({ resume }),
    input: (input) => ({
      messages: toLangChainMessages(input.messages),
      clientTools: input.tools,
    }),
    serverTools: [...own],
  });
});

function toTool({ name, description, parameters, needsApproval, execute }: AdapterTool) {
  return tool(
    async (args: unknown, { signal }: { signal?: AbortSignal }) => {
      if (needsApproval) {
        const { approved } = interrupt<unknown, { approved: boolean }>({ tool: name, args });
        if (!approved) return "The user said no.";
      }
      return execute(args, signal);
    },
    { name, description, schema: parameters },
  );
}

/** A model of LangChain that reads its answers from the suite's. */
class FakeModel extends BaseChatModel {
  readonly #model: AdapterModel;
  constructor(model: AdapterModel) {
    super({});
    this.#model = model;
  }
  _llmType(): string {
    return "fake";
  }
  _generate(): never {
    throw new Error("Only streams.");
  }
  override async *_streamResponseChunks(
    messages: BaseMessage[],
    options: BaseChatModelCallOptions,
    manager?: CallbackManagerForLLMRun,
  ): AsyncGenerator<ChatGenerationChunk> {
    for await (const chunk of this.#answer(messages, options)) {
      yield chunk;
      const none = undefined;
      await manager?.handleLLMNewToken(chunk.text, none, none, none, none, { chunk });
    }
  }
  async *#answer(
    messages: BaseMessage[],
    { signal, ...options }: BaseChatModelCallOptions,
  ): AsyncGenerator<ChatGenerationChunk> {
    const { tools } = options as { tools?: unknown };
    const asked = messages.map((one) => ({
      content: one.content,
      calls: (one as { tool_calls?: unknown }).tool_calls,
    }));
    let index = 0;
    for await (const part of this.#model.answer({ asked, tools }, signal)) {
      if (part.type === "text") yield chunk({ content: part.delta });
      if (part.type === "reasoning") {
        yield chunk({ content: "", additional_kwargs: { reasoning_content: part.delta } });
      }
      if (part.type !== "call") continue;
      const { id, name, args } = part;
      for (const [piece, one] of args.entries()) {
        const start = piece === 0 ? { id, name } : {};
        const type = "tool_call_chunk" as const;
        yield chunk({ content: "", tool_call_chunks: [{ index, type, args: one, ...start }] });
      }
      index++;
    }
    const { inputTokens, outputTokens } = adapterUsage;
    const total_tokens = inputTokens + outputTokens;
    const usage_metadata = { input_tokens: inputTokens, output_tokens: outputTokens, total_tokens };
    yield chunk({ content: "", usage_metadata });
  }
}

function chunk(fields: ConstructorParameters<typeof AIMessageChunk>[0]): ChatGenerationChunk {
  const message = new AIMessageChunk(fields);
  return new ChatGenerationChunk({ message, text: message.text });
}
