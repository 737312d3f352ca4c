import type { AgentHandler } from "@holodeck/agui";
import type { Message, Session } from "@holodeck/agui-core";
import { scriptedAgent } from "@holodeck/agui-testing";
import type { Script } from "@holodeck/agui-testing";
import { describe, expect, test } from "vitest";
import { createChat, sdks, serveChat, textOf } from "./_chat.ts";
import type { Loose } from "./_chat.ts";

const tools = [
  { name: "weather", description: "", invoke: () => Promise.resolve({ degrees: 20 }) },
];

const withTool: Script = [
  (_, { emit }) => void emit.reasoning("Let me see."),
  "One moment. ",
  async (_, context) => void (await context.callTool("weather", { city: "Bern" })),
  "It is warm.",
];

async function sessionOf(handler: AgentHandler): Promise<Session> {
  return (await handler.sessions.get({ principal: "", threadId: "chat-1" }))!;
}

const outline = (messages: readonly Message[]): unknown[] =>
  messages.map(({ role, content }) => [role, content ?? ""]);

const expected = [
  ["user", "one"],
  ["reasoning", "Let me see."],
  ["assistant", "One moment. "],
  ["assistant", ""],
  ["tool", '{"degrees":20}'],
  ["assistant", "It is warm."],
  ["user", "two"],
];

describe.for(sdks)("AI SDK $name", (sdk) => {
  test.for(["client", "server"] as const)(
    "keeps the conversation, each message once, when the %s owns it",
    async (history) => {
      const agent = scriptedAgent(withTool, ["Good."]);
      const { api, handler } = await serveChat(agent, {}, { tools, history });
      const client = createChat(sdk, { api });
      await client.chat.sendMessage({ text: "one" });
      const before = (await sessionOf(handler)).messages;
      await client.chat.sendMessage({ text: "two" });
      const { messages } = agent.inputs[1]!;
      expect(outline(messages)).toEqual(expected);
      // Under the ids that the server gave them, and with what it knows.
      expect(messages.slice(0, -1)).toEqual(before);
      const after = (await sessionOf(handler)).messages;
      expect(outline(after)).toEqual([...expected, ["assistant", "Good."]]);
      expect(client.messages).toHaveLength(4);
    },
  );
});

const [, , , newest] = sdks;

describe("a thread", () => {
  test("has each message once, also when the client forgot what its parts came from", async () => {
    const agent = scriptedAgent(withTool, ["Good."]);
    const { api, handler } = await serveChat(agent, {}, { tools, history: "server" });
    const client = createChat(newest!, { api });
    await client.chat.sendMessage({ text: "one" });
    const forget = (key: string, value: unknown): unknown =>
      /providerMetadata$/i.test(key) ? undefined : value;
    client.chat.messages = JSON.parse(JSON.stringify(client.chat.messages, forget));
    await client.chat.sendMessage({ text: "two" });
    expect(outline(agent.inputs[1]!.messages)).toEqual(expected);
    expect((await sessionOf(handler)).messages).toHaveLength(expected.length + 1);
  });

  test("is unknown after a restart and taken from the client, cut into messages", async () => {
    const agent = scriptedAgent(withTool);
    const { api } = await serveChat(agent, {}, { tools });
    const client = createChat(newest!, { api });
    await client.chat.sendMessage({ text: "one" });
    const other = scriptedAgent(["Good."]);
    const fresh = await serveChat(other);
    const again = createChat(newest!, { api: fresh.api, messages: client.messages });
    await again.chat.sendMessage({ text: "two" });
    expect(outline(other.inputs[0]!.messages)).toEqual(expected);
  });

  test("gives the agent what was before when the client sends its last message only", async () => {
    const agent = scriptedAgent(withTool, ["Good."], ["Fine."]);
    const { api } = await serveChat(agent, {}, { tools });
    const post = async (message: object): Promise<string> => {
      const body = JSON.stringify({ id: "chat-1", message });
      const headers = { "content-type": "application/json" };
      return (await fetch(api, { method: "POST", headers, body })).text();
    };
    const say = (id: string, text: string): object => ({
      id,
      role: "user",
      parts: [{ type: "text", text }],
    });
    await post(say("u1", "one"));
    await post(say("u2", "two"));
    expect(outline(agent.inputs[1]!.messages)).toEqual(expected);
    // Edited: what followed the message is gone.
    await post(say("u2", "three"));
    expect(outline(agent.inputs[2]!.messages)).toEqual([
      ...expected.slice(0, -1),
      ["user", "three"],
    ]);
  });

  test("forgets an answer that is asked for again", async () => {
    const agent = scriptedAgent(["First."], ["Second."]);
    const { api, handler } = await serveChat(agent);
    const client = createChat(newest!, { api });
    await client.chat.sendMessage({ text: "one" });
    await client.chat.regenerate();
    expect(client.messages).toHaveLength(2);
    expect(textOf(client.last)).toBe("Second.");
    expect(outline((await sessionOf(handler)).messages)).toEqual([
      ["user", "one"],
      ["assistant", "Second."],
    ]);
  });

  test("does not believe a result that a client made up", async () => {
    const agent = scriptedAgent(withTool, ["Good."]);
    const { api } = await serveChat(agent, {}, { tools });
    const client = createChat(newest!, { api });
    await client.chat.sendMessage({ text: "one" });
    const forged = client.last.parts.map((part: Loose) =>
      part.type === "tool-weather" ? { ...part, output: { degrees: 99 } } : part,
    );
    client.chat.messages = [client.messages[0], { ...client.last, parts: forged }];
    await client.chat.sendMessage({ text: "two" });
    expect(outline(agent.inputs[1]!.messages)).toEqual(expected);
  });

  test("has no call that the user went past", async () => {
    const ask: Script = ["Hm. ", (_, { emit }) => void emit.toolCall("ask", {}, { id: "call-1" })];
    const agent = scriptedAgent(ask, ["Good."]);
    const { api } = await serveChat(agent);
    const client = createChat(newest!, { api });
    await client.chat.sendMessage({ text: "one" });
    await client.chat.sendMessage({ text: "two" });
    const { messages } = agent.inputs[1]!;
    expect(outline(messages)).toEqual([
      ["user", "one"],
      ["assistant", "Hm. "],
      ["user", "two"],
    ]);
    expect(messages[1]).not.toHaveProperty("toolCalls");
  });

  test("has each call once, also when a client shows it twice", async () => {
    const agent = scriptedAgent(["Good."]);
    const { api } = await serveChat(agent);
    const call = { type: "tool-look", toolCallId: "call-1", input: {} };
    const parts = [
      { ...call, state: "output-available", output: "first" },
      { ...call, state: "output-available", output: "second" },
    ];
    const messages = [
      { id: "u", role: "user", parts: [{ type: "text", text: "one" }] },
      { id: "a", role: "assistant", parts },
    ];
    await createChat(newest!, { api, messages }).chat.sendMessage({ text: "two" });
    expect(agent.inputs[0]!.messages).toMatchObject([
      { role: "user" },
      { role: "assistant", toolCalls: [{ id: "call-1" }] },
      { role: "tool", toolCallId: "call-1", content: "first" },
      { role: "user" },
    ]);
  });
});
