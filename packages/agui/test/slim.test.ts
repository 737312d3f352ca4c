import { createSlimHandler } from "../src/create-slim-handler.ts";
import * as slim from "../src/slim.ts";
import * as full from "../src/index.ts";
import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { build } from "esbuild";
import { describe, expect, test } from "vitest";
import { eventsOf, post } from "./_helpers.ts";

const { agui, copilotkit, createAgentHandler, rest, threads, vercel } = slim;
const logger = { debug() {}, info() {}, warn() {}, error() {} };
const agent = async (): Promise<string> => "hi";
const all = (): slim.Protocol[] => [agui(), copilotkit(), vercel(), rest(), threads()];

const send = (path: string, body: unknown): Request =>
  new Request(`http://localhost${path}`, {
    method: "POST",
    headers: { "content-type": "application/json", accept: "*/*" },
    body: JSON.stringify(body),
  });

describe("the slim entry", () => {
  test("has what the other one exports under the same names", () => {
    expect(Object.keys(full)).toEqual(expect.arrayContaining(Object.keys(slim)));
  });

  test.for([
    ["no options", undefined],
    ["options without protocols", { logger }],
  ] as const)("with %s does not make a handler", ([, options]) => {
    expect(() => createSlimHandler(agent, options as never)).toThrow(
      "createAgentHandler of @holodeck/agui/slim needs protocols, such as { protocols: [agui()] }.",
    );
  });

  test("refuses an option that it cannot serve, and others by their names", () => {
    const options = { protocols: all(), openapi: {} };
    expect(() => createAgentHandler(agent, options)).toThrow(
      "openapi is not an option of @holodeck/agui/slim",
    );
    expect(() => createAgentHandler(agent, { protocols: [] })).toThrow("protocols is empty");
    expect(() => createAgentHandler(agent, { protocols: all(), limit: 1 } as never)).toThrow(
      "limit",
    );
  });

  test("serves what is named, and nothing else", async () => {
    const { fetch } = createAgentHandler(agent, { protocols: [agui()], logger });
    expect((await eventsOf(await fetch(post({ messages: [] })))).at(-1)).toMatchObject({
      type: "RUN_FINISHED",
    });
    expect((await fetch(send("/api/chat", {}))).status).toBe(404);
    expect((await fetch(new Request("http://localhost/openapi.json"))).status).toBe(404);
    expect((await fetch(new Request("http://localhost/health"))).status).toBe(200);
  });

  test("answers a client that prefers protobuf with server-sent events, and discovery has no other transport", async () => {
    const { fetch } = createAgentHandler(agent, { protocols: [agui()], logger });
    const request = post({ protocolVersion: "1.0", messages: [] });
    request.headers.set("accept", "application/vnd.ag-ui.event+proto, text/event-stream");
    expect((await fetch(request)).headers.get("content-type")).toBe("text/event-stream");
    const info = await (await fetch(new Request("http://localhost/agui/info"))).json();
    expect(info).toMatchObject({ protocols: { agui: { transports: ["sse"] } } });
  });

  test.for<[string, unknown, string]>([
    ["/agui", { tools: [{ name: 5, description: "x" }] }, "tools.0.name"],
    ["/agui/agent/default/connect", { threadId: 5 }, "threadId"],
    ["/api/chat", { messages: [{ role: "bot" }] }, "messages.0"],
    ["/agent/default/chat", { message: "hi", files: [{}] }, "files.0.content"],
    ["/chat", { message: "hi", tools: [{ name: "" }] }, "tools.0.name"],
  ])("names what is wrong with a body of %s", async ([path, body, member]) => {
    const { fetch } = createAgentHandler(agent, { protocols: all(), logger });
    const other = full.createAgentHandler(agent, { logger });
    const response = await fetch(send(path, body));
    const problem = (await response.json()) as { errors: { path: string; message: string }[] };
    expect(problem.errors[0]?.path).toContain(member);
    expect(problem.errors[0]?.message).toContain(member.split(".").at(-1));
    const usual = (await (await other.fetch(send(path, body))).json()) as typeof problem;
    expect(problem.errors).toEqual(usual.errors);
  });
});

// As wrangler makes it: one file, minified, without code splitting.
describe("a Worker", () => {
  const root = fileURLToPath(new URL("..", import.meta.url));

  async function bundle(code: string): Promise<{ bytes: Uint8Array; packages: Set<string> }> {
    const { outputFiles, metafile } = await build({
      stdin: { contents: code, resolveDir: root, loader: "ts" },
      bundle: true,
      minify: true,
      write: false,
      metafile: true,
      format: "esm",
      target: "es2022",
      platform: "neutral",
      mainFields: ["module", "main"],
      conditions: ["@holodeck/source", "workerd", "worker", "browser"],
      define: { "process.env.NODE_ENV": '"production"' },
    });
    const inside = Object.values(metafile.outputs).flatMap(({ inputs }) => Object.entries(inputs));
    const packages = inside.flatMap(([path, { bytesInOutput }]) => {
      const name = /.*node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(path)?.[1];
      return name !== undefined && bytesInOutput > 0 ? [name] : [];
    });
    return { bytes: outputFiles[0]!.contents, packages: new Set(packages) };
  }

  const worker = (names: string): string => `
    import { createAgentHandler, ${names} } from "./src/slim.ts";
    const protocols = [${names}].map((protocol) => protocol());
    export default { fetch: createAgentHandler(async () => "hi", { protocols }).fetch };`;

  test("with the other entry has zod and the codec in it, so the check below can fail", async () => {
    const { packages } = await bundle(`export { createAgentHandler } from "./src/index.ts"`);
    for (const name of ["zod", "@ag-ui/proto"]) expect([...packages]).toContain(name);
  });

  test.for([
    ["one protocol", "agui"],
    ["all protocols", "agui, copilotkit, vercel, rest, threads"],
  ] as const)(
    "with %s has no schemas and no codec, and keeps its budget",
    async ([what, names]) => {
      const { bytes, packages } = await bundle(worker(names));
      for (const name of ["zod", "@ag-ui/encoder", "@ag-ui/proto", "@bufbuild/protobuf"]) {
        expect([...packages]).not.toContain(name);
      }
      const budgets = JSON.parse(
        await readFile(new URL("../../../.size-limit.json", import.meta.url), "utf8"),
      ) as { name: string; limit: string }[];
      const { limit } = budgets.find(({ name }) => name === `a Worker with ${what}`)!;
      expect(gzipSync(bytes, { level: 9 }).length).toBeLessThanOrEqual(parseFloat(limit) * 1_000);
    },
  );
});
