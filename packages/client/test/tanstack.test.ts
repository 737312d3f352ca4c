import { toolDefinition } from "@tanstack/ai";
import { ChatClient, fetchServerSentEvents } from "@tanstack/ai-client";
import { createAgentHandler } from "@holodeck/agui";
import type { AgentLike } from "@holodeck/agui";
import { defineTool } from "@holodeck/agui-tools";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { z } from "zod";
import { answer, endAll, start, watchRejections } from "./_server.ts";

afterEach(endAll);

beforeEach(watchRejections);

// eslint-disable-next-line typescript/no-explicit-any
type Loose = any;

function createChat(base: string, options: Loose = {}): Loose {
  const connection = fetchServerSentEvents(`${base}/agui`, { reconnect: { delayMs: 1 } });
  return new ChatClient({ connection, threadId: "t", ...options });
}

const textsOf = (client: Loose): string[] =>
  client
    .getMessages()
    .map(({ parts }: Loose) =>
      parts.map((part: Loose) => (part.type === "text" ? part.content : "")).join(""),
    );

describe("TanStack AI", () => {
  test("receives the end of a run whose connection is cut at any byte of it", async () => {
    const server = await start(async () => "Hello world");
    const whole = await server.cutting();
    await createChat(whole.url).sendMessage("hi");
    const total = whole.bytes();
    for (let bytes = total - 60; bytes <= total; bytes++) {
      const proxy = await server.cutting(bytes);
      const client = createChat(proxy.url, { threadId: `t${bytes}` });
      await client.sendMessage("hi");
      expect(client.getError(), `cut after ${bytes} of ${total} bytes`).toBeUndefined();
      expect(textsOf(client)).toEqual(["hi", "Hello world"]);
    }
  });

  test("sends a copy of its properties, which nothing warns of", async () => {
    const warnings: unknown[] = [];
    const logger = {
      debug() {},
      info() {},
      error() {},
      warn: (fields: unknown) => void warnings.push(fields),
    };
    const props: unknown[] = [];
    const server = await start(
      async ({ forwardedProps }) => {
        props.push(forwardedProps);
        return "Hello";
      },
      { logger },
    );
    await createChat(server.url, { forwardedProps: { tone: "kind" } }).sendMessage("hi");
    expect(props).toMatchObject([{ tone: "kind" }]);
    expect(warnings).toEqual([]);
  });

  test("runs its client tools once, and sends their results", async () => {
    const agent: AgentLike = async ({ messages }, { emit }) => {
      const results = messages.filter(({ role }) => role === "tool");
      if (results.length > 0)
        return `You are in ${results.map(({ content }) => content as string).join(" and ")}.`;
      emit.toolCall("locate", { precise: true }, { id: "a" });
      emit.toolCall("locate", { precise: false }, { id: "b" });
      return undefined;
    };
    const server = await start(agent);
    const ask = async (base: string, threadId: string, onCall?: () => void): Promise<unknown> => {
      const calls: unknown[] = [];
      const locate = toolDefinition({
        name: "locate",
        description: "Locates the user.",
        inputSchema: z.object({ precise: z.boolean() }),
        outputSchema: z.object({ city: z.string() }),
      }).client((input) => {
        calls.push(input);
        onCall?.();
        return { city: "Rome" };
      });
      const client = createChat(base, { threadId, tools: [locate] });
      await client.sendMessage("where am I?");
      await expect.poll(() => textsOf(client).at(-1)).toContain("You are in");
      return { calls, text: textsOf(client).at(-1) };
    };
    const plain = await server.cutting();
    let asked = 0;
    const expected = await ask(plain.url, "plain", () => (asked ||= plain.bytes()));
    expect(expected).toEqual({
      calls: [{ precise: true }, { precise: false }],
      text: 'You are in {"city":"Rome"} and {"city":"Rome"}.',
    });
    // Around the events that ask for the tools.
    for (let bytes = asked - 700; bytes < asked; bytes += 23) {
      const proxy = await server.cutting(bytes);
      expect(await ask(proxy.url, `t${bytes}`), `cut after ${bytes} bytes`).toEqual(expected);
    }
  });

  test("answers an interrupt", async () => {
    const resumed: unknown[] = [];
    const server = await start(async ({ resume }, { emit }) => {
      if (resume) {
        resumed.push(resume);
        return "Thanks.";
      }
      emit.interrupt({
        id: "i",
        reason: "input",
        message: "Which one?",
        responseSchema: { type: "object", required: ["choice"] },
      });
      return undefined;
    });
    const client = createChat(server.url);
    await client.sendMessage("hi");
    const [interrupt] = client.getInterrupts();
    expect(interrupt).toMatchObject({ id: "i", canResolve: true, message: "Which one?" });
    interrupt.resolveInterrupt({ choice: 2 });
    await expect.poll(() => textsOf(client).at(-1)).toBe("Thanks.");
    expect(resumed).toMatchObject([
      [{ interruptId: "i", status: "resolved", payload: { choice: 2 } }],
    ]);
  });

  test.for([true, false])("answers an approval: %s", async (approved) => {
    let paid = 0;
    const pay = defineTool({
      name: "pay",
      description: "Pays.",
      parameters: z.object({ amount: z.number() }),
      needsApproval: true,
      execute: ({ amount }) => {
        paid += amount;
        return "paid";
      },
    });
    const agent: AgentLike = async (_, { callTool }) => {
      const result = await callTool("pay", { amount: 50 }).catch((error: Loose) => {
        if (error.code === "halted") throw error;
        return "denied";
      });
      return `It is ${String(result)}.`;
    };
    const server = await start(agent, { tools: [pay] });
    const client = createChat(server.url);
    await client.sendMessage("pay!");
    const part = client
      .getMessages()
      .flatMap(({ parts }: Loose) => parts)
      .find(({ type }: Loose) => type === "tool-call");
    expect(part).toMatchObject({
      name: "pay",
      state: "approval-requested",
      approval: { needsApproval: true },
    });
    expect(paid).toBe(0);
    await client.addToolApprovalResponse({ id: part.approval.id, approved });
    await expect
      .poll(() => textsOf(client).at(-1))
      .toBe(approved ? "It is paid." : "It is denied.");
    expect(paid).toBe(approved ? 50 : 0);
  });
});

describe("TanStack AI after a reload", () => {
  /** A page with a client that loads its thread. */
  function open(base: string): Loose {
    const client = createChat(base, { persistence: true });
    client.attach?.();
    return client;
  }

  test("shows its thread: messages, tools and thoughts", async () => {
    const server = await start(async (_, { emit }) => {
      await emit.reasoning("Let me see.");
      const id = emit.toolCall("look", { at: 1 }, { id: "c" });
      await emit.toolResult(id, { seen: true });
      return "It is there.";
    });
    await createChat(server.url).sendMessage("hi");
    const page = open(server.url);
    await expect.poll(() => textsOf(page).filter(Boolean)).toEqual(["hi", "It is there."]);
    const parts = page.getMessages().flatMap((message: Loose) => message.parts);
    expect(parts).toContainEqual(
      expect.objectContaining({
        type: "tool-call",
        name: "look",
        state: "complete",
        input: { at: 1 },
        output: { seen: true },
      }),
    );
    expect(parts).toContainEqual(
      expect.objectContaining({ type: "thinking", content: "Let me see." }),
    );
  });

  test("follows the answer that goes on", async () => {
    let release = (): void => {};
    const opened = new Promise<void>((resolve) => (release = resolve));
    const server = await start(async function* () {
      yield "Hello ";
      await opened;
      yield* answer;
    });
    const before = createChat(server.url);
    const sent = before.sendMessage("hi");
    await expect.poll(() => textsOf(before)).toEqual(["hi", "Hello "]);
    const page = open(server.url);
    await expect.poll(() => textsOf(page)).toEqual(["hi", "Hello "]);
    release();
    await sent;
    await expect.poll(() => textsOf(page)).toEqual(["hi", `Hello ${answer.join("")}`]);
  });

  test("asks the open question again", async () => {
    const server = await start(async ({ resume }, { emit }) => {
      if (resume) return "Thanks.";
      emit.interrupt({ id: "i", reason: "input", message: "Which one?" });
      return undefined;
    });
    await createChat(server.url).sendMessage("hi");
    const page = open(server.url);
    await expect.poll(() => page.getInterrupts().length).toBe(1);
    page.getInterrupts()[0].resolveInterrupt({ choice: 2 });
    await expect.poll(() => textsOf(page).at(-1)).toBe("Thanks.");
  });

  test("shows nothing of a thread that does not exist", async () => {
    const { url } = await start();
    const response = await fetch(`${url}/agui?threadId=none`, {
      headers: { accept: "application/json" },
    });
    expect(await response.json()).toEqual({ messages: [], activeRun: null, interrupts: null });
  });
});

test("what is for TanStack AI only is sent to no other client", async () => {
  const agent: AgentLike = async (_, { emit }) => {
    emit.toolCall("locate", {}, { id: "a" });
  };
  const handler = createAgentHandler(agent, {
    logger: { debug() {}, info() {}, warn() {}, error() {} },
  });
  const post = async (headers: Record<string, string>, more: object = {}): Promise<string> => {
    const response = await handler.fetch(
      new Request("http://test.local/agui", {
        method: "POST",
        headers: { "content-type": "application/json", ...headers },
        body: JSON.stringify({
          threadId: crypto.randomUUID(),
          runId: crypto.randomUUID(),
          messages: [{ id: "q", role: "user", content: "hi" }],
          tools: [{ name: "locate", description: "", parameters: {} }],
          context: [],
          state: {},
          forwardedProps: {},
          ...more,
        }),
      }),
    );
    return response.text();
  };
  expect(await post({ "x-run-id": "r" })).toContain("tool-input-available");
  expect(await post({})).not.toContain("tool-input-available");
  expect(await post({ "x-run-id": "r" }, { protocolVersion: "1.0" })).not.toContain(
    "tool-input-available",
  );
  await handler.close();
});
