import { createAgentHandler } from "@holodeck/agui";
import type { AgentHandler } from "@holodeck/agui";
import type { AgentFunction, Protocol, RunAgentInput } from "@holodeck/agui-core";
import { request } from "node:http";
import { afterEach, describe, expect, test } from "vitest";
import { runInput } from "../src/index.ts";
import { testBinding } from "../src/vitest/index.ts";
import { listenSmallest } from "./smallest-binding.ts";

testBinding("with the required members only", (handler) => listenSmallest(handler));

/** Answers with a result, and shows the query it was asked with. */
const results: Protocol = {
  name: "results",
  history: "client",
  routes: (host) => [
    {
      method: "POST",
      path: "/results",
      body: "json",
      async handle(call) {
        const run = await host.start(call, { input: call.body as RunAgentInput });
        const { messages } = await run.collect();
        return { status: 200, body: { query: [...call.query], messages: messages.length } };
      },
    },
  ],
};

describe("a handler behind a binding with the required members only", () => {
  let served: { url: string; close: () => Promise<void> };
  let handler: AgentHandler;
  afterEach(async () => {
    await handler.close({ timeoutMs: 0 });
    await served.close();
  });

  async function serve(agent: AgentFunction): Promise<void> {
    handler = createAgentHandler(agent, {
      protocols: [results],
      limits: { bodyBytes: 10_000 },
    });
    served = await listenSmallest(handler);
  }

  const ask = (path: string, input: object): Promise<Response> =>
    fetch(served.url + path, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(input),
    });

  test("reads the body and the query, and answers", async () => {
    await serve(async function* () {
      yield "hi";
    });
    const answer = await ask("/results?a=1&a=%C3%BC", runInput());
    expect(answer.headers.get("content-length")).not.toBeNull();
    const query = [
      ["a", "1"],
      ["a", "ü"],
    ];
    expect(await answer.json()).toEqual({ query, messages: 1 });
  });

  test("refuses a body that is too large", async () => {
    await serve(async () => undefined);
    const answer = await ask("/results", { ...runInput(), state: "x".repeat(20_000) });
    expect([answer.status, await answer.json()]).toMatchObject([
      413,
      { code: "payload-too-large" },
    ]);
  });

  test("stops a run whose client has left", async () => {
    let started!: () => void;
    let stopped!: (reason: unknown) => void;
    const begun = new Promise<void>((resolve) => (started = resolve));
    const reason = new Promise((resolve) => (stopped = resolve));
    await serve(async (_input, { signal }) => {
      started();
      await new Promise<void>((resolve) => {
        signal.addEventListener("abort", () => {
          stopped(signal.reason);
          resolve();
        });
      });
    });
    const client = request(`${served.url}/results`, {
      method: "POST",
      headers: { "content-type": "application/json" },
    }).on("error", () => undefined);
    client.end(JSON.stringify(runInput()));
    await begun;
    client.destroy();
    expect(await reason).toMatchObject({ code: "disconnected" });
  });
});
