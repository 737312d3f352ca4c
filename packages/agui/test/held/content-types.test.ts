// What a page of another site can post without a preflight: forms, plain text, and bodies without a type. No operation
// that reads JSON takes one, also behind body parsers.
import { toExpressHandler } from "@holodeck/agui-express";
import type { Json } from "@holodeck/agui-core";
import express from "express";
import { createServer } from "node:http";
import { expect, test } from "vitest";
import { held } from "../../../../scripts/test-support/held.ts";
import { listen } from "../../../node/test/_listen.ts";
import { createAgentHandler } from "../../src/index.ts";
import type { AgentHandler } from "../../src/index.ts";
import { attemptsOn, nothingAsked } from "../_attempts.ts";
import { everyProtocol } from "../_every-protocol.ts";
import { memoryLogger } from "../_helpers.ts";

const types = [
  undefined,
  "",
  "text/plain",
  "text/plain; charset=utf-8",
  "TEXT/PLAIN",
  "text/plain;application/json",
  "text/plain; x=application/json",
  "text/plain, application/json",
  "application/x-www-form-urlencoded",
  "application/x-www-form-urlencoded; charset=UTF-8",
  "multipart/form-data",
  "multipart/form-data; boundary=application/json",
];

const origin = { origin: "http://evil.example", "sec-fetch-site": "cross-site" };
const ids = { threadId: "t", sessionId: "01ARZ3NDEKTSV4RRFFQ69G5FAV", runId: "r" };

/** Every attempt with a body; the OpenAPI document has which operations need one. */
async function bodies(handler: AgentHandler): Promise<{ path: string; body: string }[]> {
  const { paths } = (await handler.openapi()) as { paths: Record<string, Record<string, Json>> };
  return Object.entries(attemptsOn(ids)).flatMap(([route, attempts]) => {
    const [method = "", path = ""] = route.split(" ");
    const described = paths[path]?.post?.requestBody as { required?: boolean } | undefined;
    if (method !== "POST" || !described?.required) return [];
    return attempts.flatMap(({ path: place, body }) => {
      const value: unknown = typeof body === "function" ? body(nothingAsked) : body;
      return value === undefined ? [] : [{ path: place, body: JSON.stringify(value) }];
    });
  });
}

function create(): { handler: AgentHandler; runs: () => number } {
  let runs = 0;
  const handler = createAgentHandler(async () => `run ${++runs}`, {
    logger: memoryLogger(),
    protocols: everyProtocol(),
    authenticate: () => ({ id: "ann" }),
  });
  return { handler, runs: () => runs };
}

type Send = (path: string, init: RequestInit) => Promise<Response>;

async function tryAll(
  send: Send,
  handler: AgentHandler,
): Promise<{ tried: number; taken: string[] }> {
  const taken: string[] = [];
  let tried = 0;
  for (const { path, body } of await bodies(handler)) {
    for (const type of types) {
      tried++;
      const headers = { ...origin, ...(type === undefined ? {} : { "content-type": type }) };
      // As bytes: a string would be given a type.
      const response = await send(path, {
        method: "POST",
        headers,
        body: new TextEncoder().encode(body),
      });
      await response.text();
      if (response.status < 400) taken.push(`${path} as ${type}: ${response.status}`);
    }
  }
  return { tried, taken };
}

const toUrl =
  (root: string): Send =>
  (path, init) =>
    fetch(root + path, init);

test("a body that a form of another site can send is refused by every operation", async () => {
  const { handler, runs } = create();
  const direct = await tryAll(
    (path, init) => handler.fetch(new Request(`http://test.local${path}`, init)),
    handler,
  );
  const behind = express().use(
    express.json(),
    express.urlencoded({ extended: true }),
    express.text(),
  );
  const { url, close } = await listen(createServer(behind.use(toExpressHandler(handler))));
  const parsed = await tryAll(toUrl(url), handler);
  await close();
  expect(runs()).toBe(0);
  held("bodies that need no preflight, direct and behind parsers", direct.tried + parsed.tried, [
    ...direct.taken,
    ...parsed.taken,
  ]);
});

test("a server behind a parser that calls every body JSON is noticed", async () => {
  const { handler } = create();
  const careless = express().use((request, _response, next) => {
    request.headers["content-type"] = "application/json";
    next();
  });
  const { url, close } = await listen(createServer(careless.use(toExpressHandler(handler))));
  const { taken } = await tryAll(toUrl(url), handler);
  await close();
  expect(taken.length).toBeGreaterThan(10);
});
