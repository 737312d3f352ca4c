import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { loadYamlAgent } from "../src/index.ts";
import type { AgentModule } from "../src/index.ts";
import { startMcp } from "./yaml/_mcp-http.ts";
import type { McpHttpServer } from "./yaml/_mcp-http.ts";
import { startModel } from "./yaml/_model-server.ts";
import type { ModelServer } from "./yaml/_model-server.ts";
import { chatWith, fixtures, load, resultsOf, textOf } from "./yaml/_served.ts";
import type { Seen } from "./yaml/_served.ts";

let model: ModelServer;
let sums: McpHttpServer;
// One agent with both kinds of servers, for tests that leave them as they were.
let shared: AgentModule;
let path: string;

beforeAll(async () => {
  [model, sums] = await Promise.all([startModel(), startMcp()]);
  path = await mkdtemp(join(tmpdir(), "agent-yaml-"));
  await writeFile(join(path, "agent.yaml"), head() + stdio() + http(sums.url));
  shared = await loadYamlAgent(join(path, "agent.yaml"), env);
});
afterAll(async () => {
  await shared.close?.();
  await Promise.all([model.close(), sums.close(), rm(path, { recursive: true })]);
});

const env = { MODEL_KEY: "key", NOTE_TOKEN: "note-secret", OTHER_SECRET: "not for everybody" };

const head = (): string => `
name: helper
model:
  provider: openai-compatible
  name: small-model
  base_url: ${model.url}/v1
  api_key_env: MODEL_KEY
instructions: You are a helper.
tools:
`;

const stdio = (more = ""): string => `
  - type: mcp
    name: notes
    command: ${process.execPath}
    args: ["${fixtures}/mcp-stdio.mjs"]
${more}`;

const http = (url: string, name = "sums", more = ""): string => `
  - type: mcp
    name: ${name}
    url: ${url}/mcp
${more}`;

// Calls one tool of an agent, and tells what came of it.
async function call(loaded: AgentModule, name: string, args: object = {}): Promise<Seen[]> {
  model.script({ calls: [{ name, args }] }, { text: "Done." });
  return (await chatWith(loaded)).say("go");
}

const namesAsked = (at = 0): string[] =>
  model.questions[at]?.body.tools.map((tool: any) => tool.function.name) as string[];

// Whether a process is there.
function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

describe("MCP servers of an agent.yaml", () => {
  test("bring their tools, over stdio and over HTTP, to one answer of the model", async () => {
    model.script(
      { calls: [{ name: "read_note", args: { title: "shopping" } }] },
      { calls: [{ name: "add_up", args: { a: 2, b: 3 } }] },
      { text: "Bread, and 5." },
    );
    const chat = await chatWith(shared);
    const events = await chat.say("What is to do?");
    const info: any = await (await fetch(`${chat.url}/agui/info`)).json();
    const told = info.agents.helper.tools.map((tool: any) => tool.name as string);
    expect(told).toEqual(expect.arrayContaining(["read_note", "add_up"]));
    expect(resultsOf(events)).toEqual(["The note shopping says: buy bread.", "The sum is 5."]);
    expect(textOf(events)).toBe("Bread, and 5.");
    expect(namesAsked()).toEqual(expect.arrayContaining(["read_note", "add_up"]));
    expect(model.questions[0]?.body.tools).toContainEqual(
      expect.objectContaining({
        function: expect.objectContaining({
          name: "add_up",
          description: "Adds two numbers.",
          parameters: expect.objectContaining({ required: ["a", "b"] }),
        }),
      }),
    );
    expect(model.questions[2]?.body.messages.at(-1)).toMatchObject({
      role: "tool",
      content: "The sum is 5.",
    });
  });

  test("get the variables that the file names, and no others", async () => {
    model.script(
      { calls: [{ name: "listed_environment", args: {} }] },
      { calls: [{ name: "mapped_environment", args: {} }] },
      { text: "Done." },
    );
    const listed = stdio("    env: [NOTE_TOKEN]").replace("name: notes", "name: listed");
    const more = "    env: { TOKEN: '${NOTE_TOKEN}', LEVEL: high }";
    const mapped = stdio(more).replace("name: notes", "name: mapped");
    const loaded = await load(head() + listed + mapped, { env });
    const results = resultsOf(await (await chatWith(loaded)).say("go"));
    const [first, second] = results.map((one) => JSON.parse(one as string) as object);
    expect(first).toMatchObject({ NOTE_TOKEN: "note-secret", PATH: expect.any(String) });
    expect(first).not.toHaveProperty("OTHER_SECRET");
    expect(first).not.toHaveProperty("VITEST");
    expect(second).toMatchObject({ TOKEN: "note-secret", LEVEL: "high" });
    expect(second).not.toHaveProperty("NOTE_TOKEN");
  });

  test("get the headers of the file, with values of the environment", async () => {
    const more = "    headers: { Authorization: 'Bearer ${NOTE_TOKEN}', X-Team: docs }";
    const loaded = await load(head() + http(sums.url, "sums", more), { env });
    await call(loaded, "add_up", { a: 1, b: 1 });
    expect(sums.headers).toMatchObject({ authorization: "Bearer note-secret", "x-team": "docs" });
  });

  test("show pictures to the client, and words about them to a model that takes no others", async () => {
    const [result] = resultsOf(await call(shared, "draw"));
    expect(typeof result === "string" ? JSON.parse(result) : result).toEqual([
      { type: "text", text: "Here it is." },
      { type: "image", source: { type: "data", value: "aGVsbG8=", mimeType: "image/png" } },
    ]);
    const { content } = model.questions[1]!.body.messages.at(-1);
    expect(content).toBe("Here it is.\n[image, image/png, shown to the user]");
  });

  test("show pictures to a model that can see them in results", async () => {
    const easel = await startMcp("draw");
    const text = `
name: helper
model:
  provider: anthropic
  name: m
  max_tokens: 100
  base_url: ${model.url}/v1
  api_key_env: MODEL_KEY
instructions: You are a helper.
tools:${http(easel.url, "easel")}`;
    await call(await load(text, { env }), "draw");
    expect(model.questions[1]!.body.messages.at(-1).content).toMatchObject([
      {
        type: "tool_result",
        content: [{ type: "image", source: { media_type: "image/png", data: "aGVsbG8=" } }],
      },
    ]);
    await easel.close();
  });

  test("report what they refuse as the error of the tool", async () => {
    const events = await call(shared, "refuse");
    expect(JSON.parse(resultsOf(events)[0] as string)).toEqual({
      error: { code: "tool-error", message: "The shop is closed." },
    });
    expect(textOf(events)).toBe("Done.");
  });

  test("may be limited to some tools, and some of those to what a person allows", async () => {
    model.script({ calls: [{ name: "read_note", args: { title: "a" } }] }, { text: "Read." });
    const more = "    allow: [read_note, draw]\n    approval: [read_note]";
    const chat = await chatWith(await load(head() + stdio(more), { env }));
    const asked = await chat.say("read");
    expect(namesAsked()).toEqual(["read_note", "draw"]);
    const { outcome } = asked.at(-1)!;
    expect(resultsOf(asked)).toEqual([]);
    const events = await chat.resume(outcome.interrupts[0].id as string, { approved: true });
    expect(resultsOf(events)).toEqual(["The note a says: buy bread."]);
    expect(textOf(events)).toBe("Read.");
  });

  test("keep their names apart by the server's where two are the same", async () => {
    const [one, two] = [await startMcp("add.up"), await startMcp("add_up")];
    model.script({ calls: [{ name: "two_add_up", args: { a: 4, b: 4 } }] }, { text: "Done." });
    const own = `
  - type: client
    name: read_note
    description: A tool of the page.
`;
    const tools =
      own + http(one.url, "one") + http(two.url, "two") + stdio("    allow: [read_note]");
    const events = await (await chatWith(await load(head() + tools, { env }))).say("go");
    expect(namesAsked().toSorted()).toEqual([
      "notes_read_note",
      "one_add_up",
      "read_note",
      "two_add_up",
    ]);
    expect(resultsOf(events)).toEqual(["The sum is 8."]);
    await Promise.all([one.close(), two.close()]);
  });

  test("are notified that a call is given up when its time is over, and go on with the next", async () => {
    model.script(
      { calls: [{ name: "hang", args: {} }] },
      { calls: [{ name: "count_cancelled", args: {} }] },
      { text: "Done." },
    );
    const chat = await chatWith(shared, { limits: { toolTimeoutMs: 3_000 } });
    const events = await chat.say("go");
    const [late, cancelled] = resultsOf(events);
    expect(JSON.parse(late as string)).toMatchObject({ error: { code: "timeout" } });
    expect(cancelled).toBe("1");
  });

  test("offer what they have learned since", async () => {
    model.script({ calls: [{ name: "learn", args: {} }] }, { text: "Learned." });
    const chat = await chatWith(shared);
    await chat.say("learn");
    expect(namesAsked()).not.toContain("learned");
    await expect
      .poll(async () => {
        model.script({ text: "Still here." });
        await chat.say("what now?");
        return namesAsked();
      })
      .toContain("learned");
  });

  test("are started again, once, when their process has ended", async () => {
    model.script(
      { calls: [{ name: "process_id", args: {} }] },
      { calls: [{ name: "leave", args: {} }] },
      { calls: [{ name: "process_id", args: {} }] },
      { text: "Back." },
    );
    const events = await (await chatWith(await load(head() + stdio(), { env }))).say("go");
    const [before, left, after] = resultsOf(events);
    expect(JSON.parse(left as string)).toEqual({
      error: { code: "tool-error", message: 'The MCP server "notes" did not answer.' },
    });
    expect(Number(after)).toBeGreaterThan(0);
    expect(after).not.toBe(before);
    await expect.poll(() => isAlive(Number(before))).toBe(false);
  });

  test("are found again when they were away, and reported as away when they still are", async () => {
    const away = await startMcp();
    const { port } = away;
    const loaded = await load(head() + http(away.url), { env });
    const chat = await chatWith(loaded);
    const ask = async (): Promise<unknown> => {
      model.script({ calls: [{ name: "add_up", args: { a: 1, b: 2 } }] }, { text: "Done." });
      return resultsOf(await chat.say("add"))[0];
    };
    expect(await ask()).toBe("The sum is 3.");
    await away.close();
    expect(await ask()).toContain('The MCP server \\"sums\\" did not answer.');
    const again = await startMcp("add_up", port);
    expect(await ask()).toBe("The sum is 3.");
    await again.close();
  });

  test("end with an agent that is closed while they are connected", async () => {
    const { agent, close } = await load(
      `${head()}
  - type: mcp
    name: slow
    command: ${process.execPath}
    args: ["-e", "process.stdin.resume()"]
`,
      { env },
    );
    const { helper } = agent as unknown as { helper: { agent: { ready(): Promise<unknown> } } };
    const failure = helper.agent.ready().catch((error: unknown) => String(error));
    await close?.();
    expect(await failure).toMatch(/has been closed|closed in the meantime/);
  });

  test("end with the agent", async () => {
    const loaded = await load(head() + stdio(), { env });
    const chat = await chatWith(loaded);
    model.script({ calls: [{ name: "process_id", args: {} }] }, { text: "Done." });
    const pid = Number(resultsOf(await chat.say("go"))[0]);
    expect(isAlive(pid)).toBe(true);
    await loaded.close?.();
    await expect.poll(() => isAlive(pid)).toBe(false);
  });
});

describe("a server that cannot be used keeps the agent from starting, with its name:", () => {
  test.for([
    [
      "a command that is not there",
      "command: no-such-program-here",
      /The MCP server "broken" \(no-such-program-here\) .*ENOENT/,
    ],
    [
      "a program that is no server",
      `command: ${process.execPath}\n    args: ["-e", "process.exit(1)"]`,
      /The MCP server "broken" \(.*node\) /,
    ],
    [
      "a program that says nothing",
      `command: ${process.execPath}\n    args: ["-e", "process.stdin.resume()"]\n    timeout: 0.3`,
      /The MCP server "broken" \(.*node\) cannot be used: It did not answer within 0.3 s; increase "timeout" of the tool\./,
    ],
    [
      "an address where nobody listens",
      "url: http://127.0.0.1:9/mcp?token=hidden",
      /The MCP server "broken" \(http:\/\/127.0.0.1:9\/mcp\) /,
    ],
    [
      "a tool to allow that it does not have",
      `command: ${process.execPath}\n    args: ["${fixtures}/mcp-stdio.mjs"]\n    allow: [read_not]`,
      /read_not is not a tool of the MCP server "broken". Did you mean read_note\?/,
    ],
  ] as const)("%s", async ([, target, message]) => {
    const text = `${head()}\n  - type: mcp\n    name: broken\n    ${target}\n`;
    const { agent } = await load(text, { env });
    const { helper } = agent as unknown as { helper: { agent: { ready(): Promise<unknown> } } };
    const failure = await helper.agent.ready().then(
      () => "It was ready.",
      (error: Error) => error.message,
    );
    expect(failure).toMatch(message);
    expect(failure).not.toContain("hidden");
    expect(failure).toMatch(/\.$/);
  });
});
