import type { Model, ModelRequest, StreamEvent } from "@openai/agents-core";

type Answer = { readonly text: string } | { readonly name: string; readonly args: object };

/** Sends a mail when asked to, hands poems over, and repeats everything else. */
export const fakeModel: Model = {
  getResponse: () => Promise.reject(new Error("This model only streams.")),
  async *getStreamedResponse(request): AsyncGenerator<StreamEvent> {
    const answer = answerTo(request);
    yield { type: "response_started" };
    const words = "text" in answer ? answer.text.split(/(?<= )/) : [];
    for (const delta of words) yield { type: "output_text_delta", delta };
    const usage = { inputTokens: 10, outputTokens: words.length, totalTokens: 10 + words.length };
    yield { type: "response_done", response: { id: "fake", usage, output: [toOutput(answer)] } };
  },
};

function answerTo({ input, systemInstructions = "" }: ModelRequest): Answer {
  const items = typeof input === "string" ? [] : input;
  const last = items.at(-1);
  if (systemInstructions.includes("verse"))
    return { text: "Roses are red,\nand so is this thread." };
  if (last?.type === "function_call_result") {
    const { output } = last;
    return { text: typeof output === "object" && "text" in output ? output.text : "Done." };
  }
  const asked = last && "content" in last && typeof last.content === "string" ? last.content : "";
  if (asked.includes("mail")) {
    return { name: "send_mail", args: { to: "ann@example.com", text: asked } };
  }
  if (asked.includes("poem")) return { name: "transfer_to_Poet", args: {} };
  return { text: `You wrote: ${asked}` };
}

type Output = Extract<StreamEvent, { type: "response_done" }>["response"]["output"][number];

function toOutput(answer: Answer): Output {
  const status = "completed";
  if ("name" in answer) {
    const { name, args } = answer;
    const callId = crypto.randomUUID();
    return { type: "function_call", callId, name, arguments: JSON.stringify(args), status };
  }
  const content = [{ type: "output_text" as const, text: answer.text }];
  return { type: "message", role: "assistant", status, content };
}
