import { ulid } from "@holodeck/agui-core";
import type { LanguageModel } from "ai";

type Model = Extract<LanguageModel, { specificationVersion: "v3" }>;
type Options = Parameters<Model["doStream"]>[0];
type Part =
  Awaited<ReturnType<Model["doStream"]>>["stream"] extends ReadableStream<infer TPart>
    ? TPart
    : never;

/**
 * A model without a network: it repeats its input, and calls a tool that the user names, with the
 * JSON that follows the name as arguments.
 */
export function createDemoModel(name = "echo"): LanguageModel {
  const model: Model = {
    specificationVersion: "v3",
    provider: "demo",
    modelId: name,
    supportedUrls: {},
    doGenerate: () => Promise.reject(new Error("The demo model only streams.")),
    doStream: (options) => Promise.resolve({ stream: toStream(answer(options), options) }),
  };
  return model;
}

function* answer({ prompt, tools = [] }: Options): Generator<Part> {
  yield { type: "stream-start", warnings: [] };
  const last = prompt.at(-1);
  const asked = last?.role === "user" ? textOf(last.content) : "";
  const words = new Set(asked.split(/[^\w-]+/));
  const wanted = tools.find(({ name }) => words.has(name))?.name;
  if (wanted !== undefined) {
    const input = /\{.*\}/s.exec(asked)?.[0] ?? "{}";
    yield { type: "tool-call", toolCallId: ulid(), toolName: wanted, input };
    return yield end("tool-calls", asked, input);
  }
  const reply = last?.role === "tool" ? toolText(last.content) : `You said: ${asked}`;
  yield { type: "text-start", id: "1" };
  for (const delta of reply.match(/\S+\s*|\s+/g) ?? [])
    yield { type: "text-delta", id: "1", delta };
  yield { type: "text-end", id: "1" };
  yield end("stop", asked, reply);
}

function textOf(content: readonly { type: string; text?: string }[]): string {
  return content.map(({ text = "" }) => text).join("");
}

function toolText(content: readonly { type: string }[]): string {
  return content
    .map((part) => {
      const { toolName, output } = part as { toolName?: string; output?: { value?: unknown } };
      const { value } = output ?? {};
      return `${toolName}: ${typeof value === "string" ? value : JSON.stringify(value)}`;
    })
    .join("\n");
}

// The count is not used for billing; words are enough.
function end(unified: "stop" | "tool-calls", asked: string, reply: string): Part {
  const words = (text: string): number => text.split(/\s+/).filter(Boolean).length;
  const [input, output] = [words(asked), words(reply)];
  return {
    type: "finish",
    finishReason: { unified, raw: undefined },
    usage: {
      inputTokens: { total: input, noCache: input, cacheRead: 0, cacheWrite: 0 },
      outputTokens: { total: output, text: output, reasoning: 0 },
    },
  };
}

function toStream(parts: Generator<Part>, { abortSignal }: Options): ReadableStream<Part> {
  return new ReadableStream({
    pull(controller) {
      if (abortSignal?.aborted) return controller.error(abortSignal.reason);
      const { done, value } = parts.next();
      if (done) controller.close();
      else controller.enqueue(value);
    },
  });
}
