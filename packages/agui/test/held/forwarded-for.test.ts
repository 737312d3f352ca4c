// A client that names another address with each request is still one client for `rateLimit`.
import { toExpressHandler } from "@holodeck/agui-express";
import { toFastifyPlugin } from "@holodeck/agui-fastify";
import { toHonoHandler } from "@holodeck/agui-hono";
import { toNodeHandler } from "@holodeck/agui-node";
import { createAdaptorServer } from "@hono/node-server";
import express from "express";
import fastify from "fastify";
import { Hono } from "hono";
import { createServer } from "node:http";
import { expect, test } from "vitest";
import { held } from "../../../../scripts/test-support/held.ts";
import { listen } from "../../../node/test/_listen.ts";
import { createAgentHandler, rateLimit } from "../../src/index.ts";
import type { AgentHandler } from "../../src/index.ts";
import { memoryLogger } from "../_helpers.ts";

type Send = (init: RequestInit) => Promise<Response>;
type Mount = (handler: AgentHandler) => Promise<{ send: Send; close(): Promise<void> }>;

const overHttp =
  (toServer: (handler: AgentHandler) => ReturnType<typeof createServer>): Mount =>
  async (handler) => {
    const { url, close } = await listen(toServer(handler));
    return { send: (init) => fetch(`${url}/agui`, init), close };
  };

const hosts: Readonly<Record<string, Mount>> = {
  Node: overHttp((handler) => createServer(toNodeHandler(handler))),
  Express: overHttp((handler) => createServer(express().use(toExpressHandler(handler)))),
  Hono: overHttp((handler) => {
    const app = new Hono().all("*", toHonoHandler(handler));
    return createAdaptorServer({ fetch: app.fetch }) as ReturnType<typeof createServer>;
  }),
  Fastify: async (handler) => {
    const app = fastify({ forceCloseConnections: true });
    app.register(toFastifyPlugin(handler));
    const url = await app.listen({ port: 0, host: "127.0.0.1" });
    return { send: (init) => fetch(`${url}/agui`, init), close: () => app.close() };
  },
  fetch: async (handler) => ({
    send: (init) => handler.fetch(new Request("http://test.local/agui", init)),
    close: async () => undefined,
  }),
};

const claims: readonly ((address: string) => Record<string, string>)[] = [
  (address) => ({ "x-forwarded-for": address }),
  (address) => ({ forwarded: `for=${address}` }),
  (address) => ({ "x-real-ip": address }),
  (address) => ({ "cf-connecting-ip": address, "true-client-ip": address }),
  (address) => ({ "x-forwarded-for": `${address}, 127.0.0.1`, "x-client-ip": address }),
];

/** Returns the claims with which a second run was admitted. */
async function tryAll(mount: Mount, by: Parameters<typeof rateLimit>[0]["by"]): Promise<string[]> {
  const admitted: string[] = [];
  for (const claim of claims) {
    const handler = createAgentHandler(async () => "ok", {
      logger: memoryLogger(),
      middleware: [rateLimit({ runs: 1, perMs: 3_600_000, ...(by ? { by } : {}) })],
    });
    const { send, close } = await mount(handler);
    const statuses: number[] = [];
    for (const [at, address] of ["203.0.113.7", "203.0.113.8"].entries()) {
      const headers = { "content-type": "application/json", ...claim(address) };
      const body = JSON.stringify({ threadId: "t", runId: `r-${at}`, messages: [] });
      const response = await send({ method: "POST", headers, body });
      await response.text();
      statuses.push(response.status);
    }
    if (statuses.join() !== "200,429")
      admitted.push(`${JSON.stringify(claim("a"))}: ${statuses.join()}`);
    await close();
  }
  return admitted;
}

test("an address that a client names is not believed on any host", async () => {
  const admitted: string[] = [];
  for (const [host, mount] of Object.entries(hosts)) {
    admitted.push(...(await tryAll(mount, "address")).map((one) => `${host} ${one}`));
  }
  const tried = Object.keys(hosts).length * claims.length;
  held("addresses that a client claims, on five hosts", tried, admitted);
});

test("a limit that counts by the header is noticed", async () => {
  const believing = await tryAll(hosts.fetch!, (_input, { request }) =>
    JSON.stringify([...request!.headers].filter(([name]) => /for|ip/.test(name))),
  );
  expect(believing).toHaveLength(claims.length);
});
