import { HttpAgent } from "@ag-ui/client";
import { HttpAgent as HttpAgent0 } from "ag-ui-client-0";
import { DefaultChatTransport as Transport5, readUIMessageStream as read5 } from "ai-5";
import { DefaultChatTransport as Transport6, readUIMessageStream as read6 } from "ai-6";
import { DefaultChatTransport as Transport7, readUIMessageStream as read7 } from "ai-7";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { resumable } from "../src/index.ts";
import type { ResumableOptions } from "../src/index.ts";
import { answer, endAll, start, watchRejections } from "./_server.ts";

afterEach(endAll);

beforeEach(watchRejections);

const whole = answer.join("");
const quick: ResumableOptions = { delayMs: 1 };

interface Client {
  readonly name: string;
  /** Asks, and returns the text of the answer. */
  ask(base: string, fetch: typeof globalThis.fetch): Promise<string>;
}

type AgentClass = typeof HttpAgent;
type TransportClass = typeof Transport7;

const withHttpAgent = (name: string, Agent: AgentClass): Client => ({
  name,
  async ask(base, fetch) {
    const agent = new Agent({ url: `${base}/agui`, threadId: "t", fetch });
    agent.addMessage({ id: "q", role: "user", content: "hi" });
    await agent.runAgent();
    return agent.messages
      .slice(1)
      .map(({ content }) => content as string)
      .join("|");
  },
});

const withChat = (name: string, Transport: TransportClass, read: typeof read7): Client => ({
  name,
  async ask(base, fetch) {
    const transport = new Transport({ api: `${base}/api/chat`, fetch });
    const stream = await transport.sendMessages({
      trigger: "submit-message",
      chatId: "t",
      messageId: undefined,
      messages: [{ id: "q", role: "user", parts: [{ type: "text", text: "hi" }] }],
      abortSignal: undefined,
    });
    let text = "";
    for await (const { parts } of read({ stream, terminateOnError: true })) {
      text = parts.map((part) => (part.type === "text" ? part.text : "")).join("");
    }
    return text;
  },
});

const clients: readonly Client[] = [
  withHttpAgent("HttpAgent 1.0", HttpAgent),
  withHttpAgent("HttpAgent 0.0.59", HttpAgent0 as unknown as AgentClass),
  withChat(
    "DefaultChatTransport of AI SDK 5",
    Transport5 as unknown as TransportClass,
    read5 as unknown as typeof read7,
  ),
  withChat(
    "DefaultChatTransport of AI SDK 6",
    Transport6 as unknown as TransportClass,
    read6 as unknown as typeof read7,
  ),
  withChat("DefaultChatTransport of AI SDK 7", Transport7, read7),
];

describe.for(clients)("$name with resumable(fetch)", (client) => {
  test("receives an answer whose connection is cut in the middle, three times", async () => {
    const server = await start();
    const proxy = await server.cutting(1500, 900, 2000);
    expect(await client.ask(proxy.url, resumable(fetch, quick))).toBe(whole);
    expect(proxy.cuts()).toBe(3);
    expect(server.runs).toHaveLength(1);
  });

  test("receives an answer when the head of the response is lost", async () => {
    const server = await start();
    const proxy = await server.cutting(0, 40, 100);
    expect(await client.ask(proxy.url, resumable(fetch, quick))).toBe(whole);
    expect(proxy.cuts()).toBe(3);
    expect(server.runs).toHaveLength(1);
  });

  test("fails once when the server stays away", async () => {
    const server = await start();
    const proxy = await server.cutting(1500, 0, 0, 0, 0, 0, 0, 0, 0, 0);
    const asking = client.ask(proxy.url, resumable(fetch, { ...quick, retries: 2 }));
    await expect(asking).rejects.toThrow();
    expect(proxy.cuts()).toBe(3);
  });
});
