import { scriptedAgent } from "@holodeck/agui-testing";
import { AssistantMessageAccumulator, UIMessageStreamDecoder } from "assistant-stream";
import { JSDOM } from "jsdom";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createChat, gate, load, sdks, serveChat, textOf } from "./_chat.ts";
import type { Loose } from "./_chat.ts";

// React looks for these when it is loaded.
const { window } = new JSDOM("<!doctype html><main></main>", { url: "http://localhost/" });
const { document, navigator } = window;
const globals = { window, document, navigator };
const before = new Map(
  Object.keys(globals).map((name) => [name, Object.getOwnPropertyDescriptor(globalThis, name)]),
);

beforeAll(() => {
  for (const [name, value] of Object.entries(globals)) {
    Object.defineProperty(globalThis, name, { value, configurable: true, writable: true });
  }
});

afterAll(() => {
  for (const [name, descriptor] of before) {
    if (descriptor) Object.defineProperty(globalThis, name, descriptor);
    else Reflect.deleteProperty(globalThis, name);
  }
  window.close();
});

/** Renders `useChat` and shows what it returned last. */
async function renderChat(release: string, options: Loose): Promise<Loose> {
  const { createElement, useEffect } = load("react");
  const { createRoot } = load("react-dom/client");
  const { useChat } = load(release);
  const rendered: Loose = { current: undefined };
  const waiting = new Set<() => void>();
  function Page(): Loose {
    const chat = useChat(options);
    // After the page shows it.
    useEffect(() => {
      rendered.current = chat;
      waiting.forEach((look) => look());
    });
    const text = chat.messages.map((message: Loose) => textOf(message)).join("|");
    return createElement("p", null, text);
  }
  const root = createRoot(document.querySelector("main")!);
  root.render(createElement(Page));
  rendered.until = (fits: (chat: Loose) => boolean) =>
    new Promise<void>((resolve) => {
      const look = (): void => {
        if (!rendered.current || !fits(rendered.current)) return;
        waiting.delete(look);
        resolve();
      };
      waiting.add(look);
      look();
    });
  rendered.text = () => document.querySelector("p")?.textContent;
  rendered.unmount = () => root.unmount();
  await rendered.until(() => true);
  return rendered;
}

const hooks = [
  { release: "ai-react-2", sdk: "ai-5" },
  { release: "ai-react-3", sdk: "ai-6" },
  { release: "ai-react-4", sdk: "ai-7" },
];

describe.for(hooks)("useChat of $release", ({ release, sdk }) => {
  const { DefaultChatTransport } = load(sdk);

  test("shows the answer on the page as it comes", async () => {
    const seen = gate();
    const agent = scriptedAgent(["Hello ", { wait: seen.opened }, "world"]);
    const { api } = await serveChat(agent);
    const transport = new DefaultChatTransport({ api });
    const chat = await renderChat(release, { id: "chat-1", transport });
    void chat.current.sendMessage({ text: "hi" });
    await chat.until(({ messages }: Loose) => textOf(messages.at(-1)) === "Hello ");
    expect(chat.text()).toBe("hi|Hello ");
    expect(chat.current.status).toBe("streaming");
    seen.open();
    await chat.until(({ status }: Loose) => status === "ready");
    expect(chat.text()).toBe("hi|Hello world");
    chat.unmount();
  });

  test("resumes by itself when the page is loaded again", async () => {
    const arrived = gate();
    const agent = scriptedAgent(["Hello ", { wait: arrived.opened }, "world"]);
    const { api } = await serveChat(agent, {}, { onDisconnect: "continue" });
    const messages = [{ id: "u1", role: "user", parts: [{ type: "text", text: "hi" }] }];
    const transport = new DefaultChatTransport({ api });
    const body = JSON.stringify({ id: "chat-1", messages, trigger: "submit-message" });
    const headers = { "content-type": "application/json" };
    const first = await fetch(api, { method: "POST", headers, body });
    await first.body!.cancel();
    const chat = await renderChat(release, { id: "chat-1", transport, messages, resume: true });
    await chat.until((now: Loose) => textOf(now.messages.at(-1)) === "Hello ");
    arrived.open();
    await chat.until(({ status }: Loose) => status === "ready");
    expect(chat.text()).toBe("hi|Hello world");
    chat.unmount();
  });

  test("has the status of a failure", async () => {
    const { api } = await serveChat(scriptedAgent(["Hel", { throw: new Error("secret") }]));
    const transport = new DefaultChatTransport({ api });
    const chat = await renderChat(release, { id: "chat-1", transport });
    void chat.current.sendMessage({ text: "hi" });
    await chat.until(({ status }: Loose) => status === "error");
    expect(chat.current.error.message).toBe("An error occurred.");
    chat.unmount();
  });
});

const talkative = scriptedAgent([
  (_, { emit }) => void emit.reasoning("Hmm."),
  async (_, context) => void (await context.callTool("weather", { city: "Bern" })),
  (_, { emit }) => void emit.custom("note", { a: 1 }),
  "It is warm.",
  (_, { emit }) => void emit.toolCall("confirm", { ok: true }, { id: "call-1" }),
]);
const tools = [
  { name: "weather", description: "", invoke: () => Promise.resolve({ degrees: 20 }) },
];

test("is read by assistant-ui's own decoder", async () => {
  const { api } = await serveChat(talkative, {}, { tools });
  const body = JSON.stringify({ id: "c", trigger: "submit-message", messages: [] });
  const headers = { "content-type": "application/json" };
  const response = await fetch(api, { method: "POST", headers, body });
  const stream = response
    .body!.pipeThrough(new UIMessageStreamDecoder() as Loose)
    .pipeThrough(new AssistantMessageAccumulator());
  let last: Loose;
  for await (const message of stream as Loose) last = message;
  const ofType = (type: string): Loose[] => last.parts.filter((part: Loose) => part.type === type);
  expect(ofType("reasoning")).toMatchObject([{ text: "Hmm." }]);
  expect(ofType("text")).toMatchObject([{ text: "It is warm." }]);
  expect(ofType("tool-call")).toMatchObject([
    { toolName: "weather", args: { city: "Bern" }, result: { degrees: 20 } },
    { toolName: "confirm", args: { ok: true } },
  ]);
});

describe.for(sdks.filter(({ module }) => module.validateUIMessages))("AI SDK $name", (sdk) => {
  test("makes a message that can be stored, validated and given to a model", async () => {
    const { api } = await serveChat(talkative, {}, { tools });
    const client = createChat(sdk, { api });
    await client.chat.sendMessage({ text: "hi" });
    const stored = JSON.parse(JSON.stringify(client.messages));
    const messages = await sdk.module.validateUIMessages({ messages: stored });
    expect(messages).toEqual(stored);
    const finished = stored.map((message: Loose) => ({
      ...message,
      parts: message.parts.filter(({ type }: Loose) => type !== "tool-confirm"),
    }));
    const forModel = await sdk.module.convertToModelMessages(finished);
    expect(forModel.map(({ role }: Loose) => role)).toEqual([
      "user",
      "assistant",
      "tool",
      "assistant",
    ]);
  });

  test("is read without a chat", async () => {
    const { api } = await serveChat(talkative, {}, { tools });
    const transport = new sdk.module.DefaultChatTransport({ api });
    const stream = await transport.sendMessages({
      trigger: "submit-message",
      chatId: "c",
      messageId: undefined,
      messages: [{ id: "u1", role: "user", parts: [{ type: "text", text: "hi" }] }],
      abortSignal: undefined,
    });
    const failed = (error: unknown): void => expect(error).toBeUndefined();
    let last: Loose;
    const read = sdk.module.readUIMessageStream({
      stream,
      onError: failed,
      terminateOnError: true,
    });
    for await (const message of read) last = message;
    expect(textOf(last)).toBe("It is warm.");
  });
});
