import type { Message } from "@holodeck/agui-core";
import { memorySessions } from "@holodeck/agui-sessions";
import { scriptedAgent } from "@holodeck/agui-testing";
import { describe, expect, test } from "vitest";
import { createChat, sdks, serveChat, textOf } from "./_chat.ts";

const outline = (messages: readonly Message[]): unknown[] =>
  messages.map(({ role, content }) => [role, content ?? ""]);

// What they send is the same in every version since.
const newest = sdks.filter(({ name }) => name === "5" || name === "7");

describe.for(newest)("a thread that the server owns, AI SDK $name", (sdk) => {
  test("forgets an answer that is asked for again", async () => {
    const agent = scriptedAgent(["First."], ["Second."], ["Third."]);
    const { api, handler } = await serveChat(agent, {}, { history: "server" });
    const client = createChat(sdk, { api });
    await client.chat.sendMessage({ text: "one" });
    await client.chat.sendMessage({ text: "two" });
    await client.chat.regenerate();
    expect(textOf(client.last)).toBe("Third.");
    const asked = [
      ["user", "one"],
      ["assistant", "First."],
      ["user", "two"],
    ];
    expect(outline(agent.inputs[2]!.messages)).toEqual(asked);
    const thread = await handler.sessions.get({ principal: "", threadId: "chat-1" });
    expect(outline(thread!.messages)).toEqual([...asked, ["assistant", "Third."]]);
  });

  test("takes an edited message for the old one and all that followed", async () => {
    const agent = scriptedAgent(["First."], ["Second."], ["Third."]);
    const { api } = await serveChat(agent, {}, { history: "server" });
    const client = createChat(sdk, { api });
    await client.chat.sendMessage({ text: "one" });
    await client.chat.sendMessage({ text: "two" });
    const [{ id: messageId }] = client.messages;
    await client.chat.sendMessage({ text: "edited", messageId });
    expect(outline(agent.inputs[2]!.messages)).toEqual([["user", "edited"]]);
  });

  test("does not take up again what it has let go of", async () => {
    const agent = scriptedAgent(["A1"], ["A2"], ["A3"]);
    const sessions = memorySessions({ maxMessagesPerThread: 3 });
    const { api } = await serveChat(agent, {}, { history: "server", sessions });
    const client = createChat(sdk, { api });
    for (const text of ["one", "two", "three"]) await client.chat.sendMessage({ text });
    expect(outline(agent.inputs[2]!.messages)).toEqual([
      ["user", "two"],
      ["assistant", "A2"],
      ["user", "three"],
    ]);
  });

  test("does not take up a result whose call it has let go of", async () => {
    const tools = [{ name: "weather", description: "", invoke: () => Promise.resolve("warm") }];
    const agent = scriptedAgent(
      [async (_, context) => void (await context.callTool("weather", {})), "A1"],
      ["A2"],
      ["A3"],
    );
    const sessions = memorySessions({ maxMessagesPerThread: 3 });
    const { api } = await serveChat(agent, {}, { history: "server", sessions, tools });
    const client = createChat(sdk, { api });
    for (const text of ["one", "two", "three"]) await client.chat.sendMessage({ text });
    expect(outline(agent.inputs[2]!.messages)).toEqual([
      ["user", "two"],
      ["assistant", "A2"],
      ["user", "three"],
    ]);
  });
});

test("a thread that the server owns forgets an answer that AI SDK 4 asks for again", async () => {
  const agent = scriptedAgent(["First."], ["Second."], ["Third."]);
  const { api } = await serveChat(agent, {}, { history: "server" });
  const post = async (...contents: string[]): Promise<void> => {
    const role = (index: number): string => (index % 2 === 0 ? "user" : "assistant");
    const messages = contents.map((content, index) => ({ role: role(index), content }));
    const headers = { "content-type": "application/json" };
    const body = JSON.stringify({ id: "chat-1", messages });
    await (await fetch(api, { method: "POST", headers, body })).text();
  };
  await post("one");
  await post("one", "First.", "two");
  await post("one", "First.", "two");
  expect(outline(agent.inputs[2]!.messages)).toEqual([
    ["user", "one"],
    ["assistant", "First."],
    ["user", "two"],
  ]);
});
