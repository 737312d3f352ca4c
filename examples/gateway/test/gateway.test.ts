import {
  AbstractChat,
  DefaultChatTransport,
  lastAssistantMessageIsCompleteWithApprovalResponses,
} from "ai";
import type { ChatInit, ChatState, UIMessage } from "ai";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startBackend } from "../backend.ts";
import { start } from "../server.ts";

type Part = UIMessage["parts"][number];
type Server = Awaited<ReturnType<typeof start>>;

let backend: Server;
let server: Server;
beforeAll(async () => {
  backend = await startBackend();
  server = await start(backend.url, 0);
});
afterAll(async () => {
  await server.close();
  await backend.close();
});

/** The class behind `useChat`, with a plain state in place of React's. */
class PlainChat extends AbstractChat<UIMessage> {
  constructor(init: ChatInit<UIMessage>) {
    const state: ChatState<UIMessage> = {
      status: "ready",
      error: undefined,
      messages: [],
      pushMessage: (message) => void (state.messages = [...state.messages, message]),
      popMessage: () => void (state.messages = state.messages.slice(0, -1)),
      replaceMessage: (index, message) =>
        void (state.messages = state.messages.with(index, structuredClone(message))),
      snapshot: (thing) => structuredClone(thing),
    };
    super({ ...init, state });
  }

  get parts(): Part[] {
    return this.messages.at(-1)?.parts ?? [];
  }

  get text(): string {
    return this.parts.map((part) => (part.type === "text" ? part.text : "")).join("");
  }
}

function open(id: string, init: ChatInit<UIMessage> = {}): PlainChat {
  const api = `${server.url}/api/chat?sdkVersion=6`;
  return new PlainChat({ id, transport: new DefaultChatTransport({ api }), ...init });
}

describe("a gateway", () => {
  test("serves an AG-UI server to useChat, history and state included", async () => {
    const chat = open("chat-1");
    await chat.sendMessage({ text: "hi" });
    expect(chat.error).toBeUndefined();
    expect(chat.text).toBe("Message 1: hi");
    expect(chat.parts).toContainEqual(
      expect.objectContaining({ type: "data-agui-state", data: { last: "hi" } }),
    );
    await chat.sendMessage({ text: "again" });
    expect(chat.error).toBeUndefined();
    expect(chat.text).toBe("Message 3: again");
  });

  test.for([
    { approved: true, said: "Your pizza is on its way." },
    { approved: false, said: "No pizza, then." },
  ])("asks the user for the server behind it (approved: $approved)", async ({ approved, said }) => {
    let answered: () => void;
    const done = new Promise<void>((resolve) => (answered = resolve));
    let runs = 0;
    const chat = open(`chat-${String(approved)}`, {
      sendAutomaticallyWhen: lastAssistantMessageIsCompleteWithApprovalResponses,
      onFinish: () => void (++runs === 2 && answered()),
    });
    await chat.sendMessage({ text: "One pizza, please." });
    const call = chat.parts.find(({ type }) => type === "tool-order");
    expect(call).toMatchObject({ state: "approval-requested", input: { dish: "pizza" } });
    const { approval } = call as { approval: { id: string } };
    await chat.addToolApprovalResponse({ id: approval.id, approved });
    await done;
    expect(chat.error).toBeUndefined();
    expect(chat.text).toContain(said);
  });

  test("serves AG-UI's own clients as well", async () => {
    const reply = await fetch(`${server.url}/agui`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ messages: [{ id: "1", role: "user", content: "hi" }] }),
    });
    expect(await reply.text()).toContain("Message 1: ");
  });
});
