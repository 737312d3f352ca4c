import { PROTOCOL_VERSION } from "@ag-ui/core";
import { allowAnonymous, createAgentHandler } from "@holodeck/agui";
import { serve } from "@holodeck/agui-node";
import fc from "fast-check";
import { execFile, execFileSync } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { SampleRequest } from "../page/inspector/code/endpoints.ts";
import { toCopilotKitCode } from "../page/inspector/code/to-copilot-kit-code.ts";
import { findService } from "../../../scripts/test-support/services.ts";
import { toCurl } from "../page/inspector/code/to-curl.ts";
import { toHttpAgentCode } from "../page/inspector/code/to-http-agent-code.ts";
import { toLiteral } from "../page/inspector/code/to-literal.ts";
import { toUseChatCode } from "../page/inspector/code/to-use-chat-code.ts";
import type { SentRequest } from "../page/model.ts";

const run = promisify(execFile);
const workspace = fileURLToPath(new URL("../../../", import.meta.url));
const tsx = createRequire(join(workspace, "package.json")).resolve("tsx");
const tsc = createRequire(join(workspace, "package.json")).resolve("typescript/bin/tsc");

// Inside `docs`, which has the packages that the code imports.
const parent = join(workspace, "docs", "node_modules", ".cache");
mkdirSync(parent, { recursive: true });
const folder = mkdtempSync(join(parent, "inspector-"));
writeFileSync(join(folder, "package.json"), '{ "type": "module" }');
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const heard: unknown[] = [];
let url = "";
let close: () => Promise<void>;

beforeAll(async () => {
  const echo = (name: string) =>
    async function* (input: { messages: readonly { content?: unknown }[]; state?: unknown }) {
      heard.push(input);
      yield `${name} heard ${JSON.stringify(input.messages.at(-1)?.content)}`;
    };
  const agents = { first: echo("first"), "second one": echo("second") };
  const served = await serve(createAgentHandler(agents, { authenticate: allowAnonymous() }), {
    port: 0,
  });
  url = served.url.replace(/\/$/, "");
  close = () => served.close();
});
afterAll(() => close());

const nasty = 'It\'s "$HOME" `id` \\ \n@x 😀 </script>\u2028%';

function asked(over: Partial<SampleRequest> = {}): SampleRequest {
  const input: SampleRequest["input"] = {
    threadId: "thread-1",
    runId: "run-1",
    messages: [
      { id: "1", role: "user", content: "Before" },
      {
        id: "2",
        role: "assistant",
        content: "Yes?",
        toolCalls: [{ id: "c", type: "function", function: { name: "f", arguments: "{}" } }],
      },
      { id: "3", role: "tool", toolCallId: "c", content: "1" },
      { id: "4", role: "user", content: nasty },
    ],
    tools: [{ name: "pick", description: "", parameters: { type: "object" } }],
    context: [],
    state: { count: 1 },
    forwardedProps: {},
  };
  return {
    wire: "agui-sse",
    agentId: "default",
    threadId: "thread-1",
    input,
    request: {
      method: "POST",
      url: `${url}/agui`,
      headers: { "content-type": "application/json", accept: "text/event-stream" },
      body: JSON.stringify(input),
    },
    ...over,
  };
}

describe("curl", () => {
  const bin = join(folder, "bin");
  mkdirSync(bin);
  const fake = join(bin, "curl");
  writeFileSync(fake, "#!/bin/sh\nprintf '%s\\0' \"$@\"\n");
  chmodSync(fake, 0o755);
  const args = (line: string): string[] => {
    const env = { ...process.env, PATH: `${bin}:${process.env.PATH}` };
    return execFileSync("sh", ["-c", line], { encoding: "utf8", env }).split("\0").slice(0, -1);
  };

  test("gets every word as it is, whatever the shell would make of it", () => {
    // No shell can hand over a NUL.
    const word = fc.string({
      unit: fc.constantFrom(
        "a",
        "'",
        '"',
        "$",
        "`",
        "\\",
        "\n",
        " ",
        "!",
        "*",
        "😀",
        "-",
        "@",
        "#",
      ),
      maxLength: 20,
    });
    fc.assert(
      fc.property(word, word, (value, body) => {
        const headers = { "x-header": value };
        const request: SentRequest = { method: "POST", url: "http://h/", headers, body };
        const header = value === "" ? "x-header;" : `x-header: ${value}`;
        const data = ["--data-raw", body];
        expect(args(toCurl(request))).toEqual(["-N", "http://h/", "-H", header, ...data]);
      }),
      { numRuns: 60 },
    );
  });

  test("names a method that it would not take by itself, and leaves out what it counts", () => {
    const headers = { Host: "h", "Content-Length": "3" };
    expect(args(toCurl({ method: "DELETE", url: "http://h/[1]", headers }))).toEqual([
      "-Ng",
      "http://h/[1]",
      "-X",
      "DELETE",
    ]);
    expect(args(toCurl({ method: "GET", url: "http://h/", headers: {} }))).toEqual([
      "-N",
      "http://h/",
    ]);
  });

  const real = test.runIf(findService("curl", "the page's curl commands"));

  real("asks a real server the same, and is answered", async () => {
    const { stdout } = await run("sh", ["-c", toCurl(asked().request)]);
    expect(stdout).toContain('"type":"RUN_FINISHED"');
    expect(heard.at(-1)).toMatchObject({ messages: asked().input.messages, state: { count: 1 } });
  });

  real("asks for protobuf, and gets it", async () => {
    const { request } = asked();
    const headers = { ...request.headers, accept: "application/vnd.ag-ui.event+proto" };
    // Only clients of 1.0 are taken to read it.
    const body = JSON.stringify({ ...asked().input, protocolVersion: PROTOCOL_VERSION });
    const line = toCurl({ ...request, headers, body });
    const { stdout } = await run("sh", ["-c", line], { encoding: "buffer" });
    expect(stdout.readUInt32BE(0)).toBeLessThan(stdout.length);
    expect(line).toContain("--output -");
  });
});

describe("a literal", () => {
  test("is the value it was made of", () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        // oxlint-disable-next-line no-implied-eval typescript/no-implied-eval -- this is what it is for
        const made = new Function(`return (${toLiteral(value)});`)() as unknown;
        expect(JSON.stringify(made)).toBe(JSON.stringify(value));
      }),
    );
  });

  test("keeps a member called __proto__ a member", () => {
    const value = JSON.parse('{"__proto__":{"a":1},"plain_1":2,"not-plain":3}') as unknown;
    expect(toLiteral(value)).toBe(
      '{\n  ["__proto__"]: {\n    a: 1,\n  },\n  plain_1: 2,\n  "not-plain": 3,\n}',
    );
  });
});

describe("HttpAgent", () => {
  const execute = async (name: string, code: string): Promise<string> => {
    const file = join(folder, `${name}.ts`);
    writeFileSync(file, code);
    const { stdout } = await run(process.execPath, ["--import", tsx, file], { cwd: folder });
    return stdout;
  };

  test("asks the same, from code that runs as it is", async () => {
    const output = await execute("same", toHttpAgentCode(asked()));
    expect(output).toContain("RUN_FINISHED");
    expect(output).toContain("first heard");
    expect(heard.at(-1)).toMatchObject({
      threadId: "thread-1",
      messages: asked().input.messages,
      tools: asked().input.tools,
      state: { count: 1 },
    });
  });

  test("reaches the agent that was asked, whatever the wire was", async () => {
    const request = { ...asked().request, url: `${url}/agent/second%20one/chat/stream` };
    const code = toHttpAgentCode(asked({ wire: "rest", agentId: "second one", request }));
    expect(await execute("second", code)).toContain("second heard");
  });
});

describe("where a handler is mounted", () => {
  test.for([
    ["agui-sse", "https://host/agui", "https://host/agui"],
    ["agui-proto", "https://host/a/b/agui?x=1", "https://host/a/b/agui"],
    ["agui-sse", "https://host/a/agui/runs/r%2F1/events", "https://host/a/agui"],
    ["agui-sse", "https://host/agui/agent/one/connect", "https://host/agui"],
    ["vercel", "https://host/api/chat?sdkVersion=6", "https://host/agui"],
    ["rest", "https://host/x/agent/one/chat/stream", "https://host/x/agui"],
  ] as const)("is seen in what %s asked: %s", ([wire, address, found]) => {
    const request = { ...asked().request, url: address };
    expect(toCopilotKitCode(asked({ wire, request }))).toContain(`runtimeUrl = "${found}";`);
  });
});

describe("code for React", () => {
  const modules = (dir: string, name: string): string[] => [
    join(workspace, dir, "node_modules", name),
  ];

  // A compiler is slow where others work, too.
  test("compiles", async () => {
    const picture = { type: "data", value: "AAAA", mimeType: "image/png" } as const;
    const input = {
      ...asked().input,
      messages: [
        ...asked().input.messages,
        {
          id: "5",
          role: "user" as const,
          content: [
            { type: "text" as const, text: "And this?" },
            { type: "image" as const, source: picture },
          ],
        },
      ],
    };
    const headers = { ...asked().request.headers, authorization: "Bearer x" };
    const request = { ...asked().request, url: `${url}/mounted/api/chat`, headers };
    writeFileSync(join(folder, "use-chat.tsx"), toUseChatCode(asked()));
    const other = asked({ wire: "vercel", agentId: "second one", input, request });
    writeFileSync(join(folder, "use-chat-other.tsx"), toUseChatCode(other));
    writeFileSync(join(folder, "copilot-kit.tsx"), toCopilotKitCode(asked()));
    writeFileSync(join(folder, "copilot-kit-other.tsx"), toCopilotKitCode(other));
    writeFileSync(join(folder, "http-agent.ts"), toHttpAgentCode(other));
    // CopilotKit's components are not in the workspace; this is what we take to be true of them.
    writeFileSync(
      join(folder, "modules.d.ts"),
      `declare module "@copilotkit/react-core/v2/styles.css";
declare module "@copilotkit/react-core/v2" {
  import type { ReactNode } from "react";
  export function CopilotKitProvider(props: {
    runtimeUrl?: string;
    headers?: Record<string, string>;
    children?: ReactNode;
  }): ReactNode;
  export function CopilotChat(props: { agentId?: string; threadId?: string }): ReactNode;
}
`,
    );
    const compilerOptions = {
      target: "ES2022",
      module: "ESNext",
      moduleResolution: "Bundler",
      lib: ["ES2023", "DOM"],
      jsx: "react-jsx",
      strict: true,
      noEmit: true,
      skipLibCheck: true,
      types: [],
      paths: {
        react: modules("packages/vercel", "@types/react"),
        "react/*": modules("packages/vercel", "@types/react/*"),
      },
    };
    const files = { include: ["*.tsx", "*.d.ts", "http-agent.ts"] };
    writeFileSync(join(folder, "tsconfig.json"), JSON.stringify({ compilerOptions, ...files }));
    const flags = ["-p", folder, "--pretty", "false"];
    const compile = run(process.execPath, [tsc, ...flags], { timeout: 280_000 });
    expect(await compile.catch((error: { stdout: string }) => error)).toMatchObject({ stdout: "" });
  }, 300_000);

  test("has the address of the mount, the agent and the thread", () => {
    const request = { ...asked().request, url: "https://host/mounted/api/chat?x=1" };
    const other = asked({ wire: "vercel", agentId: "second one", request });
    expect(toUseChatCode(other)).toContain('api: "https://host/mounted/api/chat?sdkVersion=6"');
    expect(toUseChatCode(other)).toContain('agentId: "second one"');
    expect(toUseChatCode(other)).toContain("Calls of tools are left out");
    expect(toCopilotKitCode(other)).toContain('const runtimeUrl = "https://host/mounted/agui";');
    expect(toCopilotKitCode(other)).toContain('agentId={"second one"} threadId={"thread-1"}');
  });
});
