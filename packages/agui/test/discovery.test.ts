import type { Protocol, ProtocolHost, Route } from "@holodeck/agui-core";
import { describe, expect, test } from "vitest";
import { agui, allowAnonymous, createAgentHandler } from "../src/index.ts";
import type { AgentHandlerOptions } from "../src/index.ts";
import { memoryLogger } from "./_helpers.ts";

const hello = async function* (): AsyncGenerator<string> {
  yield "Hello";
};
const quiet = { logger: memoryLogger() };

const at = (path: string, init: RequestInit = {}): Request =>
  new Request(`http://test.local${path}`, init);

/** A protocol of one route. */
function protocol(name: string, route: Partial<Route>, more: Partial<Protocol> = {}): Protocol {
  const handle: Route["handle"] = () => ({ status: 200, body: { from: name } });
  return {
    name,
    history: "client",
    routes: () => [{ method: "GET", path: "/shared", handle, ...route }],
    ...more,
  };
}

describe("a route that is shared", () => {
  test("is mounted once, whoever brings it", async () => {
    const { fetch, info } = createAgentHandler(hello, {
      ...quiet,
      health: false,
      openapi: false,
      protocols: [protocol("a", { shared: true }), protocol("b", { shared: true })],
    });
    expect(info().routes).toEqual(["GET /shared"]);
    expect(await (await fetch(at("/shared"))).json()).toEqual({ from: "a" });
  });

  test("is still in the way of one that is not", () => {
    const protocols = [protocol("a", { shared: true }), protocol("b", {})];
    expect(() => createAgentHandler(hello, { ...quiet, protocols })).toThrow(
      '"a" and "b" both answer GET /shared',
    );
  });
});

describe("a body that may be absent", () => {
  const echo = protocol("echo", {
    method: "POST",
    path: "/echo",
    body: "optional-json",
    handle: ({ body }) => ({ status: 200, body: { body } }),
  });
  const { fetch } = createAgentHandler(hello, { ...quiet, protocols: [echo] });
  const json = { "content-type": "application/json" };

  test.for<[string, RequestInit, object]>([
    ["nothing", {}, {}],
    ["nothing but its type", { headers: json }, {}],
    ["an object", { headers: json, body: '{"a":1}' }, { body: { a: 1 } }],
  ])("is taken as %s", async ([, init, expected]) => {
    const response = await fetch(at("/echo", { method: "POST", ...init }));
    expect(await response.json()).toEqual(expected);
  });

  test.for<[string, RequestInit, number]>([
    ["no JSON", { headers: json, body: "{" }, 400],
    ["another type", { headers: { "content-type": "text/plain" }, body: "{}" }, 415],
  ])("is refused as %s", async ([, init, status]) => {
    expect((await fetch(at("/echo", { method: "POST", ...init }))).status).toBe(status);
  });
});

describe("what protocols say of themselves", () => {
  const describeHost = (options: AgentHandlerOptions): unknown => {
    const told = protocol(
      "told",
      {},
      {
        describe: ({ hasAuthenticate }: ProtocolHost) => ({ facts: { hasAuthenticate } }),
      },
    );
    return createAgentHandler(hello, { ...quiet, ...options, protocols: [told] }).info().facts;
  };

  test("may depend on whether the host knows who is asking", () => {
    expect(describeHost({})).toEqual({ hasAuthenticate: false });
    expect(describeHost({ authenticate: allowAnonymous() })).toEqual({ hasAuthenticate: true });
  });

  test("is merged, however deep", () => {
    const one = protocol("one", {}, { describe: () => ({ a: { b: { one: 1 } }, list: [1] }) });
    const two = protocol(
      "two",
      { path: "/two" },
      {
        describe: () => ({ a: { b: { two: 2 } }, list: [2] }),
      },
    );
    const { info } = createAgentHandler(hello, { ...quiet, protocols: [one, two] });
    expect(info()).toMatchObject({ a: { b: { one: 1, two: 2 } }, list: [2] });
  });

  test("becomes capabilities of each agent, and the agent has the last word", () => {
    class Poet {
      run = hello;
    }
    const { info } = createAgentHandler(
      {
        poet: new Poet(),
        mute: {
          agent: hello,
          capabilities: { transport: { streaming: false }, reasoning: { supported: true } },
        },
      },
      { ...quiet, protocols: [agui()] },
    );
    const transport = { streaming: true, httpBinary: true, resumable: true };
    expect(info().agents).toEqual({
      poet: { id: "poet", name: "poet", className: "Poet", capabilities: { transport } },
      mute: {
        id: "mute",
        name: "mute",
        className: "Agent",
        capabilities: {
          transport: { ...transport, streaming: false },
          reasoning: { supported: true },
        },
      },
    });
    expect(info()).not.toHaveProperty("capabilities");
  });
});
