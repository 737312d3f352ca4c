import { HttpAgent } from "@ag-ui/client";
import { toExpressHandler } from "@holodeck/agui-express";
import { toFastifyPlugin } from "@holodeck/agui-fastify";
import { toHonoHandler } from "@holodeck/agui-hono";
import { serve } from "@holodeck/agui-node";
import { serve as serveHono } from "@hono/node-server";
import express from "express";
import fastify from "fastify";
import { Hono } from "hono";
import type { Server } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, expect, onTestFinished, test } from "vitest";
import { clients, connectClient, prepareClients, textsOf } from "../../copilotkit/test/_client.ts";
import { createChat, sdks, textOf } from "../../vercel/test/_chat.ts";
import { createAgentHandler } from "../src/index.ts";
import type { AgentHandler } from "../src/index.ts";
import { memoryLogger } from "./_helpers.ts";

prepareClients();

const createHandler = (basePath = ""): AgentHandler =>
  createAgentHandler(async ({ messages }) => `heard ${messages.length}`, {
    basePath,
    logger: memoryLogger(),
  });

async function listening(server: Server): Promise<string> {
  if (!server.listening) await new Promise((resolve) => server.once("listening", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** Where a server may have the handler; each gives the URL of its root. */
const mounts: Readonly<Record<string, () => Promise<string>>> = {
  async serve() {
    const { url, close } = await serve(createHandler(), { port: 0, signals: false });
    onTestFinished(() => close());
    return url;
  },
  async basePath() {
    const { url, close } = await serve(createHandler("/v1/app"), { port: 0, signals: false });
    onTestFinished(() => close());
    return `${url}/v1/app`;
  },
  async Express() {
    const app = express().use(express.json()).use("/v1/app", toExpressHandler(createHandler()));
    return `${await listening(app.listen(0, "127.0.0.1"))}/v1/app`;
  },
  async Fastify() {
    const app = fastify();
    await app.register(toFastifyPlugin(createHandler()), { prefix: "/v1/app" });
    onTestFinished(() => app.close());
    return `${await app.listen({ port: 0, host: "127.0.0.1" })}/v1/app`;
  },
  async Hono() {
    const app = new Hono().all("/v1/app/*", toHonoHandler(createHandler()));
    const server = serveHono({ fetch: app.fetch, port: 0, hostname: "127.0.0.1" });
    return `${await listening(server as Server)}/v1/app`;
  },
};

async function post(url: string, body: unknown): Promise<Record<string, unknown>> {
  const response = await fetch(url, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  expect(response.status).toBe(200);
  return (await response.json()) as Record<string, unknown>;
}

/** Every kind of client says two things in a conversation of its own; what it shows at the end. */
const talks: Readonly<Record<string, (root: string) => Promise<unknown>>> = {
  async "AG-UI"(root) {
    const agent = new HttpAgent({ url: `${root}/agui` });
    for (const content of ["one", "two"]) {
      agent.addMessage({ id: content, role: "user", content });
      await agent.runAgent();
    }
    return agent.messages.at(-1)?.content;
  },
  ...Object.fromEntries(
    clients.map(({ version, module, transport }) => [
      `CopilotKit ${version} over ${transport}`,
      async (root: string) => {
        const client = await connectClient(module, `${root}/agui`, { transport });
        const agent = client.open("copilot");
        for (const text of ["one", "two"]) await client.say(agent, text);
        expect(client.errors).toEqual([]);
        return textsOf(agent).at(-1)?.replace("assistant: ", "");
      },
    ]),
  ),
  ...Object.fromEntries(
    ["/api/chat", "/chat"].map((path) => [
      `useChat at ${path}`,
      async (root: string) => {
        const { chat } = createChat(sdks.at(-1)!, { id: path, api: `${root}${path}` });
        for (const text of ["one", "two"]) await chat.sendMessage({ text });
        return textOf(chat.lastMessage);
      },
    ]),
  ),
  async REST(root) {
    const { session_id } = await post(`${root}/agent/default/chat`, { message: "one" });
    const again = { message: "two", session_id };
    return (await post(`${root}/agent/default/chat`, again)).content;
  },
  async threads(root) {
    const { thread_id } = await post(`${root}/chat`, { message: "one", stream: false });
    const again = { message: "two", thread_id, stream: false };
    return (await post(`${root}/chat`, again)).content;
  },
};

describe.each(Object.keys(mounts))("one handler, mounted by %s", (mount) => {
  test("serves every client there is, each at its own path", async () => {
    const root = await mounts[mount]!();
    for (const [name, talk] of Object.entries(talks)) {
      expect(await talk(root), name).toBe("heard 3");
    }
  });

  test("reports its path", async () => {
    const root = await mounts[mount]!();
    const response = await fetch(`${root}/openapi.json`);
    const { pathname } = new URL(root);
    expect(await response.json()).toMatchObject({ servers: [{ url: pathname }] });
    const page = await fetch(`${root}/threads/x`);
    const instance = `${pathname === "/" ? "" : pathname}/threads/x`;
    expect(await page.json()).toMatchObject({ status: 400, instance });
  });
});
