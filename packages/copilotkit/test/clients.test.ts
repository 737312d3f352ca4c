import { describe, expect, test } from "vitest";
import { z } from "zod";
import { createStage } from "./_agent.ts";
import { clients, connectClient, prepareClients, textsOf, untilMessages } from "./_client.ts";
import { byHeader, host } from "./_host.ts";

prepareClients();

describe.for(clients)("CopilotKit $version over $transport", ({ module, transport }) => {
  test("finds the agents and what the server can do", async () => {
    const { url } = await host(createStage());
    const { core, errors } = await connectClient(module, url, { transport });
    expect(Object.keys(core.agents)).toEqual(["default", "other"]);
    expect(core.getAgent("default")?.description).toBe("Echoes");
    expect(errors).toEqual([]);
  });

  test("shows an answer, and the state with it", async () => {
    const { url } = await host(createStage());
    const client = await connectClient(module, url, { transport });
    const agent = client.open("t-answer");
    await client.say(agent, "hello");
    expect(textsOf(agent)).toEqual(["user: hello", "assistant: you said: hello"]);
    expect(agent.state).toEqual({ turns: 1 });
    expect(client.errors).toEqual([]);
  });

  test("runs a tool of the page and goes on with its result by itself", async () => {
    const stage = createStage();
    const { url } = await host(stage);
    const colours: unknown[] = [];
    const client = await connectClient(module, url, {
      transport,
      tools: [
        {
          name: "setColor",
          description: "Paints the page.",
          parameters: z.object({ color: z.string() }),
          handler: async (args) => {
            colours.push(args);
            return "painted";
          },
        },
      ],
    });
    const agent = client.open("t-tool");
    await client.say(agent, "paint");
    expect(colours).toEqual([{ color: "teal" }]);
    expect(textsOf(agent).at(-1)).toBe("assistant: tool said: painted");
    expect(stage.runs).toBe(2);
    expect(client.errors).toEqual([]);
  });

  test("shows a thread in a fresh client with the same ids, once each", async () => {
    const { url } = await host(createStage());
    const first = await connectClient(module, url, { transport });
    const before = first.open("t-hydrate");
    await first.say(before, "one");
    await first.say(before, "two");
    const fresh = await connectClient(module, url, { transport });
    const after = fresh.open("t-hydrate");
    await fresh.core.connectAgent({ agent: after });
    expect(after.messages.map(({ id, role, content }) => ({ id, role, content }))).toEqual(
      before.messages.map(({ id, role, content }) => ({ id, role, content })),
    );
    expect(after.messages).toHaveLength(4);
    expect(after.state).toEqual({ turns: 2 });
    expect(fresh.errors).toEqual([]);
  });

  test("goes on in a thread that it was shown, without duplicates", async () => {
    const { url } = await host(createStage());
    const first = await connectClient(module, url, { transport });
    await first.say(first.open("t-turns"), "one");
    const fresh = await connectClient(module, url, { transport });
    const agent = fresh.open("t-turns");
    await fresh.core.connectAgent({ agent });
    await fresh.say(agent, "two");
    expect(textsOf(agent)).toEqual([
      "user: one",
      "assistant: you said: one",
      "user: two",
      "assistant: you said: two",
    ]);
    expect(new Set(agent.messages.map(({ id }) => id)).size).toBe(4);
    expect(fresh.errors).toEqual([]);
  });

  test("shows nothing, and no error, for an unknown thread", async () => {
    const { url } = await host(createStage());
    const client = await connectClient(module, url, { transport });
    const agent = client.open("t-unknown");
    await client.core.connectAgent({ agent });
    expect(agent.messages).toEqual([]);
    expect(client.errors).toEqual([]);
  });

  test("takes up an answer in the middle, live", async () => {
    const stage = createStage();
    const { url } = await host(stage);
    const first = await connectClient(module, url, { transport });
    const before = first.open("t-live");
    const answered = first.say(before, "wait");
    await untilMessages(before, (texts) => texts.at(-1) === "assistant: first ");
    const fresh = await connectClient(module, url, { transport });
    const after = fresh.open("t-live");
    const connected = fresh.core.connectAgent({ agent: after });
    await untilMessages(after, (texts) => texts.at(-1) === "assistant: first ");
    stage.gate.open();
    await Promise.all([answered, connected]);
    expect(textsOf(after)).toEqual(["user: wait", "assistant: first second"]);
    expect(after.messages.map(({ id }) => id)).toEqual(before.messages.map(({ id }) => id));
    expect([...first.errors, ...fresh.errors]).toEqual([]);
  });

  test("is notified once that a thread is busy", async () => {
    const stage = createStage();
    const { url } = await host(stage);
    const first = await connectClient(module, url, { transport });
    const agent = first.open("t-busy");
    const answered = first.say(agent, "wait");
    await untilMessages(agent, (texts) => texts.at(-1) === "assistant: first ");
    const second = await connectClient(module, url, { transport });
    await second.say(second.open("t-busy"), "me too");
    expect(second.errors).toHaveLength(1);
    expect(second.errors[0]).toEqual({
      code: "agent_run_error_event",
      message: expect.stringContaining("t-busy") as unknown,
    });
    stage.gate.open();
    await answered;
    expect(first.errors).toEqual([]);
    expect(stage.runs).toBe(1);
  });

  test("stops an answer, and the agent behind it", async () => {
    const stage = createStage();
    const { url } = await host(stage);
    const client = await connectClient(module, url, { transport });
    const agent = client.open("t-stop");
    const ends: unknown[] = [];
    agent.subscribe({ onRunFinishedEvent: ({ event }) => void ends.push(event) });
    const answered = client.say(agent, "wait");
    await untilMessages(agent, (texts) => texts.at(-1) === "assistant: first ");
    client.core.stopAgent({ agent });
    await answered;
    expect(stage.aborted).toEqual(["stopped"]);
    expect(ends).toEqual([
      expect.objectContaining({ threadId: "t-stop", result: { status: "cancelled" } }) as unknown,
    ]);
    expect(textsOf(agent)).toEqual(["user: wait", "assistant: first "]);
    expect(client.errors).toEqual([]);
    await client.say(agent, "again");
    expect(textsOf(agent).at(-1)).toBe("assistant: you said: again");
  });

  test("stops an answer that it took up in the middle", async () => {
    const stage = createStage();
    const { url } = await host(stage);
    const first = await connectClient(module, url, { transport });
    const answered = first.say(first.open("t-stop-live"), "wait");
    await stage.waiting.opened;
    const fresh = await connectClient(module, url, { transport });
    const after = fresh.open("t-stop-live");
    const connected = fresh.core.connectAgent({ agent: after });
    await untilMessages(after, (texts) => texts.at(-1) === "assistant: first ");
    fresh.core.stopAgent({ agent: after });
    await Promise.all([answered, connected]);
    expect(stage.aborted).toEqual(["stopped"]);
    expect([...first.errors, ...fresh.errors]).toEqual([]);
  });

  test("is notified once that the agent failed, and not why", async () => {
    const { url } = await host(createStage());
    const client = await connectClient(module, url, { transport });
    const agent = client.open("t-boom");
    await client.say(agent, "boom");
    expect(client.errors).toEqual([
      { code: "agent_run_error_event", message: "The agent failed." },
    ]);
    expect(JSON.stringify(agent.messages)).not.toContain("secret");
  });

  test("gets suggestions that leave no thread behind", async () => {
    const { url, handler } = await host(createStage());
    const client = await connectClient(module, url, { transport });
    const suggested = new Promise<void>((resolve) => {
      client.core.subscribe({ onSuggestionsFinishedLoading: () => resolve() });
    });
    client.core.addSuggestionsConfig({ instructions: "Be short.", available: "always" });
    client.core.reloadSuggestions("default");
    await suggested;
    expect(client.core.getSuggestions("default").suggestions).toMatchObject([
      { title: "More", message: "Tell me more" },
    ]);
    const { items } = await handler.sessions.list({ principal: "anonymous", limit: 10 });
    expect(items).toEqual([]);
  });
});

test.for(clients)("CopilotKit $version finds its transport by itself", async ({ module }) => {
  const { url } = await host(createStage());
  const client = await connectClient(module, `${url}/`);
  const agent = client.open("t-auto");
  await client.say(agent, "hello");
  expect(client.core.runtimeTransport).toBe("rest");
  expect(textsOf(agent).at(-1)).toBe("assistant: you said: hello");
});

test.for(clients)(
  "CopilotKit $version is not let in over $transport without a name",
  async (client) => {
    const { module, transport } = client;
    const { url } = await host(createStage(), { authenticate: byHeader });
    await expect(connectClient(module, url, { transport })).rejects.toThrow("401");
    const { errors } = await connectClient(module, url, {
      transport,
      headers: { "x-user": "ada" },
    });
    expect(errors).toEqual([]);
  },
);
