import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from "vitest";
import { startModel } from "./yaml/_model-server.ts";
import type { ModelServer } from "./yaml/_model-server.ts";
import { chatWith, load, resultsOf, textOf } from "./yaml/_served.ts";
import { fixtures } from "./yaml/_served.ts";

let model: ModelServer;
beforeAll(async () => {
  model = await startModel();
});
afterAll(() => model.close());
afterEach(() => vi.unstubAllGlobals());

const file = (lines: readonly string[]): string =>
  `name: a\nmodel:\n  ${lines.join("\n  ")}\ninstructions: Be short.\n`;

describe("the provider of an agent.yaml", () => {
  test.for([
    {
      provider: "openai",
      lines: ["base_url: URL/v1"],
      variable: "OPENAI_API_KEY",
      url: "/v1/chat/completions",
      headers: { authorization: "Bearer secret-key" },
    },
    {
      provider: "anthropic",
      lines: ["base_url: URL/v1", "max_tokens: 200"],
      variable: "ANTHROPIC_API_KEY",
      url: "/v1/messages",
      headers: { "x-api-key": "secret-key" },
    },
    {
      provider: "azure",
      lines: ["endpoint: URL", "api_version: 2025-04-01-preview", "api_key_env: MY_KEY"],
      variable: "MY_KEY",
      url: expect.stringMatching(/^\/openai\/.*chat\/completions/),
      headers: { "api-key": "secret-key" },
    },
    {
      provider: "azure_openai",
      lines: ["base_url: ${GATEWAY}/azure"],
      variable: "AZURE_OPENAI_API_KEY",
      url: expect.stringMatching(/^\/azure\/.*chat\/completions/),
      headers: { "api-key": "secret-key" },
    },
    {
      provider: "ollama",
      lines: ["base_url: URL/v1"],
      variable: "UNUSED",
      url: "/v1/chat/completions",
      headers: {},
    },
    {
      provider: "openai-compatible",
      lines: ["base_url: URL/v1/"],
      variable: "UNUSED",
      url: "/v1/chat/completions",
      headers: {},
    },
  ])("$provider streams an answer", async ({ provider, lines, variable, url, headers }) => {
    model.script({ text: "Hello from the model." });
    const where = lines.map((line) => line.replace("URL", model.url));
    const text = file([`provider: ${provider}`, "name: m1", ...where]);
    const env = { [variable]: "secret-key", GATEWAY: model.url };
    const events = await (await chatWith(await load(text, { env }))).say("hi");
    const deltas = events.filter(({ type }) => type === "TEXT_MESSAGE_CONTENT");
    expect(textOf(deltas)).toBe("Hello from the model.");
    expect(deltas.length).toBeGreaterThan(1);
    expect(events.at(-1)).toMatchObject({ type: "RUN_FINISHED", usage: [{ inputTokens: 7 }] });
    const [question] = model.questions;
    expect(question?.url).toEqual(url);
    expect(question?.headers).toMatchObject(headers);
    if (variable === "UNUSED") expect(question?.headers).not.toHaveProperty("authorization");
    expect(JSON.stringify(question?.body)).toContain("Be short.");
  });

  test.for([
    ["ollama", "http://127.0.0.1:11434/v1/chat/completions"],
    ["openai", "https://api.openai.com/v1/responses"],
    ["anthropic", "https://api.anthropic.com/v1/messages"],
  ])("%s is at its own address unless the file sets another", async ([provider, address]) => {
    const asked: string[] = [];
    const real = fetch;
    // The client's own requests go their way; those to the provider only say where they go.
    vi.stubGlobal("fetch", (input: string | URL, init?: RequestInit) => {
      const url = String(input);
      if (url.endsWith("/agui")) return real(input, init);
      asked.push(url);
      return Promise.resolve(new Response("{}", { status: 400 }));
    });
    const env = { OPENAI_API_KEY: "k", ANTHROPIC_API_KEY: "k" };
    const text = file([`provider: ${provider}`, "name: m1"]);
    const chat = await chatWith(await load(text, { env }));
    await chat.say("hi").catch(() => undefined);
    expect(asked).toEqual([address]);
  });

  test("azure finds a resource by its name", async () => {
    const asked: string[] = [];
    const real = fetch;
    vi.stubGlobal("fetch", (input: string | URL, init?: RequestInit) => {
      if (String(input).endsWith("/agui")) return real(input, init);
      asked.push(String(input));
      return Promise.resolve(new Response("{}", { status: 400 }));
    });
    const text = file(["provider: azure", "name: m1", "resource: ours", "api_key_env: K"]);
    const chat = await chatWith(await load(text, { env: { K: "k" } }));
    await chat.say("hi").catch(() => undefined);
    expect(asked[0]).toMatch(/^https:\/\/ours\.openai\.azure\.com\/openai\/.*chat\/completions/);
  });
});

describe("the demo provider", () => {
  const text = `name: a\nmodel: { provider: demo }\ninstructions: hi\n`;

  test("answers without a key and without a network, in pieces", async () => {
    const events = await (await chatWith(await load(text))).say("Good morning, demo");
    expect(textOf(events)).toBe("You said: Good morning, demo");
    const deltas = events.filter(({ type }) => type === "TEXT_MESSAGE_CONTENT");
    expect(deltas.length).toBeGreaterThan(3);
  });

  test("calls the tool that is named, and reports what came of it", async () => {
    const tools = `
tools:
  - type: function
    name: shout
    description: Says it loudly.
    module: ${fixtures}/tools.ts
    parameters: { text: { type: string } }
`;
    const chat = await chatWith(await load(text + tools));
    const events = await chat.say('Use shout {"text": "hello"}');
    expect(resultsOf(events)).toEqual(["HELLO"]);
    expect(textOf(events)).toBe("shout: HELLO");
    expect(textOf(await chat.say("thanks"))).toBe("You said: thanks");
  });
});
