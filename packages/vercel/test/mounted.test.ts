import { createAgentHandler } from "@holodeck/agui";
import { silentLogger } from "@holodeck/agui-core";
import { serve } from "@holodeck/agui-node";
import { scriptedAgent } from "@holodeck/agui-testing";
import { createRequire } from "node:module";
import { describe, expect, test } from "vitest";
import { storeKinds } from "../../agui/test/_shared-stores.ts";
import type { SharedStore } from "../../agui/test/_shared-stores.ts";
import { toExpressHandler } from "../../express/src/index.ts";
import { listen } from "../../express/test/_listen.ts";
import { createChat, gate, sdks, textOf } from "./_chat.ts";
import type { Loose } from "./_chat.ts";
import { receiveV4 } from "./_v4-clients.ts";

// That package's own: this one needs no framework.
const express: Loose = createRequire(import.meta.resolve("../../express/test/_listen.ts"))(
  "express",
);

const newest = sdks.filter(({ name }) => !name.includes("."));

test("every protocol at once in Express below /api serves every client, and leaves pages alone", async () => {
  const handler = createAgentHandler(scriptedAgent(["Hello"]), { logger: silentLogger });
  const app = express();
  app.use(express.json());
  app.use("/api", toExpressHandler(handler));
  app.get("/api/chat", (_: unknown, response: Loose) => response.send("a page"));
  const { url, close } = await listen(app);
  const api = `${url}/api/chat`;
  for (const sdk of newest) {
    const client = createChat(sdk, { api, id: `chat-${sdk.name}` });
    for (const text of ["one", "two"]) await client.chat.sendMessage({ text });
    await client.chat.resumeStream();
    expect(client.chat.error).toBeUndefined();
    expect(client.messages).toHaveLength(4);
    expect(textOf(client.last)).toBe("Hello");
  }
  const messages = [{ role: "user", content: "hi" }];
  const old = { api, fetch, body: { id: "chat-4", messages } } as Loose;
  expect((await receiveV4("", old)).message).toMatchObject({ content: "Hello" });
  const resumed = await receiveV4("", { ...old, requestType: "resume" });
  expect(resumed.error).toBeUndefined();
  expect(await (await fetch(api)).text()).toBe("a page");
  await close();
  await handler.close();
});

test("a route of Next.js serves useChat under its whole path", async () => {
  const settings = { logger: silentLogger, basePath: "/api" };
  const handler = createAgentHandler(scriptedAgent(["Hello"]), settings);
  for (const sdk of newest) {
    const client = createChat(sdk, {
      api: "/api/chat",
      id: `chat-${sdk.name}`,
      fetch: (path: string, init: RequestInit) =>
        handler.fetch(new Request(`http://test.local${path}`, init)),
    });
    await client.chat.sendMessage({ text: "hi" });
    await client.chat.resumeStream();
    expect(client.chat.error).toBeUndefined();
    expect(textOf(client.last)).toBe("Hello");
  }
});

describe.for(storeKinds.slice(1))("two servers on one $name", (kind) => {
  test.for(["client", "server"] as const)(
    "serve the turns of a chat, and each other's runs, when the %s owns it",
    async (history, { skip }) => {
      const store = await kind.open("vercel");
      if (!store?.other) return skip();
      const [, , , sdk] = sdks;
      const id = `chat-${history}`;
      const arrived = gate();
      const first = scriptedAgent(
        ["One. ", (_, { emit }) => void emit.toolCall("ask", {}, { id: "call-1" })],
        ["Four."],
      );
      const second = scriptedAgent(["Two ", { wait: arrived.opened }, "three."]);
      const open = (agent: typeof first, sessions: SharedStore["owner"]): Promise<Loose> => {
        const settings = { logger: silentLogger, history, onDisconnect: "continue" as const };
        return serve(createAgentHandler(agent, { ...settings, sessions }), {
          port: 0,
          signals: false,
        });
      };
      const here = await open(first, store.owner);
      const there = await open(second, store.other);
      const api = `${here.url}/api/chat`;
      const client: ReturnType<typeof createChat> = createChat(sdk!, {
        id,
        api,
        sendAutomaticallyWhen: sdk!.module.lastAssistantMessageIsCompleteWithToolCalls,
        fetch: (url: string, init: RequestInit) =>
          fetch(client.posted.length === 2 ? url.replace(here.url, there.url) : url, init),
      });
      await client.chat.sendMessage({ text: "hi" });
      await client.chat.addToolOutput({ tool: "ask", toolCallId: "call-1", output: "yes" });
      await client.until(() => textOf(client.last) === "One. Two ");
      const tab = createChat(sdk!, { id, api, messages: [client.messages[0]] });
      const resumed = tab.chat.resumeStream();
      await tab.until(() => textOf(tab.last) === "One. Two ");
      arrived.open();
      await resumed;
      await client.until(({ status }) => status === "ready");
      expect(textOf(tab.last)).toBe("One. Two three.");
      expect(tab.last.id).toBe(client.last.id);
      await client.chat.sendMessage({ text: "more" });
      expect(client.chat.error).toBeUndefined();
      expect(first.inputs[1]!.messages.map(({ role, content = "" }) => [role, content])).toEqual([
        ["user", "hi"],
        ["assistant", "One. "],
        ["assistant", ""],
        ["tool", "yes"],
        ["assistant", "Two three."],
        ["user", "more"],
      ]);
      expect(client.messages).toHaveLength(4);
      for (const { close } of [here, there, store]) await close();
    },
  );
});
