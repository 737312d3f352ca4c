import type { ServerTool } from "@holodeck/agui-core";
import { serve } from "@holodeck/agui-node";
import type { Serving } from "@holodeck/agui-node";
import { fakeClock } from "@holodeck/agui-testing";
import { createServer } from "node:net";
import type { AddressInfo } from "node:net";
import { inspect } from "node:util";
import { afterEach, describe, expect, test, vi } from "vitest";
import { configFromEnv, createAgentHandler } from "../src/index.ts";
import type { AgentFunction, AgentHandlerOptions, EnvConfig } from "../src/index.ts";
import { parseSse, say } from "./_helpers.ts";

const hello: AgentFunction = async () => "hello";
const origin = "https://app.example.com";
let serving: Serving | undefined;

afterEach(async () => {
  await serving?.close();
  serving = undefined;
  vi.restoreAllMocks();
  vi.unstubAllEnvs();
});

/** A server that listens as its environment says, on a free port unless that names one. */
async function start(
  env: Record<string, string>,
  agent: AgentFunction | { make: (config: EnvConfig) => AgentFunction } = hello,
  more: AgentHandlerOptions = {},
): Promise<Serving> {
  const config = configFromEnv({ AGUI_PORT: "0", ...env }, { allowPrivileged: true });
  const made = typeof agent === "function" ? agent : agent.make(config);
  const handler = createAgentHandler(made, { ...config.handler, ...more });
  serving = await serve(handler, { ...config.serve, signals: false });
  return serving;
}

const run = ({ url }: Serving, body: object = {}, headers = {}): Promise<Response> =>
  fetch(`${url}/agui`, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: JSON.stringify({ messages: [say("hi")], ...body }),
  });

const linesOf = (spy: { mock: { calls: unknown[][] } }): { level: string; message: string }[] =>
  spy.mock.calls.map(([line]) => JSON.parse(String(line)) as { level: string; message: string });

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

describe("on a running server", () => {
  test("AGUI_HOST is where it listens", async () => {
    vi.spyOn(console, "error").mockImplementation(() => {});
    const { server } = await start({ AGUI_HOST: "127.0.0.2" });
    expect(server.address()).toMatchObject({ address: "127.0.0.2" });
  });

  test("AGUI_HOST of all interfaces is warned of", async () => {
    const written = vi.spyOn(console, "error").mockImplementation(() => {});
    await start({ AGUI_HOST: "0.0.0.0" });
    expect(linesOf(written)).toMatchObject([{ level: "warn", host: "0.0.0.0" }]);
  });

  test("AGUI_PORT is its port", async () => {
    const port = await freePort();
    const started = await start({ AGUI_PORT: String(port) });
    expect(started.port).toBe(port);
    expect((await run(started)).status).toBe(200);
  });

  test.for([
    ["DEBUG", ["debug", "info", "warn", "error"]],
    ["INFO", ["info", "warn", "error"]],
    ["WARNING", ["warn", "error"]],
    ["error", ["error"]],
    ["", ["info", "warn", "error"]],
  ] as const)("LOG_LEVEL %s is the least that is written", async ([level, expected]) => {
    const written = vi.spyOn(console, "error").mockImplementation(() => {});
    const agent: AgentFunction = async (_input, { logger }) => {
      for (const each of ["debug", "info", "warn", "error"] as const) logger[each]({}, "a word");
    };
    await (await run(await start({ LOG_LEVEL: level }, agent))).text();
    const said = linesOf(written).filter(({ message }) => message === "a word");
    expect(said.map((line) => line.level)).toEqual(expected);
  });

  test("LLM_PROVIDER, LLM_MODEL and OPENAI_API_KEY reach the agent", async () => {
    const env = {
      LLM_PROVIDER: "anthropic",
      LLM_MODEL: "claude",
      OPENAI_API_KEY: "sk-secret",
    };
    const make = ({ llm }: EnvConfig): AgentFunction => {
      const { provider, model, apiKey } = llm;
      return async () => `${provider} ${model} ${apiKey.length}`;
    };
    const text = await (await run(await start(env, { make }))).text();
    expect(parseSse(text)).toContainEqual(
      expect.objectContaining({ delta: "anthropic claude 9" }) as never,
    );
  });

  test("AGUI_MAX_THREADS bounds the threads", async () => {
    const started = await start({ AGUI_MAX_THREADS: "2" });
    const statuses: number[] = [];
    for (const threadId of ["a", "b", "c", "a"]) {
      const response = await run(started, { threadId });
      statuses.push(response.status);
      await response.text();
    }
    expect(statuses).toEqual([200, 200, 429, 200]);
  });

  test("AGUI_MAX_THREADS bounds them together with AGUI_MAX_MESSAGES, too", async () => {
    const started = await start({ AGUI_MAX_THREADS: "1", AGUI_MAX_MESSAGES: "5" });
    await (await run(started, { threadId: "a" })).text();
    expect((await run(started, { threadId: "b" })).status).toBe(429);
  });

  test("AGUI_MAX_MESSAGES bounds what a thread remembers", async () => {
    const seen: number[] = [];
    const agent: AgentFunction = async (input) => {
      seen.push(input.messages.length);
      return "yes";
    };
    const started = await start({ AGUI_MAX_MESSAGES: "3" }, agent, { history: "server" });
    for (const content of ["1", "2", "3", "4"]) {
      await (await run(started, { threadId: "t", messages: [say(content)] })).text();
    }
    expect(seen).toEqual([1, 3, 3, 3]);
  });

  test("AGUI_TOOL_TIMEOUT ends a tool after so many seconds", async () => {
    const clock = fakeClock();
    const stuck: ServerTool = {
      name: "stuck",
      description: "Never answers.",
      invoke: () => new Promise(() => {}),
    };
    const errors: unknown[] = [];
    const agent: AgentFunction = async (_input, { callTool }) => {
      await callTool("stuck", {}).catch((error: unknown) => errors.push(error));
    };
    vi.spyOn(console, "error").mockImplementation(() => {});
    const options = { clock, tools: [stuck] };
    const started = await start({ AGUI_TOOL_TIMEOUT: "7" }, agent, options);
    const response = await run(started);
    await clock.advance(6_999);
    expect(errors).toEqual([]);
    await clock.advance(1);
    await response.text();
    expect(errors).toMatchObject([{ code: expect.stringMatching(/timeout|tool-error/) as string }]);
  });

  test("AGUI_CORS_ORIGINS lets their pages read the answers", async () => {
    const started = await start({ AGUI_CORS_ORIGINS: `http://localhost:5173, ${origin}` });
    const allowed = async (from: string): Promise<string | null> =>
      (await run(started, { messages: 7 }, { origin: from })).headers.get(
        "access-control-allow-origin",
      );
    expect(await allowed(origin)).toBe(origin);
    expect(await allowed("http://localhost:5173")).toBe("http://localhost:5173");
    expect(await allowed("https://evil.example.com")).toBeNull();
  });

  test("AGUI_CORS_ORIGINS admits no origin when it is not set", async () => {
    const response = await run(await start({}), {}, { origin });
    expect(response.headers.get("access-control-allow-origin")).toBeNull();
  });

  test.for([
    ["true", "the disk is full"],
    ["0", "The agent failed."],
  ])("AGUI_DEBUG %s decides whether clients see why", async ([flag, message]) => {
    vi.spyOn(console, "error").mockImplementation(() => {});
    const agent: AgentFunction = async () => {
      throw new Error("the disk is full");
    };
    const text = await (await run(await start({ AGUI_DEBUG: flag! }, agent))).text();
    expect(parseSse(text).at(-1)).toMatchObject({ type: "RUN_ERROR", message });
  });

  test("AGUI_DEBUG writes debug records, unless LOG_LEVEL sets another level", async () => {
    const written = vi.spyOn(console, "error").mockImplementation(() => {});
    configFromEnv({ AGUI_DEBUG: "on" }).handler.logger!.debug({}, "one");
    configFromEnv({ AGUI_DEBUG: "on", LOG_LEVEL: "info" }).handler.logger!.debug({}, "two");
    expect(linesOf(written)).toMatchObject([{ message: "one" }]);
  });
});

describe("an environment", () => {
  test("without variables of ours gives the defaults", () => {
    const { handler, serve: listen, llm } = configFromEnv({ AGUI_PORT: "", LLM_MODEL: " " });
    expect(listen).toMatchObject({ host: "127.0.0.1", port: 8000 });
    expect(llm).toMatchObject({ provider: "openai", model: "gpt-4" });
    expect(llm.apiKey).toBe("");
    expect(handler).toMatchObject({ debug: false, limits: {}, middleware: [] });
    expect(handler).not.toHaveProperty("sessions");
  });

  test("is the process's own unless another is given", () => {
    vi.stubEnv("AGUI_PORT", "9123");
    expect(configFromEnv().serve.port).toBe(9123);
    expect(configFromEnv({}).serve.port).toBe(8000);
  });

  test("reports everything that is wrong with it at once, by name", () => {
    const wrong = {
      AGUI_HOST: "not a host",
      AGUI_PORT: "80",
      LOG_LEVEL: "LOUD",
      AGUI_MAX_THREADS: "0",
      AGUI_MAX_MESSAGES: "many",
      AGUI_TOOL_TIMEOUT: "1.5",
      AGUI_CORS_ORIGINS: "app.example.com/",
      AGUI_DEBUG: "maybe",
      OPENAI_API_KEY: "",
    };
    let caught: unknown;
    try {
      configFromEnv(wrong, { requireLlm: true });
    } catch (error) {
      caught = error;
    }
    expect(caught).toBeInstanceOf(TypeError);
    const { message, cause } = caught as TypeError;
    const named = (cause as { variable: string }[]).map(({ variable }) => variable);
    expect(named.toSorted()).toEqual(Object.keys(wrong).toSorted());
    expect(message.split("\n")).toEqual([
      "The environment is not valid:",
      '- AGUI_HOST must be an IP address or a host name, not "not a host".',
      '- AGUI_PORT must be an integer from 1024 to 65535, not "80".',
      '- AGUI_DEBUG must be one of 0, 1, true, yes, on, false, no, off, not "maybe".',
      '- LOG_LEVEL must be one of debug, info, warning, warn, error, not "LOUD".',
      '- AGUI_MAX_THREADS must be an integer of at least 1, not "0".',
      '- AGUI_MAX_MESSAGES must be an integer of at least 1, not "many".',
      '- AGUI_TOOL_TIMEOUT must be an integer from 1 to 2147483, not "1.5".',
      expect.stringMatching(/^- AGUI_CORS_ORIGINS: .*"app.example.com\/"/),
      "- OPENAI_API_KEY is empty; the agent needs it.",
    ]);
  });

  test.for(["65536", "1023", "-1", "8e3", "0x1f90", "80.5", "NaN"])(
    "with the port %s is refused",
    (AGUI_PORT) => {
      expect(() => configFromEnv({ AGUI_PORT })).toThrow("AGUI_PORT must be an integer from 1024");
    },
  );

  test.for(["1024", "65535", " 9000 "])("with the port %s is taken", (AGUI_PORT) => {
    expect(configFromEnv({ AGUI_PORT }).serve.port).toBe(Number(AGUI_PORT));
  });

  test.for(["0", "80"])("may have the port %s when its host allows it", (AGUI_PORT) => {
    const { serve: listen } = configFromEnv({ AGUI_PORT }, { allowPrivileged: true });
    expect(listen.port).toBe(Number(AGUI_PORT));
  });

  test.for(["localhost", "0.0.0.0", "::1", "::", "my-host.example.com", "10.0.0.255"])(
    "with the host %s is taken",
    (AGUI_HOST) => {
      expect(configFromEnv({ AGUI_HOST }).serve.host).toBe(AGUI_HOST);
    },
  );

  test.for(["256.1.1.1", "1.2.3", "-a", "a..b", "http://localhost", "::zz", "a b"])(
    "with the host %s is refused",
    (AGUI_HOST) => {
      expect(() => configFromEnv({ AGUI_HOST })).toThrow("AGUI_HOST must be an IP address");
    },
  );

  test("keeps the key to those who ask for it", () => {
    const secret = "sk-very-secret";
    const config = configFromEnv({ OPENAI_API_KEY: secret });
    expect(config.llm.apiKey).toBe(secret);
    for (const shown of [
      JSON.stringify(config),
      inspect(config, { depth: 9 }),
      inspect(config, { depth: 9, showHidden: true }),
      JSON.stringify({ ...config.llm }),
    ]) {
      expect(shown).not.toContain(secret);
    }
    expect(() => configFromEnv({ OPENAI_API_KEY: secret, AGUI_PORT: "x" })).toThrow(
      expect.not.stringContaining(secret) as never,
    );
  });

  test("is an object, and its options have names", () => {
    expect(() => configFromEnv(7 as never)).toThrow("like process.env, not 7");
    expect(() => configFromEnv({}, { requireLLM: true } as never)).toThrow("mean requireLlm?");
    expect(() => configFromEnv({ AGUI_PORT: 8000 })).toThrow("AGUI_PORT must be a string");
  });
});
