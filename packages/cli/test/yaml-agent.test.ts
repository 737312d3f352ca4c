import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { startPostgres } from "../../sessions/test/_postgres.ts";
import { startRedis } from "../../sessions/test/_redis.ts";
import { chatWith, fixtures, load, resultsOf, textOf } from "./yaml/_served.ts";
import { startModel } from "./yaml/_model-server.ts";
import type { ModelServer } from "./yaml/_model-server.ts";

let model: ModelServer;
beforeAll(async () => {
  model = await startModel();
});
afterAll(() => model.close());

const head = (): string => `
name: helper
description: Helps in tests.
model:
  provider: openai-compatible
  name: small-model
  temperature: 0.2
  max_tokens: 500
  base_url: ${model.url}/v1
  api_key_env: MODEL_KEY
instructions: You are a helper.
`;
const env = { MODEL_KEY: "a-key-of-the-test" };

describe("an agent.yaml", () => {
  test("answers with the model that it names, and sends it the settings of the file", async () => {
    model.script({ text: "Good morning to you." });
    const chat = await chatWith(await load(head(), { env }));
    const events = await chat.say("Good morning");
    expect(textOf(events)).toBe("Good morning to you.");
    expect(events.at(-1)).toMatchObject({
      type: "RUN_FINISHED",
      usage: [{ inputTokens: 7, outputTokens: 3 }],
    });
    const [question] = model.questions;
    expect(question?.url).toBe("/v1/chat/completions");
    expect(question?.headers.authorization).toBe(`Bearer ${env.MODEL_KEY}`);
    expect(question?.body).toMatchObject({
      model: "small-model",
      temperature: 0.2,
      max_tokens: 500,
      stream: true,
      messages: [
        { role: "system", content: "You are a helper." },
        { role: "user", content: "Good morning" },
      ],
    });
    expect(question?.body).not.toHaveProperty("tools");
  });

  test("remembers the conversation, and sends the model the page's description of itself", async () => {
    model.script({ text: "One." }, { text: "Two." });
    const chat = await chatWith(await load(head(), { env }));
    await chat.say("first");
    chat.agent.addMessage({ id: "u2", role: "user", content: "second" });
    await chat.agent.runAgent({ context: [{ description: "page", value: "orders" }] });
    expect(model.questions[1]?.body.messages).toEqual([
      { role: "system", content: "You are a helper.\n\n# Context\n\n## page\norders" },
      { role: "user", content: "first" },
      { role: "assistant", content: "One." },
      { role: "user", content: "second" },
    ]);
  });

  test("takes its instructions from a file", async () => {
    model.script({ text: "Yes." });
    const text = head().replace(
      "instructions: You are a helper.",
      "instructions: { file: how.md }",
    );
    const loaded = await load(text, { env, files: { "how.md": "# Be kind\n" } });
    expect(loaded.files).toEqual([
      expect.stringMatching(/agent\.yaml$/),
      expect.stringMatching(/how\.md$/),
    ]);
    await (await chatWith(loaded)).say("hi");
    expect(model.questions[0]?.body.messages[0]).toEqual({ role: "system", content: "# Be kind" });
  });

  test("is found by its name, and by no name", async () => {
    const loaded = await load(head(), { env });
    const { url } = await chatWith(loaded);
    const info: any = await (await fetch(`${url}/agui/info`)).json();
    expect(info.agents).toMatchObject({
      helper: { name: "helper", description: "Helps in tests." },
    });
    expect(info.defaultAgent).toBe("helper");
  });

  test("runs functions of a module, in several steps, and sends the model their results", async () => {
    model.script(
      { calls: [{ name: "shout", args: { text: "hello" } }] },
      { calls: [{ name: "multiply", args: { a: 6, b: 7 } }] },
      { text: "Done." },
    );
    const loaded = await load(
      `${head()}
tools:
  - type: function
    name: shout
    description: Says it loudly.
    module: ${fixtures}/tools.ts
    parameters:
      text: { type: string, description: What to say. }
  - type: function
    name: multiply
    module: ${fixtures}/tools.ts
`,
      { env },
    );
    expect(loaded.files).toContain(`${fixtures}/tools.ts`);
    const events = await (await chatWith(loaded)).say("go");
    expect(resultsOf(events)).toEqual(["HELLO", "42"]);
    expect(textOf(events)).toBe("Done.");
    const [first, second, third] = model.questions;
    expect(first?.body.tools).toMatchObject([
      {
        function: {
          name: "shout",
          description: "Says it loudly.",
          parameters: { properties: { text: { type: "string" } }, required: ["text"] },
        },
      },
      { function: { name: "multiply", description: "Multiplies two numbers." } },
    ]);
    expect(second?.body.messages.at(-1)).toMatchObject({ role: "tool", content: "HELLO" });
    expect(third?.body.messages.at(-1)).toMatchObject({ role: "tool", content: "42" });
  });

  test("lets the model correct arguments that do not fit", async () => {
    model.script({ calls: [{ name: "shout", args: { txt: 1 } }] }, { text: "Sorry." });
    const loaded = await load(
      `${head()}
tools:
  - type: function
    name: shout
    description: Says it loudly.
    module: ${fixtures}/tools.ts
    parameters: { type: object, properties: { text: { type: string } }, required: [text] }
`,
      { env },
    );
    await (await chatWith(loaded)).say("go");
    const { content } = model.questions[1]!.body.messages.at(-1);
    expect(JSON.parse(content as string)).toMatchObject({ error: { code: "invalid-arguments" } });
  });

  test.for([
    ["a tool that is not there", { name: "no_such_tool", args: {} }, "unknown-tool"],
    [
      "arguments that are no JSON",
      { name: "shout", args: {}, raw: '{"text": ' },
      "invalid-arguments",
    ],
  ] as const)("reports %s to the model, and lets it go on", async ([, call, code]) => {
    model.script({ calls: [call] }, { text: "I see." });
    const loaded = await load(
      `${head()}
tools:
  - type: function
    name: shout
    description: Says it loudly.
    module: ${fixtures}/tools.ts
    parameters: { text: { type: string } }
`,
      { env },
    );
    const events = await (await chatWith(loaded)).say("go");
    expect(resultsOf(events)).toEqual([expect.stringContaining(code)]);
    expect(model.questions[1]?.body.messages.at(-1)).toMatchObject({
      role: "tool",
      content: expect.stringContaining(code),
    });
    expect(textOf(events)).toBe("I see.");
  });

  test("asks the client to run a client tool, and goes on with its answer in the next run", async () => {
    model.script(
      { text: "A moment. ", calls: [{ name: "pick_colour", args: { from: ["red"] } }] },
      { text: "Red it is." },
    );
    const loaded = await load(
      `${head()}
tools:
  - type: client
    name: pick_colour
    description: Lets the user pick a colour.
    parameters: { type: object, properties: { from: { type: array, items: { type: string } } } }
`,
      { env },
    );
    const chat = await chatWith(loaded);
    const asked = await chat.say("colour?");
    const call = asked.find(({ type }) => type === "TOOL_CALL_START");
    expect(call).toMatchObject({ toolCallName: "pick_colour" });
    expect(resultsOf(asked)).toEqual([]);
    expect(model.questions).toHaveLength(1);

    const answered = await chat.answer(call!.toolCallId as string, "red");
    expect(textOf(answered)).toBe("Red it is.");
    expect(model.questions[1]?.body.messages.slice(-2)).toMatchObject([
      { role: "assistant", tool_calls: [{ function: { name: "pick_colour" } }] },
      { role: "tool", content: "red" },
    ]);
  });

  test.for([
    [true, "HELLO"],
    [false, /approval-denied/],
  ] as const)(
    "waits for a person where it sets approval, and receives %s",
    async ([approved, result]) => {
      model.script({ calls: [{ name: "shout", args: { text: "hello" } }] }, { text: "All right." });
      const loaded = await load(
        `${head()}
tools:
  - type: function
    name: shout
    description: Says it loudly.
    module: ${fixtures}/tools.ts
    parameters: { text: { type: string } }
    approval: true
`,
        { env },
      );
      const chat = await chatWith(loaded);
      const asked = await chat.say("go");
      const { outcome } = asked.at(-1)!;
      expect(outcome).toMatchObject({ type: "interrupt", interrupts: [{ reason: "tool_call" }] });
      expect(resultsOf(asked)).toEqual([]);
      const events = await chat.resume(outcome.interrupts[0].id as string, { approved });
      expect(resultsOf(events)[0]).toMatch(result);
      expect(textOf(events)).toBe("All right.");
    },
  );

  test("ends the connection to the model when the run is stopped", async () => {
    model.script({ text: "I could go on", hangs: true });
    const chat = await chatWith(await load(head(), { env }));
    const before = model.cut;
    const running = chat.say("talk");
    await expect.poll(() => chat.agent.messages.at(-1)?.content).toBe("I could go on");
    chat.agent.abortRun();
    await running;
    await expect.poll(() => model.cut).toBe(before + 1);
  });

  test("never reveals its key: not in logs, not to clients, not in discovery", async () => {
    model.script({ status: 401 });
    const loaded = await load(head(), { env });
    const chat = await chatWith(loaded, { debug: true });
    const events = await chat.say("hi").catch((error: unknown) => [String(error)]);
    const info = await (await fetch(`${chat.url}/agui/info`)).text();
    const { inspect } = await import("node:util");
    const told = [inspect(chat.logs, { depth: 12 }), inspect(events, { depth: 12 }), info];
    expect(told[0]).toContain("Refused.");
    for (const one of told) expect(one).not.toContain(env.MODEL_KEY);
    expect(inspect(loaded, { depth: 12 })).not.toContain(env.MODEL_KEY);
  });

  test("sets limits and middleware of the handler", async () => {
    const loaded = await load(
      `${head()}
limits: { run_timeout_ms: 60000, max_sessions: 3 }
middleware:
  - logging
  - rate_limit: { runs: 1, per_ms: 60000 }
  - bearer_auth: { token_env: TOKEN }
`,
      { env: { ...env, TOKEN: "opensesame" } },
    );
    expect(loaded.options.limits).toEqual({ runTimeoutMs: 60_000, maxSessions: 3 });
    const { url } = await chatWith(loaded);
    const ask = (token: string): Promise<Response> =>
      fetch(`${url}/agui`, {
        method: "POST",
        headers: { "content-type": "application/json", authorization: `Bearer ${token}` },
        body: JSON.stringify({ messages: [{ role: "user", content: "hi" }] }),
      });
    model.script({ text: "In." });
    expect((await ask("wrong")).status).toBe(401);
    expect(await (await ask("opensesame")).text()).toContain("RUN_FINISHED");
    expect((await ask("opensesame")).status).toBe(429);
  });

  test("shows the model what the user attached", async () => {
    model.script({ text: "A cat." });
    const chat = await chatWith(await load(head(), { env }));
    const source = { type: "data", value: "aGVsbG8=", mimeType: "image/png" } as const;
    chat.agent.addMessage({
      id: "u1",
      role: "user",
      content: [
        { type: "text", text: "What is it?" },
        { type: "image", source },
      ],
    });
    await chat.agent.runAgent();
    expect(model.questions[0]?.body.messages.at(-1).content).toEqual([
      { type: "text", text: "What is it?" },
      { type: "image_url", image_url: { url: "data:image/png;base64,aGVsbG8=" } },
    ]);
  });

  test("keeps threads in the Redis that the environment names", async ({ skip }) => {
    const redis = await startRedis("agent.yaml with sessions in Redis");
    if (!redis) return skip();
    onTestFinished(() => redis.stop());
    const urls = { ...env, REDIS_URL: `redis://127.0.0.1:${redis.port}` };
    const loaded = await load(`${head()}\nsessions: \${REDIS_URL}`, { env: urls });
    model.script({ text: "Kept." });
    const chat = await chatWith(loaded);
    await chat.say("hi");
    const client: any = await redis.nodeRedis();
    expect(await client.keys("agui:*:session")).toHaveLength(1);
  });

  test("keeps threads in the PostgreSQL that the environment names, also if it starts later", async ({
    skip,
  }) => {
    const server = await startPostgres("agent.yaml with sessions in PostgreSQL");
    if (!server) return skip();
    onTestFinished(() => server.stop());
    const url = `postgresql://postgres@127.0.0.1:${server.port}/postgres`;
    await server.shutDown("fast");
    const yaml = `${head()}\nsessions: \${DATABASE_URL}`;
    const loaded = await load(yaml, { env: { ...env, DATABASE_URL: url } });
    await server.start();
    model.script({ text: "Kept." });
    await (await chatWith(loaded)).say("hi");
    expect(await server.sql("SELECT FROM agui.sessions")).toHaveLength(1);
  });

  test("keeps threads in SQLite, beside the file", async () => {
    model.script({ text: "Kept." });
    const loaded = await load(`${head()}\nsessions: sqlite:threads.db`, { env });
    await (await chatWith(loaded)).say("hi");
    const { existsSync } = await import("node:fs");
    expect(existsSync(loaded.files[0]!.replace("agent.yaml", "threads.db"))).toBe(true);
  });
});
