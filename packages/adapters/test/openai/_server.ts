import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import OpenAI from "openai";
import { onTestFinished } from "vitest";

// What a service of OpenAI's kind sends: here it is written by hand, and read by their own client.
export type Loose = any;

export interface Service {
  readonly client: OpenAI;
  /** The bodies that were posted. */
  readonly posted: Loose[];
  /** Resolves when a client leaves before the end. */
  readonly left: Promise<void>;
}

/** A script is the chunks of one answer; `hang` keeps it open, `cut` drops the connection. */
export type Script = readonly (object | "hang" | "cut")[];

/** A loopback server that speaks like OpenAI, one script per request, and a client of it. */
export async function openAIService(...scripts: readonly Script[]): Promise<Service> {
  const posted: Loose[] = [];
  let leave: (() => void) | undefined;
  const left = new Promise<void>((resolve) => (leave = resolve));
  const server = createServer((request, response) => {
    let body = "";
    request.setEncoding("utf8").on("data", (text: string) => (body += text));
    request.on("end", () => {
      posted.push(JSON.parse(body));
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.on("close", () => !response.writableFinished && leave?.());
      for (const chunk of scripts[posted.length - 1] ?? []) {
        if (chunk === "hang") return;
        if (chunk === "cut") return void response.end();
        const { type } = chunk as { type?: string };
        const name = type === undefined ? "" : `event: ${type}\n`;
        response.write(`${name}data: ${JSON.stringify(chunk)}\n\n`);
      }
      response.end("data: [DONE]\n\n");
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  const baseURL = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
  return { client: new OpenAI({ baseURL, apiKey: "none", maxRetries: 0 }), posted, left };
}

const head = { id: "c1", object: "chat.completion.chunk", created: 1, model: "gpt-test" };

/** A chunk of a chat completion. */
export function delta(part: Loose, finish: string | null = null): Loose {
  return { ...head, choices: [{ index: 0, delta: part, finish_reason: finish }] };
}

export const spent: Loose = {
  ...head,
  choices: [],
  usage: {
    prompt_tokens: 3,
    completion_tokens: 5,
    total_tokens: 8,
    prompt_tokens_details: { cached_tokens: 1 },
    completion_tokens_details: { reasoning_tokens: 2 },
  },
};

/** The end of a response, with what it cost. */
export const completed: Loose = {
  type: "response.completed",
  response: {
    model: "gpt-test",
    status: "completed",
    usage: {
      input_tokens: 3,
      output_tokens: 5,
      total_tokens: 8,
      input_tokens_details: { cached_tokens: 1 },
      output_tokens_details: { reasoning_tokens: 2 },
    },
  },
};
