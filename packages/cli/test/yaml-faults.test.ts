import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { AgentFileError, loadYamlAgent } from "../src/index.ts";
import { fixtures, folder } from "./yaml/_served.ts";

/** What is wrong with this text, as `line:column message`. */
async function faultsOf(
  text: string,
  { env = {}, files = {} }: { env?: Record<string, string>; files?: Record<string, string> } = {},
): Promise<string[]> {
  const path = join(await folder({ "agent.yaml": text, ...files }), "agent.yaml");
  const error: unknown = await loadYamlAgent(path, env).then(
    () => new Error("It was loaded."),
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(AgentFileError);
  const { faults, message, file } = error as AgentFileError;
  expect(file).toBe(path);
  // What is printed has every place in the form that editors and terminals open.
  for (const { line, column } of faults) expect(message).toContain(`${path}:${line}:${column} `);
  return faults.map((fault) => `${fault.line}:${fault.column} ${fault.message}`);
}

const head = "name: a\nmodel: { provider: demo }\ninstructions: hi\n";
const tool = (...lines: string[]): string => `${head}tools:\n  - ${lines.join("\n    ")}\n`;
const functionTool = (...lines: string[]): string =>
  tool("type: function", "name: t", `module: ${fixtures}/tools.ts`, ...lines);

describe("a broken agent.yaml", () => {
  test("gets everything that is wrong with it at once, in its order", async () => {
    const text = `
name: ""
desciption: A helper.
model:
  provider: opnai
  name: gpt-4o
  temperature: 3
  api_key: sk-abcdefghijklmnop
instructions:
  file: missing.md
tools:
  - type: function
    name: shout
    module: ./gone.ts
  - type: mcp
    name: shout
    url: ftp://example.com
    args: [a]
  - type: client
    name: no spaces please
    description: A tool.
limits:
  run_timeout: 5
  tool_timeout_ms: -1
middleware:
  - loging
  - bearer_auth: { token_env: NOT_SET }
sessions: mysql://localhost
`;
    const faults = await faultsOf(text.trimStart());
    expect(faults.map((fault) => fault.split(" ")[0])).toEqual([
      "1:1",
      "2:1",
      "4:3",
      "6:3",
      "7:3",
      "9:3",
      "13:5",
      "15:5",
      "16:5",
      "17:5",
      "19:5",
      "22:3",
      "23:3",
      "25:5",
      "26:20",
      "27:1",
    ]);
    for (const fault of faults) expect(fault).toMatch(/[.?…]$/);
    expect(faults.join("\n")).not.toContain("sk-abc");
  });

  test.for<[string, string, string]>([
    ["an empty file", "", "1:1 The file must be a mapping of keys to values, not nothing."],
    ["a list", "- a\n", "1:1 The file must be a mapping of keys to values, not a list."],
    [
      "a missing key",
      "model: { provider: demo }\ninstructions: hi",
      '1:1 name is missing, like "name: support".',
    ],
    [
      "a key with nothing",
      `${head}tools:`,
      '4:1 tools must be a list, not nothing, like "tools: []".',
    ],
    [
      "a misspelt key",
      `${head}limts: {}`,
      '4:1 "limts" is not a key of the file. Did you mean limits?',
    ],
    [
      "a key that is there twice",
      `${head}name: b`,
      "4:1 This key appears twice; remove one of them.",
    ],
    [
      "a wrong type",
      "name: [a]\nmodel: { provider: demo }\ninstructions: hi",
      '1:1 name must be text, not a list, like "name: support".',
    ],
    [
      "a number out of bounds",
      "name: a\nmodel: { provider: demo, temperature: 2.5 }\ninstructions: hi",
      "2:26 model.temperature must be at most 2, not 2.5.",
    ],
    [
      "a fraction",
      "name: a\nmodel: { provider: demo, max_tokens: 2.5 }\ninstructions: hi",
      "2:26 model.max_tokens must be a whole number, not 2.5",
    ],
    [
      "no provider",
      "name: a\nmodel:\n  name: m\ninstructions: hi",
      "2:1 model.provider is missing",
    ],
    [
      "a misspelt provider",
      "name: a\nmodel:\n  provider: antropic\n  name: m\ninstructions: hi",
      '3:3 model.provider must be one of openai, anthropic, azure, azure_openai, ollama, openai-compatible, demo, not "antropic"; did you mean anthropic?',
    ],
    [
      "a key of another provider",
      "name: a\nmodel:\n  provider: demo\n  resource: r\ninstructions: hi",
      '4:3 "resource" is not a key of model. Expected one of: provider, name, temperature, max_tokens, top_p.',
    ],
    [
      "no key in the environment",
      "name: a\nmodel:\n  provider: openai\n  name: m\ninstructions: hi",
      "2:1 The environment variable OPENAI_API_KEY is not set. Try: export OPENAI_API_KEY=…",
    ],
    [
      "no such key in the environment",
      "name: a\nmodel:\n  provider: anthropic\n  name: m\n  api_key_env: MY_KEY\ninstructions: hi",
      "5:3 The environment variable MY_KEY is not set.",
    ],
    [
      "a key in place of its name",
      "name: a\nmodel:\n  provider: openai\n  name: m\n  api_key_env: sk-abcdefghijklm\ninstructions: hi",
      '5:3 Secrets do not belong in the file. Put it into the environment and write "api_key_env: OPENAI_API_KEY" here.',
    ],
    [
      "a key as such",
      "name: a\nmodel:\n  provider: demo\n  api_key: abc\ninstructions: hi",
      "4:3 Secrets do not belong in the file.",
    ],
    [
      "a reference to a key",
      "name: a\nmodel:\n  provider: demo\n  api_key: ${MY_KEY}\ninstructions: hi",
      '4:3 Secrets do not belong in the file. Put it into the environment and write "api_key_env: MY_KEY" here.',
    ],
    [
      "a base_url without one",
      "name: a\nmodel:\n  provider: openai-compatible\n  name: m\n  base_url: models\ninstructions: hi",
      '5:3 model.base_url must be an address, like "https://models.example.com/v1".',
    ],
    [
      "a base_url with a password",
      "name: a\nmodel:\n  provider: ollama\n  name: m\n  base_url: http://me:pw@models/v1\ninstructions: hi",
      "5:3 Secrets do not belong in the file.",
    ],
    [
      "a base_url from nowhere",
      "name: a\nmodel:\n  provider: ollama\n  name: m\n  base_url: ${MODELS}/v1\ninstructions: hi",
      "5:3 The environment variable MODELS is not set.",
    ],
    [
      "an azure without a place",
      "name: a\nmodel:\n  provider: azure\n  name: m\n  api_key_env: HOME\ninstructions: hi",
      '2:1 Azure needs resource, endpoint or base_url, like "resource: my-resource".',
    ],
    [
      "instructions in two forms",
      "name: a\nmodel: { provider: demo }\ninstructions:\n  file: a.md\n  inline: b",
      '5:3 "inline" is not a key of instructions.',
    ],
    [
      "instructions of the wrong kind",
      "name: a\nmodel: { provider: demo }\ninstructions: 5",
      '3:1 instructions cannot be 5, like "instructions: You help with orders.".',
    ],
    ["a tool without a type", tool("name: t"), "5:5 tools[0].type is missing"],
    [
      "a misspelt type",
      tool("type: functon", "name: t", "modul: x"),
      '5:5 tools[0].type must be one of function, client, mcp, not "functon"; did you mean function?',
    ],
    [
      "and what else is wrong there",
      tool("type: functon", "name: t", "modul: x"),
      '7:5 "modul" is not a key of tools[0]. Did you mean module?',
    ],
    [
      "a key of HoloDeck's in Python",
      tool("type: function", "name: t", "file: x.py", "function: f"),
      '7:5 "file" is not a key of tools[0]. Did you mean module?',
    ],
    [
      "a module that is not there",
      tool("type: function", "name: t", "module: ./gone.ts"),
      "7:5 The module cannot be loaded: There is no file ",
    ],
    [
      "a package that is not there",
      tool("type: function", "name: t", "module: no-such-package-here"),
      '7:5 The module cannot be loaded: There is neither a file nor a package "no-such-package-here".',
    ],
    [
      "an export that is not there",
      functionTool("export: shuot"),
      `8:5 shuot is not exported by ${fixtures}/tools.ts. Did you mean shout?`,
    ],
    [
      "no export of the tool's name",
      functionTool(),
      `7:5 t is not exported by ${fixtures}/tools.ts.`,
    ],
    [
      "an export that is no function",
      functionTool("export: answer"),
      "8:5 The export must be a function or what defineTool made, not 42.",
    ],
    [
      "a function without a description",
      functionTool("export: shout"),
      "5:5 description is missing;",
    ],
    [
      "parameters that are no schema",
      functionTool("export: shout", "description: Says it.", "parameters: { text: string }"),
      '10:5 parameters must be a JSON Schema of type object, or have a schema for each name, like "text: { type: string }".',
    ],
    [
      "parameters with an unknown type",
      functionTool("export: shout", "description: Says it.", "parameters: { text: { type: txt } }"),
      "10:5 parameters/properties/text/type must be one of",
    ],
    [
      "parameters twice",
      functionTool("export: multiply", "parameters: { a: { type: number } }"),
      "9:5 The module's tool already has parameters; remove these.",
    ],
    [
      "two tools of one name",
      `${tool("type: client", "name: t", "description: One.")}  - { type: client, name: t, description: Two. }`,
      '8:21 "t" is also the name of tools[0]; tool names must be unique.',
    ],
    [
      "an MCP server from nowhere",
      tool("type: mcp", "name: t"),
      '5:5 command is missing for a server over stdio, like "command: npx".',
    ],
    [
      "an MCP server of two kinds",
      tool("type: mcp", "name: t", "command: npx", "url: http://a/mcp"),
      '7:5 "command" is not for a server over http; leave it out.',
    ],
    [
      "a variable that is not set",
      tool("type: mcp", "name: t", "command: npx", "env:", "  - NOT_SET"),
      "9:9 The environment variable NOT_SET is not set.",
    ],
    [
      "a token in a header",
      tool(
        "type: mcp",
        "name: t",
        "url: http://a/mcp",
        "headers:",
        "  Authorization: Bearer abcdefg",
      ),
      '9:7 Secrets do not belong in the file. Put it into the environment and write "Authorization: ${NAME}" here.',
    ],
    [
      "a token in a variable",
      tool("type: mcp", "name: t", "command: npx", "env:", "  GITHUB_TOKEN: abcdefg"),
      '9:7 Secrets do not belong in the file. Put it into the environment and write "GITHUB_TOKEN: ${NAME}" here.',
    ],
    [
      "a token in an argument",
      tool("type: mcp", "name: t", "command: npx", "args: [sk-abcdefghijkl]"),
      "8:12 Secrets do not belong in the file.",
    ],
    [
      "a limit that is none",
      `${head}limits:\n  run_timeout: 1`,
      '5:3 "run_timeout" is not a key of limits. Did you mean run_timeout_ms?',
    ],
    [
      "a limit of nothing",
      `${head}limits:\n  run_timeout_ms: 0`,
      "5:3 limits.run_timeout_ms must be above 0, not 0.",
    ],
    [
      "a middleware that is none",
      `${head}middleware:\n  - loging`,
      "5:5 middleware[0] must be one of logging, rate_limit",
    ],
    ["a middleware without its options", `${head}middleware: [rate_limit]`, "4:14 rate_limit: "],
    [
      "a middleware with a wrong option",
      `${head}middleware:\n  - rate_limit:\n      runs: many`,
      '6:7 middleware[0].rate_limit.runs must be a number, not "many"',
    ],
    [
      "a middleware with an unknown option",
      `${head}middleware:\n  - throttle_deltas:\n      mss: 5`,
      '6:7 "mss" is not a key of middleware[0].throttle_deltas. Did you mean ms?',
    ],
    [
      "options that contradict each other",
      `${head}middleware:\n  - cors: { origins: "*", credentials: true }`,
      '5:5 cors: cors cannot pair origins "*" with credentials',
    ],
    [
      "two middlewares in one",
      `${head}middleware:\n  - { logging: {}, redact: {} }`,
      '5:5 One middleware per item, like "- rate_limit: { runs: 20 }".',
    ],
    [
      "two who say who is asking",
      `${head}middleware:\n  - bearer_auth: { token_env: HOME }\n  - bearer_auth: { token_env: HOME }`,
      "6:5 bearer_auth is already listed; only one may authenticate requests.",
    ],
    [
      "a pattern that is none",
      `${head}middleware:\n  - redact: { patterns: ["("] }`,
      "5:5 redact: Invalid regular expression",
    ],
    [
      "is not a session store",
      `${head}sessions: disk`,
      '4:1 sessions must be "memory", "sqlite:PATH", "redis://HOST:PORT", "postgres://HOST/DATABASE" or "${NAME}".',
    ],
    [
      "a folder that is not there",
      `${head}sessions: sqlite:./gone/threads.db`,
      "4:1 There is no folder ",
    ],
    [
      "a password of Redis",
      `${head}sessions: redis://:pass@localhost`,
      '4:1 Secrets do not belong in the file. Put it into the environment and write "${NAME}" here.',
    ],
    [
      "a password of PostgreSQL",
      `${head}sessions: postgres://app:pass@localhost/app`,
      '4:1 Secrets do not belong in the file. Put it into the environment and write "${NAME}" here.',
    ],
    ["YAML that is none", `${head}tools: [a`, "4:10 This is not YAML: "],
    ["a tab", `${head}limits:\n\trun_timeout_ms: 1`, "5:1 This is not YAML: "],
    [
      "aliases that grow without end",
      `${head}test_cases:\n  - &a [x,x,x,x,x,x,x,x,x,x]\n  - &b [*a,*a,*a,*a,*a,*a,*a,*a,*a,*a]\n  - [*b,*b,*b,*b,*b,*b,*b,*b,*b,*b]\n`,
      "1:1 The aliases of the file expand to too much: ",
    ],
    [
      "an alias of nothing",
      `${head}description: *gone`,
      "4:14 *gone has no anchor; write &gone before the value it refers to.",
    ],
  ])("names the place and the fault: %s", async ([, text, expected]) => {
    const faults = await faultsOf(text, { env: { HOME: "/root" } });
    expect(faults).toContainEqual(expect.stringContaining(expected));
  });

  test.for<[string, string, string[]]>([
    [
      "of a model",
      "name: a\nmodel:\n  provider: openai\n  name: m\n  temperature: hot\n  api_kee: x\ninstructions: hi",
      ["2:1 The environment variable OPENAI_API_KEY", "5:3 model.temperature", '6:3 "api_kee"'],
    ],
    [
      "of a tool",
      tool("type: function", "name: t", "modul: x", "module: ./gone.ts", "approval: maybe"),
      ['7:5 "modul"', "8:5 The module cannot be loaded", "9:5 tools[0].approval"],
    ],
  ])("finds what else is wrong with a part: %s", async ([, text, expected]) => {
    const faults = await faultsOf(text);
    expect(faults).toEqual(expected.map((fault) => expect.stringContaining(fault)));
  });

  test("names the file that is not there", async () => {
    await expect(loadYamlAgent("/nowhere/agent.yaml", {})).rejects.toThrow(
      "/nowhere/agent.yaml:1:1 There is no such file.",
    );
  });

  test("names what to watch for a change that mends it", async () => {
    const text = functionTool("export: gone").replace(
      "instructions: hi",
      "instructions: { file: how.md }",
    );
    const path = join(await folder({ "agent.yaml": text }), "agent.yaml");
    const error = (await loadYamlAgent(path, {}).catch(
      (reason: unknown) => reason,
    )) as AgentFileError;
    // And what the module imports.
    expect(error.files.slice(0, 3)).toEqual([
      path,
      path.replace("agent.yaml", "how.md"),
      `${fixtures}/tools.ts`,
    ]);
  });
});

describe("an agent.yaml of HoloDeck's", () => {
  test("is taken with what belongs to other commands", async () => {
    const path = await folder({
      "agent.yaml": `${head}author: me\ntest_cases: [{ name: one, input: hi }]\nevaluations: { metrics: [] }\n`,
    });
    await expect(loadYamlAgent(join(path, "agent.yaml"), {})).resolves.toMatchObject({ name: "a" });
  });
});
