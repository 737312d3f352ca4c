import type { IncomingMessage, ServerResponse } from "node:http";
import { listen } from "./_listen.ts";
import type { Listening } from "./_listen.ts";

/** One answer of the model. */
interface Answer {
  readonly text?: string;
  /** With `raw`, that text for the arguments. */
  readonly calls?: readonly { name: string; args: unknown; raw?: string }[];
  /** Says the text, and then nothing until the connection ends. */
  readonly hangs?: boolean;
  readonly status?: number;
}

/** What the model was asked. */
interface Question {
  readonly url: string;
  readonly headers: IncomingMessage["headers"];
  readonly body: any;
}

export interface ModelServer extends Listening {
  readonly questions: readonly Question[];
  /** How many connections ended before their answer did. */
  readonly cut: number;
  /** The answers to come, in their order. */
  script(...answers: readonly Answer[]): void;
}

/** A model behind the wire format of OpenAI's chat completions, or of Anthropic's messages. */
export async function startModel(): Promise<ModelServer> {
  const questions: Question[] = [];
  let answers: Answer[] = [];
  let cut = 0;
  const listening = await listen(async (request, response) => {
    const pieces: Buffer[] = [];
    for await (const piece of request) pieces.push(piece as Buffer);
    const body = JSON.parse(Buffer.concat(pieces).toString()) as unknown;
    questions.push({ url: request.url ?? "", headers: request.headers, body });
    response.on("close", () => {
      if (!response.writableFinished) cut += 1;
    });
    const answer = answers.shift() ?? { text: "There is nothing left to say." };
    if (answer.status !== undefined) {
      response.writeHead(answer.status, { "content-type": "application/json" });
      response.end(JSON.stringify({ error: { message: "Refused.", type: "refused" } }));
      return;
    }
    response.writeHead(200, { "content-type": "text/event-stream" });
    if (request.url?.endsWith("/messages")) sayAnthropic(answer, response);
    else sayOpenAI(answer, response);
  });
  return {
    ...listening,
    questions,
    get cut() {
      return cut;
    },
    script(...next) {
      questions.length = 0;
      answers = [...next];
    },
  };
}

function sayOpenAI({ text = "", calls = [], hangs }: Answer, response: ServerResponse): void {
  const send = (delta: object, finish: string | null = null): void => {
    const choices = [{ index: 0, delta, finish_reason: finish }];
    const chunk = { id: "c1", object: "chat.completion.chunk", created: 1, model: "m1", choices };
    response.write(`data: ${JSON.stringify(chunk)}\n\n`);
  };
  send({ role: "assistant", content: "" });
  for (const content of text.match(/\S+\s*/g) ?? []) send({ content });
  if (hangs) return;
  for (const [index, { name, args, raw = JSON.stringify(args) }] of calls.entries()) {
    const id = `call-${Math.random().toString(36).slice(2)}`;
    send({ tool_calls: [{ index, id, type: "function", function: { name, arguments: "" } }] });
    for (const piece of raw.match(/.{1,7}/gs) ?? []) {
      send({ tool_calls: [{ index, function: { arguments: piece } }] });
    }
  }
  send({}, calls.length > 0 ? "tool_calls" : "stop");
  const usage = { prompt_tokens: 7, completion_tokens: 3, total_tokens: 10 };
  response.write(`data: ${JSON.stringify({ id: "c1", choices: [], usage })}\n\n`);
  response.end("data: [DONE]\n\n");
}

function sayAnthropic({ text = "", calls = [] }: Answer, response: ServerResponse): void {
  const send = (type: string, more: object): void => {
    response.write(`event: ${type}\ndata: ${JSON.stringify({ type, ...more })}\n\n`);
  };
  const usage = { input_tokens: 7, output_tokens: 1 };
  const message = { id: "m1", type: "message", role: "assistant", model: "m1", content: [], usage };
  send("message_start", { message: { ...message, stop_reason: null, stop_sequence: null } });
  send("content_block_start", { index: 0, content_block: { type: "text", text: "" } });
  for (const piece of text.match(/\S+\s*/g) ?? []) {
    send("content_block_delta", { index: 0, delta: { type: "text_delta", text: piece } });
  }
  send("content_block_stop", { index: 0 });
  for (const [at, { name, args }] of calls.entries()) {
    const index = at + 1;
    const block = { type: "tool_use", id: `toolu-${index}`, name, input: {} };
    send("content_block_start", { index, content_block: block });
    const partial = { type: "input_json_delta", partial_json: JSON.stringify(args) };
    send("content_block_delta", { index, delta: partial });
    send("content_block_stop", { index });
  }
  const delta = { stop_reason: calls.length > 0 ? "tool_use" : "end_turn", stop_sequence: null };
  send("message_delta", { delta, usage: { output_tokens: 3 } });
  send("message_stop", {});
  response.end();
}
