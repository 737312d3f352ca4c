import { HttpAgent } from "@ag-ui/client";
import { WorkflowChatTransport } from "@ai-sdk/workflow/client";
import { ChatClient, fetchServerSentEvents } from "@tanstack/ai-client";
import { AbstractChat, DefaultChatTransport } from "ai-7";
import { resumable } from "../src/index.ts";

// eslint-disable-next-line typescript/no-explicit-any
type Loose = any;

/** A client that receives an answer through a connection that is cut. */
export interface UnbrokenClient {
  readonly name: string;
  /** How often the connections of one answer are cut at most; by default as often as they are. */
  readonly maxCuts?: number;
  /** Whether it survives the loss of a response before its first byte. */
  readonly survivesHead: boolean;
  /** Asks on a thread, and returns the text of the answer. */
  ask(base: string, threadId: string): Promise<string>;
}

const quick = { delayMs: 1, retries: 50 };

export const unbrokenClients: readonly UnbrokenClient[] = [
  {
    name: "HttpAgent with resumable(fetch)",
    survivesHead: true,
    async ask(base, threadId) {
      const agent = new HttpAgent({
        url: `${base}/agui`,
        threadId,
        fetch: resumable(fetch, quick),
      });
      agent.addMessage({ id: "q", role: "user", content: "hi" });
      await agent.runAgent();
      return agent.messages[1]?.content as string;
    },
  },
  {
    name: "TanStack AI as it is",
    // Its first request is not repeated.
    survivesHead: false,
    async ask(base, threadId) {
      const reconnect = { delayMs: 1, maxAttempts: 50 };
      const connection = fetchServerSentEvents(`${base}/agui`, { reconnect });
      const client = new ChatClient({ connection, threadId });
      await client.sendMessage("hi");
      return textOf(client.getMessages()[1], "content");
    },
  },
  {
    name: "useChat with WorkflowChatTransport as it is",
    // It gives up after three failures in a row.
    maxCuts: 3,
    survivesHead: false,
    ask: (base, threadId) =>
      askChat(new WorkflowChatTransport({ api: `${base}/api/chat` }), threadId),
  },
  {
    name: "useChat with resumable(fetch)",
    survivesHead: true,
    ask: (base, threadId) =>
      askChat(
        new DefaultChatTransport({ api: `${base}/api/chat`, fetch: resumable(fetch, quick) }),
        threadId,
      ),
  },
];

function textOf(message: Loose, member: string): string {
  const parts: Loose[] = message?.parts ?? [];
  return parts.map((part) => (part.type === "text" ? (part[member] as string) : "")).join("");
}

/** `useChat` without React: the class behind it, with its state in an object. */
async function askChat(transport: unknown, id: string): Promise<string> {
  const state = {
    status: "ready",
    messages: [] as Loose[],
    error: undefined,
    pushMessage: (message: Loose) => state.messages.push(message),
    popMessage: () => state.messages.pop(),
    replaceMessage: (index: number, message: Loose) => (state.messages[index] = message),
    snapshot: structuredClone,
  };
  const Chat = AbstractChat as unknown as new (init: object) => Loose;
  const chat = new Chat({ id, state, transport });
  await chat.sendMessage({ text: "hi" });
  if (chat.error) throw chat.error as Error;
  return textOf(state.messages[1], "text");
}
