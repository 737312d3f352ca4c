import type { AgentObject, RunAgentInput, ServerTool } from "@holodeck/agui-core";
import { fromAiSdk, toAiSdkMessages, toAiSdkTools } from "@holodeck/agui-adapters/ai-sdk";
import { createToolLoopAgent } from "@holodeck/agui-tools";
import type { ModelMessage } from "ai";
import { inWords } from "./mcp/mcp-content.ts";
import type { McpContentPart } from "@holodeck/agui-adapters/mcp";
import type { McpTools } from "./mcp/mcp-tools.ts";
import type { LazyModel } from "./model.ts";

export interface YamlAgentOptions {
  readonly name: string;
  readonly description: string | undefined;
  readonly instructions: string;
  readonly model: LazyModel;
  readonly mcp: McpTools;
  /** Receives the tools of the servers, when they are connected and with every run. */
  readonly onTools: (tools: readonly ServerTool[]) => void;
}

/** The agent of a file: asks the model, runs the tools it calls, and asks again. */
export function createYamlAgent(options: YamlAgentOptions): AgentObject {
  const { name, description, instructions, model, mcp, onTools } = options;

  return {
    name,
    ...(description === undefined ? {} : { description }),
    async ready() {
      await Promise.all([mcp.connect(), model.load(), import("ai")]);
      onTools(mcp.list(() => undefined));
    },
    run(input, context) {
      const media = new Map<string, readonly McpContentPart[]>();
      const generate = fromAiSdk(async (asked, { signal }) => {
        const [{ streamText, jsonSchema }, languageModel] = await Promise.all([
          import("ai"),
          model.load(),
        ]);
        return streamText({
          ...model.settings,
          model: languageModel,
          system: toSystem(instructions, asked),
          messages: withMedia(toAiSdkMessages(asked.messages) as ModelMessage[], media, model),
          ...(asked.tools.length > 0 ? { tools: toAiSdkTools(asked.tools, jsonSchema) } : {}),
          abortSignal: signal,
          // The stream reports the error, and the handler logs it; by default it would go to the
          // console.
          onError: () => undefined,
        });
      });
      const tools = mcp.list((id, parts) => media.set(id, parts));
      onTools(tools);
      return createToolLoopAgent({ generate, tools }).run(input, context);
    },
  };
}

// Context from the page or a middleware belongs to every question.
function toSystem(instructions: string, { context }: RunAgentInput): string {
  if (context.length === 0) return instructions;
  const items = context.map(({ description, value }) => `## ${description}\n${value}`);
  return `${instructions}\n\n# Context\n\n${items.join("\n\n")}`;
}

// Results with images, which the loop hands on as JSON, in a form that the model can see.
function withMedia(
  messages: ModelMessage[],
  media: ReadonlyMap<string, readonly McpContentPart[]>,
  { takesImages }: LazyModel,
): ModelMessage[] {
  if (media.size === 0) return messages;
  return messages.map((message) => {
    if (message.role !== "tool") return message;
    const content = message.content.map((part) => {
      const parts = part.type === "tool-result" ? media.get(part.toolCallId) : undefined;
      if (part.type !== "tool-result" || !parts) return part;
      return { ...part, output: takesImages ? toContent(parts) : toTextOutput(parts) };
    });
    return { ...message, content };
  });
}

function toTextOutput(parts: readonly McpContentPart[]): { type: "text"; value: string } {
  return { type: "text", value: inWords(parts) };
}

type ContentOutput = {
  type: "content";
  value: (
    | { type: "text"; text: string }
    | { type: "image-data"; data: string; mediaType: string }
  )[];
};

function toContent(parts: readonly McpContentPart[]): ContentOutput {
  return {
    type: "content",
    value: parts.map((part) =>
      part.type === "image"
        ? { type: "image-data", data: part.source.value, mediaType: part.source.mimeType }
        : { type: "text", text: inWords([part]) },
    ),
  };
}
