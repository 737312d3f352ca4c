import { WorkflowChatTransport as Transport7 } from "@ai-sdk/workflow/client";
import { WorkflowChatTransport as Transport6 } from "@workflow/ai";
import type { AgentLike } from "@holodeck/agui";
import { AbstractChat as Chat6 } from "ai-6";
import { AbstractChat as Chat7 } from "ai-7";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { answer, endAll, start, watchRejections } from "./_server.ts";

afterEach(endAll);

beforeEach(() => {
  watchRejections();
  // The transport reports each cut there.
  vi.spyOn(console, "error").mockImplementation(() => {});
});
afterEach(() => vi.restoreAllMocks());

// eslint-disable-next-line typescript/no-explicit-any
type Loose = any;

/** `useChat` without React: the class behind it, with its state in an object. */
function createChat({ Chat, Transport }: Version, options: Loose): Loose {
  const state = {
    status: "ready",
    messages: [] as Loose[],
    error: undefined,
    pushMessage: (message: Loose) => state.messages.push(message),
    popMessage: () => state.messages.pop(),
    replaceMessage: (index: number, message: Loose) => (state.messages[index] = message),
    snapshot: structuredClone,
  };
  const { settings, ...rest } = options;
  const Concrete = Chat as new (init: object) => Loose;
  return new Concrete({
    id: "chat",
    state,
    transport: new (Transport as Loose)(rest),
    ...settings,
  });
}

interface Version {
  readonly name: string;
  readonly Chat: unknown;
  readonly Transport: unknown;
}

const versions: readonly Version[] = [
  { name: "@workflow/ai 6", Chat: Chat6, Transport: Transport6 },
  { name: "@ai-sdk/workflow 2", Chat: Chat7, Transport: Transport7 },
];

const whole = answer.join("");
const textOf = (message: Loose): string =>
  message.parts.map((part: Loose) => (part.type === "text" ? part.text : "")).join("");

describe.for(versions)("WorkflowChatTransport of $name", (version) => {
  test("works as it comes: its body has no type, and no id of the chat", async () => {
    const server = await start();
    const chat = createChat(version, { api: `${server.url}/api/chat` });
    await chat.sendMessage({ text: "hi" });
    expect(chat.error).toBeUndefined();
    expect(textOf(chat.messages[1])).toBe(whole);
    await chat.sendMessage({ text: "again" });
    expect(chat.messages).toHaveLength(4);
    expect(server.runs).toHaveLength(2);
  });

  test("continues after each of three cuts, and runs the agent once", async () => {
    const server = await start();
    const proxy = await server.cutting(3000, 2500, 2000);
    const chat = createChat(version, { api: `${proxy.url}/api/chat` });
    await chat.sendMessage({ text: "hi" });
    expect(chat.error).toBeUndefined();
    expect(textOf(chat.messages[1])).toBe(whole);
    expect(proxy.cuts()).toBe(3);
    expect(server.runs).toHaveLength(1);
  });

  test("continues with reasoning, tools, steps and state, whatever the place of the cut", async () => {
    const agent: AgentLike = async (_, { emit, state }) => {
      await emit.reasoning("Let me see.");
      await state.set({ step: 1 });
      const id = emit.toolCall("look", { at: "é漢🚀" });
      await emit.toolResult(id, { seen: true });
      for (const word of ["It ", "is ", "there."]) await emit.text(word);
      await emit.custom("note", { a: 1 });
    };
    const server = await start(agent);
    const ask = async (base: string): Promise<Loose> => {
      const chat = createChat(version, { api: `${base}/api/chat` });
      await chat.sendMessage({ text: "hi" });
      expect(chat.error).toBeUndefined();
      return toPlain(chat.messages[1]);
    };
    const expected = await ask(server.url);
    // The head of the response is about 400 bytes.
    for (let bytes = 600; bytes < 2600; bytes += 97) {
      const proxy = await server.cutting(bytes, bytes);
      expect(await ask(proxy.url), `cut after ${bytes} bytes`).toEqual(expected);
    }
  });

  test.for([
    ["fails", new Error("no")],
    ["is stopped by the server", undefined],
  ] as const)("ends when the run %s", async ([, failure]) => {
    let isSeen = false;
    const server = await start(async function* (_, { signal }) {
      yield "Hello ";
      isSeen = true;
      if (failure) throw failure;
      await new Promise((resolve) => signal.addEventListener("abort", resolve));
    });
    let requests = 0;
    const counting: typeof fetch = (input, init) => {
      requests++;
      return fetch(input, init);
    };
    const chat = createChat(version, { api: `${server.url}/api/chat`, fetch: counting });
    const sent = chat.sendMessage({ text: "hi" });
    if (!failure) {
      await expect.poll(() => isSeen && chat.messages[1]?.metadata?.threadId).toBeTruthy();
      const { threadId } = chat.messages[1].metadata as { threadId: string };
      await fetch(`${server.url}/api/chat/${threadId}/stop`, { method: "POST" });
    }
    await sent;
    expect(chat.status).toBe(failure ? "error" : "ready");
    expect(requests).toBeLessThanOrEqual(2);
  });

  test("reads the end of a stream, and continues from there", async () => {
    const server = await start();
    const post = await fetch(`${server.url}/api/chat`, {
      method: "POST",
      body: JSON.stringify({
        messages: [{ id: "q", role: "user", parts: [{ type: "text", text: "hi" }] }],
      }),
    });
    const all = framesOf(await post.text());
    const runId = post.headers.get("x-workflow-run-id")!;
    const tail = await fetch(`${server.url}/api/chat/${runId}/stream?startIndex=-7`);
    expect(tail.headers.get("x-workflow-stream-tail-index")).toBe(String(all.length - 1));
    expect(framesOf(await tail.text())).toEqual(all.slice(-7));
    for (const index of [0, 1, 2, 150, all.length - 1, all.length]) {
      const rest = await fetch(`${server.url}/api/chat/${runId}/stream?startIndex=${index}`);
      expect(framesOf(await rest.text())).toEqual(all.slice(index));
    }
    const wrong = await fetch(`${server.url}/api/chat/${runId}/stream?startIndex=x`);
    expect(wrong.status).toBe(400);
    const unknown = await fetch(`${server.url}/api/chat/unknown/stream?startIndex=0`);
    expect(unknown.status).toBe(204);
  });
});

function framesOf(text: string): string[] {
  return text
    .split("\n\n")
    .map((frame) => frame.replace(/^id: \d+\n/, ""))
    .filter((frame) => frame !== "" && frame !== "data: [DONE]");
}

// What differs from run to run: ids, and the run's own.
function toPlain({ parts }: Loose): Loose {
  const ids = new Map<string, string>();
  const text = JSON.stringify(parts).replaceAll(
    /"(?:[^"]*~)?[0-9A-Z]{26}[^"]*"|"[0-9a-f-]{36}[^"]*"/g,
    (id) => {
      if (!ids.has(id)) ids.set(id, `"id-${ids.size}"`);
      return ids.get(id)!;
    },
  );
  return JSON.parse(text);
}
