import { AbstractAgent } from "@ag-ui/client";
import type { AgentCapabilities } from "@ag-ui/client";
import { fromAbstractAgent } from "@holodeck/agui-adapters/ag-ui";
import type { Json, Protocol, ProtocolHost, Route } from "@holodeck/agui-core";
import { fakeClock } from "@holodeck/agui-testing";
import { Observable } from "rxjs";
import { describe, expect, test } from "vitest";
import { agui, allowAnonymous, createAgentHandler } from "../src/index.ts";
import type { AgentHandlerOptions, AgentLike } from "../src/index.ts";
import { deferred, memoryLogger } from "./_helpers.ts";

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
  test("is mounted once, whichever protocol brings it", async () => {
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
      '"a" and "b" both serve GET /shared',
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

describe("what protocols report about themselves", () => {
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

describe("the capabilities of an agent", () => {
  /** As its authors write one; `getCapabilities` is a method of theirs. */
  class Painter extends AbstractAgent {
    override getCapabilities(): Promise<AgentCapabilities> {
      return paints();
    }
    run(): ReturnType<AbstractAgent["run"]> {
      return new Observable((observer) => observer.complete()) as never;
    }
  }
  const paints = async (): Promise<AgentCapabilities> => ({
    transport: { streaming: false },
    reasoning: { supported: true },
    custom: { canvas: "oil" },
  });
  const asked: [string, Request][] = [
    ["AG-UI", at("/agui/info")],
    [
      "CopilotKit in one route",
      at("/agui", {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ method: "info" }),
      }),
    ],
  ];
  const forms: [string, (agent: Painter) => AgentLike][] = [
    ["given directly", (agent) => agent],
    ["from fromAbstractAgent", (agent) => fromAbstractAgent(agent)],
  ];
  const agentsOf = async (response: Response): Promise<Record<string, Json>> =>
    ((await response.json()) as { agents: Record<string, Json> }).agents;

  describe.for(asked)("are part of what %s discovers", ([, request]) => {
    test.for(forms)("over what the server knows, %s", async ([, form]) => {
      const { fetch } = createAgentHandler({ painter: form(new Painter()), plain: hello }, quiet);
      const { painter, plain } = await agentsOf(await fetch(request.clone()));
      expect(painter!.capabilities).toMatchObject({
        transport: { streaming: false, resumable: true },
        reasoning: { supported: true },
        custom: { canvas: "oil" },
      });
      expect(plain!.capabilities).toMatchObject({ transport: { streaming: true } });
    });
  });

  test("yield to the host's description of the agent", async () => {
    const agent = fromAbstractAgent(new Painter());
    const entry = { agent, capabilities: { custom: { canvas: "linen" } } };
    const { fetch } = createAgentHandler({ painter: entry }, quiet);
    const { painter } = await agentsOf(await fetch(at("/agui/info")));
    expect(painter!.capabilities).toMatchObject({
      custom: { canvas: "linen" },
      reasoning: { supported: true },
    });
  });

  test.for<[string, () => unknown]>([
    ["throw", () => Promise.reject(new Error("no brush"))],
    ["are no object", async () => "all of them"],
    ["are no JSON", async () => ({ custom: { big: 10n } })],
  ])("are left out and logged when they %s", async ([, answer]) => {
    const logger = memoryLogger();
    const agent = { run: hello, getCapabilities: answer };
    const { fetch } = createAgentHandler(agent, { logger });
    const agents = await agentsOf(await fetch(at("/agui/info")));
    expect(agents.default!.capabilities).toMatchObject({ transport: { streaming: true } });
    expect(logger.records).toMatchObject([
      { level: "warn", agentId: "default", error: expect.any(Error) },
    ]);
  });

  test("are left out and logged once when they do not come, and are there once they do", async () => {
    const clock = fakeClock();
    const logger = memoryLogger();
    const { promise, resolve } = deferred<object>();
    let times = 0;
    const agent = {
      run: hello,
      getCapabilities: () => {
        times++;
        return promise;
      },
    };
    const { fetch, start } = createAgentHandler(agent, { logger, clock });
    await start();
    const ask = async () => (await agentsOf(await fetch(at("/agui/info")))).default!;
    const [first, second] = [ask(), ask()];
    await expect.poll(() => times).toBe(1);
    await clock.advance(2_000);
    expect((await first).capabilities).not.toHaveProperty("custom");
    expect((await second).capabilities).not.toHaveProperty("custom");
    // Without waiting again.
    expect((await ask()).capabilities).not.toHaveProperty("custom");
    expect(logger.records).toMatchObject([{ level: "warn", agentId: "default" }]);
    resolve({ custom: { late: true } });
    await expect
      .poll(async () => (await ask()).capabilities)
      .toMatchObject({
        custom: { late: true },
      });
    expect(times).toBe(1);
  });
});
