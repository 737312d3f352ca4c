import { setTracingDisabled, tool } from "@openai/agents-core";
import type { FunctionTool, Model, ModelRequest, StreamEvent } from "@openai/agents-core";
import { adapterUsage } from "@holodeck/agui-testing/vitest";
import type { AdapterModel, AdapterTool, ModelPart } from "@holodeck/agui-testing/vitest";

setTracingDisabled(true);

/** Whose events are in the stream. */
export type Provider = "responses" | "chat";

/** A model of the SDK that reads its answers from the suite's. */
export function fakeModel(model: AdapterModel, provider: Provider): Model {
  return {
    getResponse: () => Promise.reject(new Error("Only streams.")),
    getStreamedResponse: (request) => answer(model, provider, request),
  };
}

async function* answer(
  model: AdapterModel,
  provider: Provider,
  { input, tools, handoffs, signal }: ModelRequest,
): AsyncGenerator<StreamEvent> {
  yield { type: "response_started" };
  const parts: ModelPart[] = [];
  for await (const part of model.answer({ input, tools, handoffs }, signal)) {
    parts.push(part);
    if (part.type === "text") yield { type: "output_text_delta", delta: part.delta };
    for (const event of rawEvents[provider](part, parts.length)) yield { type: "model", event };
  }
  yield { type: "response_done", response: { id: "response", usage, output: toOutput(parts) } };
}

const { inputTokens, outputTokens } = adapterUsage;
const usage = { requests: 1, inputTokens, outputTokens, totalTokens: inputTokens + outputTokens };

const rawEvents: Record<Provider, (part: ModelPart, index: number) => object[]> = {
  chat(part, index) {
    const chunk = (delta: object) => ({ choices: [{ index: 0, delta, finish_reason: null }] });
    if (part.type === "text") return [chunk({ content: part.delta })];
    if (part.type === "reasoning") return [chunk({ reasoning_content: part.delta })];
    const { id, name, args } = part;
    return args.map((one, piece) => {
      const start = piece === 0 ? { id, type: "function" } : {};
      const named = piece === 0 ? { name } : {};
      return chunk({ tool_calls: [{ index, ...start, function: { ...named, arguments: one } }] });
    });
  },
  responses(part, index) {
    if (part.type === "text") {
      return [{ type: "response.output_text.delta", output_index: 0, delta: part.delta }];
    }
    if (part.type === "reasoning") {
      const type = "response.reasoning_summary_text.delta";
      return [{ type, output_index: 100, summary_index: 0, delta: part.delta }];
    }
    const item = { type: "function_call", call_id: part.id, name: part.name, arguments: "" };
    return [
      { type: "response.output_item.added", output_index: index, item },
      ...part.args.map((delta) => ({
        type: "response.function_call_arguments.delta",
        output_index: index,
        delta,
      })),
    ];
  },
};

type Output = Extract<StreamEvent, { type: "response_done" }>["response"]["output"];

function toOutput(parts: readonly ModelPart[]): Output {
  const join = (type: "text" | "reasoning"): string =>
    parts.map((part) => (part.type === type ? (part as { delta: string }).delta : "")).join("");
  const [text, reasoning] = [join("text"), join("reasoning")];
  const status = "completed" as const;
  return [
    ...(reasoning === ""
      ? []
      : [
          {
            type: "reasoning" as const,
            content: [{ type: "input_text" as const, text: reasoning }],
          },
        ]),
    ...(text === ""
      ? []
      : [
          {
            type: "message" as const,
            role: "assistant" as const,
            status: status,
            content: [{ type: "output_text" as const, text }],
          },
        ]),
    ...parts.flatMap((part) =>
      part.type === "call"
        ? {
            type: "function_call" as const,
            callId: part.id,
            name: part.name,
            arguments: part.args.join(""),
            status: status,
          }
        : [],
    ),
  ];
}

/** A tool of the suite as one of the SDK. */
export function toTool(given: AdapterTool): FunctionTool {
  const { name, description, parameters, needsApproval, execute } = given;
  return tool({
    name,
    description,
    parameters: parameters as never,
    strict: false,
    needsApproval,
    execute: (args: unknown, _context: unknown, details?: { signal?: AbortSignal }) =>
      execute(args, details?.signal),
  });
}
