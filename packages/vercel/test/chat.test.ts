import { scriptedAgent } from "@holodeck/agui-testing";
import { describe, expect, test } from "vitest";
import { createChat, partsOf, sdks, serveChat, textOf } from "./_chat.ts";
import type { Loose } from "./_chat.ts";

describe.for(sdks)("AI SDK $name", (sdk) => {
  const { lastAssistantMessageIsCompleteWithToolCalls } = sdk.module;

  test("shows the agent's text", async () => {
    const { api } = await serveChat(scriptedAgent(["Hello ", "world"]));
    const client = createChat(sdk, { api });
    await client.chat.sendMessage({ text: "hi" });
    expect(client.chat.error).toBeUndefined();
    expect(client.chat.status).toBe("ready");
    expect(client.messages.map(({ role }) => role)).toEqual(["user", "assistant"]);
    expect(textOf(client.last)).toBe("Hello world");
    expect(client.last.metadata).toMatchObject({ threadId: "chat-1", finishReason: "stop" });
  });

  test("runs a tool of the client's and goes on in the same message", async () => {
    const agent = scriptedAgent(
      [
        "Let me ask. ",
        (_, { emit }) => void emit.toolCall("confirm", { what: "it" }, { id: "call-1" }),
      ],
      ["Thank you."],
    );
    const { api } = await serveChat(agent);
    const client = createChat(sdk, {
      api,
      sendAutomaticallyWhen: lastAssistantMessageIsCompleteWithToolCalls,
    });
    await client.chat.sendMessage({ text: "hi" });
    expect(client.posted).toHaveLength(1);
    const tool = client.last.parts.find((part: Loose) => part.type === "tool-confirm");
    expect(tool).toMatchObject({ state: "input-available", input: { what: "it" } });

    const add = client.chat.addToolOutput ?? client.chat.addToolResult;
    await add({ tool: "confirm", toolCallId: "call-1", output: { yes: true } });
    await client.until(() => client.posted.length === 2 && client.chat.status === "ready");
    expect(client.messages).toHaveLength(2);
    expect(textOf(client.last)).toBe("Let me ask. Thank you.");
    expect(client.posted).toHaveLength(2);
    expect(agent.inputs[1]!.messages.map(({ role }) => role)).toEqual([
      "user",
      "assistant",
      "assistant",
      "tool",
    ]);
    expect(agent.inputs[1]!.messages.at(-1)).toMatchObject({
      toolCallId: "call-1",
      content: '{"yes":true}',
    });
  });

  test("does not send a finished server tool back", async () => {
    const tools = [
      {
        name: "weather",
        description: "",
        invoke: () => Promise.resolve({ degrees: 20 }),
      },
    ];
    const agent = scriptedAgent([
      async (_, context) => void (await context.callTool("weather", { city: "Bern" })),
    ]);
    const { api } = await serveChat(agent, {}, { tools });
    const client = createChat(sdk, {
      api,
      sendAutomaticallyWhen: lastAssistantMessageIsCompleteWithToolCalls,
    });
    await client.chat.sendMessage({ text: "hi" });
    await client.until(({ status }) => status === "ready");
    expect(client.posted).toHaveLength(1);
    expect(partsOf(client.last, "tool-weather")).toMatchObject([
      { state: "output-available", input: { city: "Bern" }, output: { degrees: 20 } },
    ]);
  });

  test("shows that something failed, and not what", async () => {
    const agent = scriptedAgent(["Hel", { throw: new Error("postgres://secret") }]);
    const { api } = await serveChat(agent);
    const client = createChat(sdk, { api });
    await client.chat.sendMessage({ text: "hi" });
    expect(client.chat.status).toBe("error");
    expect(client.chat.error.message).toBe("An error occurred.");
    expect(textOf(client.last)).toBe("Hel");
  });
});
