import { once } from "node:events";
import { createServer } from "node:http";
import type { ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import OpenAI from "openai";
import { onTestFinished } from "vitest";
import { adapterUsage } from "@holodeck/agui-testing/vitest";
import type { AdapterModel, ModelPart } from "@holodeck/agui-testing/vitest";

const usage = { total_tokens: adapterUsage.inputTokens + adapterUsage.outputTokens };

/** OpenAI's client, and a service on loopback whose model is the suite's. */
export async function openAIService(model: AdapterModel): Promise<OpenAI> {
  const server = createServer(async (request, response) => {
    let body = "";
    for await (const piece of request.setEncoding("utf8")) body += String(piece);
    const left = new AbortController();
    response.on("close", () => left.abort());
    response.writeHead(200, { "content-type": "text/event-stream" });
    const write = request.url!.endsWith("/responses") ? writeResponse : writeChat;
    try {
      await write(response, model.answer(JSON.parse(body), left.signal));
      response.end("data: [DONE]\n\n");
    } catch (error) {
      send(response, { type: "error", error: { message: String(error), code: "server_error" } });
      response.end();
    }
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  const baseURL = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
  return new OpenAI({ baseURL, apiKey: "none", maxRetries: 0 });
}

function send(response: ServerResponse, chunk: object): void {
  const { type } = chunk as { type?: string };
  const name = type === undefined ? "" : `event: ${type}\n`;
  response.write(`${name}data: ${JSON.stringify(chunk)}\n\n`);
}

async function writeChat(
  response: ServerResponse,
  answer: AsyncIterable<ModelPart>,
): Promise<void> {
  const head = { id: "c1", object: "chat.completion.chunk", created: 1, model: "fake-1" };
  const delta = (part: object, finish_reason: string | null = null): void =>
    send(response, { ...head, choices: [{ index: 0, delta: part, finish_reason }] });
  let index = 0;
  for await (const part of answer) {
    if (part.type === "text") delta({ content: part.delta });
    else if (part.type === "reasoning") delta({ reasoning_content: part.delta });
    else {
      const { id, name, args } = part;
      for (const [piece, one] of args.entries()) {
        const start = piece === 0 ? { id, type: "function" } : {};
        const named = piece === 0 ? { name } : {};
        delta({ tool_calls: [{ index, ...start, function: { ...named, arguments: one } }] });
      }
      index++;
    }
  }
  delta({}, index > 0 ? "tool_calls" : "stop");
  const { inputTokens: prompt_tokens, outputTokens: completion_tokens } = adapterUsage;
  send(response, { ...head, choices: [], usage: { ...usage, prompt_tokens, completion_tokens } });
}

async function writeResponse(
  response: ServerResponse,
  answer: AsyncIterable<ModelPart>,
): Promise<void> {
  let output_index = 0;
  for await (const part of answer) {
    if (part.type === "text") {
      const { delta } = part;
      send(response, { type: "response.output_text.delta", output_index, content_index: 0, delta });
    } else if (part.type === "reasoning") {
      const type = "response.reasoning_summary_text.delta";
      send(response, { type, output_index: 100, summary_index: 0, delta: part.delta });
    } else {
      output_index++;
      const { id, name, args } = part;
      const item = { type: "function_call", call_id: id, name };
      const started = { ...item, arguments: "" };
      send(response, { type: "response.output_item.added", output_index, item: started });
      for (const delta of args) {
        send(response, { type: "response.function_call_arguments.delta", output_index, delta });
      }
      const whole = { ...item, arguments: args.join("") };
      send(response, { type: "response.output_item.done", output_index, item: whole });
    }
  }
  const { inputTokens: input_tokens, outputTokens: output_tokens } = adapterUsage;
  const spent = { ...usage, input_tokens, output_tokens };
  const done = { model: "fake-1", status: "completed", usage: spent };
  send(response, { type: "response.completed", response: done });
}
