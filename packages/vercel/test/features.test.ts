import { scriptedAgent } from "@holodeck/agui-testing";
import { describe, expect, test } from "vitest";
import { createChat, gate, partsOf, sdks, serveChat, textOf } from "./_chat.ts";
import type { Loose } from "./_chat.ts";

const approving = sdks.filter(({ major }) => major >= 6);

const asking = [
  (_: unknown, { emit }: Loose) => {
    emit.toolCall("delete", { id: 7 }, { id: "call-8" });
    emit.interrupt({ id: "ask-1", reason: "tool_call", toolCallId: "call-8", message: "Sure?" });
  },
];

describe.for(approving)("approval without an option, AI SDK $name", (sdk) => {
  const settings = {
    sendAutomaticallyWhen: sdk.module.lastAssistantMessageIsCompleteWithApprovalResponses,
  };

  test("lets the user approve, and goes on in the same message", async () => {
    const agent = scriptedAgent(asking, [
      (_, { emit }) => void emit.toolResult("call-8", { deleted: 7 }),
      "Done.",
    ]);
    const { api } = await serveChat(agent);
    const client = createChat(sdk, { api, ...settings });
    await client.chat.sendMessage({ text: "delete it" });
    expect(partsOf(client.last, "tool-delete")).toMatchObject([
      { state: "approval-requested", approval: { id: "ask-1" }, input: { id: 7 } },
    ]);
    await client.chat.addToolApprovalResponse({ id: "ask-1", approved: true, reason: "go" });
    await client.until(({ status }) => client.posted.length === 2 && status === "ready");
    expect(agent.inputs[1]!.resume).toEqual([
      { interruptId: "ask-1", status: "resolved", payload: { approved: true, reason: "go" } },
    ]);
    expect(client.messages).toHaveLength(2);
    expect(partsOf(client.last, "tool-delete")).toMatchObject([
      { state: "output-available", output: { deleted: 7 } },
    ]);
    expect(textOf(client.last)).toBe("Done.");
    expect(client.posted).toHaveLength(2);
  });

  test("lets the user deny, once, also when the agent answers nothing", async () => {
    const agent = scriptedAgent(asking, [], ["Hello again."]);
    const { api } = await serveChat(agent);
    const client = createChat(sdk, { api, ...settings });
    await client.chat.sendMessage({ text: "delete it" });
    await client.chat.addToolApprovalResponse({ id: "ask-1", approved: false });
    await client.until(({ status }) => client.posted.length === 2 && status === "ready");
    expect(agent.inputs[1]!.resume).toMatchObject([{ payload: { approved: false } }]);
    await client.chat.sendMessage({ text: "hello" });
    expect(client.chat.error).toBeUndefined();
    expect(textOf(client.last)).toBe("Hello again.");
    expect(client.posted).toHaveLength(3);
    expect(agent.inputs[2]!.resume).toBeUndefined();
  });

  test("counts only if this server asked for it", async () => {
    const agent = scriptedAgent(asking);
    const { api } = await serveChat(agent);
    const client = createChat(sdk, { api, ...settings });
    await client.chat.sendMessage({ text: "delete it" });
    const [tool] = partsOf(client.last, "tool-delete");
    client.chat.messages = [
      client.messages[0],
      {
        ...client.last,
        parts: [{ ...tool, state: "approval-responded", approval: { id: "x", approved: true } }],
      },
    ];
    await client.chat.sendMessage();
    expect(client.chat.status).toBe("error");
    expect(client.chat.error.message).toContain("unknown-interrupt");
    expect(agent.inputs).toHaveLength(1);
  });
});

describe.for(sdks)("AI SDK $name", (sdk) => {
  test("answers a question about a call by answering the call", async () => {
    const agent = scriptedAgent(asking, ["Done."]);
    const { api } = await serveChat(agent, { sdkVersion: sdk.major });
    const client = createChat(sdk, {
      api,
      sendAutomaticallyWhen: sdk.module.lastAssistantMessageIsCompleteWithToolCalls,
    });
    await client.chat.sendMessage({ text: "delete it" });
    expect(partsOf(client.last, "data-agui-interrupt")).toMatchObject([
      { id: "ask-1", data: { message: "Sure?" } },
    ]);
    const add = client.chat.addToolOutput ?? client.chat.addToolResult;
    await add({ tool: "delete", toolCallId: "call-8", output: { approved: true } });
    await client.until(({ status }) => client.posted.length === 2 && status === "ready");
    expect(agent.inputs[1]!.resume).toEqual([
      { interruptId: "ask-1", status: "resolved", payload: { approved: true } },
    ]);
    expect(textOf(client.last)).toBe("Done.");
  });

  test("follows a run from a second tab, from its start and then live", async () => {
    const arrived = gate();
    const agent = scriptedAgent(["Hello ", { wait: arrived.opened }, "world"]);
    const { api } = await serveChat(agent, {}, { onDisconnect: "continue" });
    const first = createChat(sdk, { api });
    const sent = first.chat.sendMessage({ text: "hi" });
    await first.until(() => textOf(first.last) === "Hello ");
    const second = createChat(sdk, { api, messages: [first.messages[0]] });
    const resumed = second.chat.resumeStream();
    await second.until(() => textOf(second.last) === "Hello ");
    arrived.open();
    await Promise.all([sent, resumed]);
    expect(second.messages).toEqual(first.messages);
    expect(textOf(second.last)).toBe("Hello world");
    expect(second.chat.status).toBe("ready");
  });

  test("comes back to a run that went on without it", async () => {
    const arrived = gate();
    const agent = scriptedAgent(["Hello ", { wait: arrived.opened }, "world"]);
    const { api } = await serveChat(agent, {}, { onDisconnect: "continue" });
    const first = createChat(sdk, { api });
    const sent = first.chat.sendMessage({ text: "hi" });
    await first.until(() => textOf(first.last) === "Hello ");
    await first.chat.stop();
    await sent;
    const reloaded = createChat(sdk, { api, messages: [first.messages[0]] });
    const resumed = reloaded.chat.resumeStream();
    await reloaded.until(() => textOf(reloaded.last) === "Hello ");
    arrived.open();
    await resumed;
    expect(textOf(reloaded.last)).toBe("Hello world");
    expect(reloaded.last.id).toBe(first.last.id);
  });

  test("is informed that there is nothing to resume", async () => {
    const { api } = await serveChat(scriptedAgent(["Hello"]));
    expect((await fetch(`${api}/chat-1/stream`)).status).toBe(204);
    const client = createChat(sdk, { api });
    await client.chat.resumeStream();
    expect(client.chat.error).toBeUndefined();
    expect(client.messages).toEqual([]);
  });

  test("keeps the text when the run is stopped", async () => {
    const agent = scriptedAgent(["Hello ", { hang: true }]);
    const { api } = await serveChat(agent);
    const client = createChat(sdk, { api });
    const sent = client.chat.sendMessage({ text: "hi" });
    await client.until(() => textOf(client.last) === "Hello ");
    const answer = await fetch(`${api}/chat-1/stop`, { method: "POST" });
    expect(answer.status).toBe(202);
    expect(await answer.json()).toEqual({ id: "chat-1", stopped: true });
    await sent;
    expect(client.chat.status).toBe("ready");
    expect(textOf(client.last)).toBe("Hello ");
    const again = await fetch(`${api}/chat-1/stop`, { method: "POST" });
    expect([again.status, await again.json()]).toEqual([200, { id: "chat-1", stopped: false }]);
  });

  test("sends files along", async () => {
    const agent = scriptedAgent(["A picture."]);
    const { api } = await serveChat(agent);
    const client = createChat(sdk, { api });
    const files = [
      {
        type: "file",
        mediaType: "image/png",
        filename: "a.png",
        url: "data:image/png;base64,AAEC",
      },
      { type: "file", mediaType: "application/pdf", url: "https://files.test/b.pdf" },
    ];
    await client.chat.sendMessage({ text: "what is it?", files });
    expect(client.chat.error).toBeUndefined();
    expect(agent.inputs[0]!.messages[0]!.content).toEqual([
      {
        type: "image",
        source: { type: "data", value: "AAEC", mimeType: "image/png" },
        metadata: { filename: "a.png" },
      },
      {
        type: "document",
        source: { type: "url", value: "https://files.test/b.pdf", mimeType: "application/pdf" },
      },
      { type: "text", text: "what is it?" },
    ]);
  });

  test("shows reasoning, state, activities, sources, files and data, and sends them back unharmed", async () => {
    const agent = scriptedAgent(
      [
        (_, { emit }) => void emit.reasoning("Hmm."),
        (_, { emit, state }) => {
          void state.set({ count: 1 });
          void state.update((draft: Loose) => void draft.count++);
          const id = emit.activity("agent", { agent: "a", type: "text", text: "begins" });
          emit.activity("agent", { agent: "a", type: "text", text: "ends" }, { id });
          void emit.custom("source-url", { url: "https://a.test", title: "A" });
          void emit.custom("file", { url: "data:text/plain;base64,QQ==", mediaType: "text/plain" });
          void emit.custom("suggested_questions", ["Why?", "How?"]);
          emit.usage({ inputTokens: 3, outputTokens: 4 });
        },
        "Answer",
      ],
      ["Again"],
    );
    const { api } = await serveChat(agent);
    const client = createChat(sdk, { api });
    await client.chat.sendMessage({ text: "hi" });
    expect(client.chat.error).toBeUndefined();
    const { last } = client;
    expect(partsOf(last, "reasoning")).toMatchObject([{ text: "Hmm." }]);
    expect(partsOf(last, "data-agui-state")).toMatchObject([{ id: "state", data: { count: 2 } }]);
    expect(partsOf(last, "data-agent")).toMatchObject([{ data: { agent: "a", text: "ends" } }]);
    expect(partsOf(last, "source-url")).toMatchObject([{ url: "https://a.test", title: "A" }]);
    expect(partsOf(last, "file")).toMatchObject([{ mediaType: "text/plain" }]);
    expect(partsOf(last, "data-suggested_questions")).toMatchObject([{ data: ["Why?", "How?"] }]);
    expect(last.metadata).toMatchObject({ usage: { inputTokens: 3, outputTokens: 4 } });
    await client.chat.sendMessage({ text: "again" });
    expect(client.chat.error).toBeUndefined();
    expect(agent.inputs[1]!.state).toEqual({ count: 2 });
    expect(agent.inputs[1]!.messages.map(({ role }) => role)).toEqual([
      "user",
      "reasoning",
      "assistant",
      "user",
    ]);
  });
});

// Releases of each major from before it was mended add what is replayed to what they have.
describe.for(sdks.filter(({ name }) => !name.includes(".")))("newest AI SDK $name", (sdk) => {
  test("resumes a run that continues a message under the id of that message", async () => {
    const arrived = gate();
    const agent = scriptedAgent(
      ["Ask. ", (_, { emit }) => void emit.toolCall("confirm", {}, { id: "call-1" })],
      ["Thank ", { wait: arrived.opened }, "you."],
    );
    const { api } = await serveChat(agent, {}, { onDisconnect: "continue" });
    const client = createChat(sdk, {
      api,
      sendAutomaticallyWhen: sdk.module.lastAssistantMessageIsCompleteWithToolCalls,
    });
    await client.chat.sendMessage({ text: "hi" });
    const { id } = client.last;
    const add = client.chat.addToolOutput ?? client.chat.addToolResult;
    await add({ tool: "confirm", toolCallId: "call-1", output: "yes" });
    await client.until(() => textOf(client.last) === "Ask. Thank ");
    const answered = client.posted[1].messages;
    const second = createChat(sdk, { api, messages: structuredClone(answered) });
    const resumed = second.chat.resumeStream();
    await second.until(() => textOf(second.last) === "Ask. Thank ");
    arrived.open();
    await resumed;
    await client.until(({ status }) => status === "ready");
    for (const tab of [client, second]) {
      expect(tab.messages).toHaveLength(2);
      expect(tab.last.id).toBe(id);
      expect(textOf(tab.last)).toBe("Ask. Thank you.");
    }
  });
});
