import { describe, expect, test } from "vitest";
import { scratch } from "./_cli.ts";
import { serveHere, startServe, write } from "./_serve.ts";

const agent = `
interface User {
  name: string;
}

const nameOf = (user: User): string => {
  return user.name;
};

export default async (input: { messages: { content: unknown }[] }, { emit }: any) => {
  const text = String(input.messages.at(-1)?.content);
  if (text === "fail") return nameOf(null as unknown as User);
  emit.usage({ inputTokens: 30, outputTokens: 12 });
  return \`You said \${text}.\`;
};
`;

const post = (url: string, body: object | string): Promise<Response> =>
  fetch(url, {
    method: "POST",
    headers: { "content-type": "application/json", authorization: "Bearer abcdef123456" },
    body: typeof body === "string" ? body : JSON.stringify(body),
  });
const ask = async (base: string, content: string, more: object = {}): Promise<string> => {
  const body = { threadId: "thread-1", messages: [{ role: "user", content }], ...more };
  return (await post(`${base}/agui`, body)).text();
};

describe("the log of holodeck serve", () => {
  test("has one line per request: time, status, ms, protocol, agent, thread and tokens", async () => {
    const file = write(scratch(), { "agent.ts": agent });
    const cli = await startServe([file, "--no-playground"]);
    await ask(cli.url, "hello", { runId: "run-1" });
    await cli.waitFor(/run run-1/);
    const message = { id: "m", role: "user", parts: [{ type: "text", text: "hi" }] };
    await (await post(`${cli.url}/api/chat`, { id: "chat-1", messages: [message] })).text();
    await cli.waitFor(/thread chat-1/);
    await fetch(`${cli.url}/agui/info`);
    await cli.waitFor(/info {2}GET \/agui\/info 200/);
    const lines = cli.err.trimEnd().split("\n");
    expect(lines).toEqual([
      expect.stringMatching(
        /^\d\d:\d\d:\d\d info {2}POST \/agui 200 in \d+ ms {2}protocol agui {2}agent default {2}thread thread-1 {2}run run-1 {2}42 tokens$/,
      ),
      expect.stringMatching(
        /^\d\d:\d\d:\d\d info {2}POST \/api\/chat 200 in \d+ ms {2}protocol vercel {2}agent default {2}thread chat-1 {2}run \S+ {2}42 tokens$/,
      ),
      expect.stringMatching(/info {2}GET \/agui\/info 200 in \d+ ms {2}protocol agui$/),
    ]);
    expect(cli.err).not.toMatch(/hello|You said/);
  });

  test("has agent, thread and run of a run that is sent again, and of one that is refused", async () => {
    const file = write(scratch(), { "agent.ts": agent });
    const cli = await serveHere([file, "--no-playground"]);
    const say = (id: string): object => ({
      runId: "run-1",
      messages: [{ id, role: "user", content: "hello" }],
    });
    const first = await ask(cli.url, "", say("m-1"));
    expect(await ask(cli.url, "", say("m-1"))).toBe(first);
    await ask(cli.url, "", say("m-2"));
    await (await fetch(`${cli.url}/agui/runs/run-1/events`)).text();
    await cli.waitFor(/GET \/agui\/runs/);
    const about = "protocol agui {2}agent default {2}thread thread-1 {2}run run-1";
    expect(cli.err.trimEnd().split("\n")).toEqual([
      expect.stringMatching(new RegExp(`POST /agui 200 in \\d+ ms {2}${about} {2}42 tokens$`)),
      expect.stringMatching(new RegExp(`POST /agui 200 in \\d+ ms {2}${about}$`)),
      expect.stringMatching(
        new RegExp(`POST /agui 409 in \\d+ ms {2}${about} {2}error=run-exists$`),
      ),
      expect.stringMatching(new RegExp(`GET /agui/runs/run-1/events 200 in \\d+ ms {2}${about}$`)),
    ]);
  });

  test("has a line for each request that is refused, with its status and why", async () => {
    const file = write(scratch(), { "agent.ts": agent });
    const cli = await serveHere([file, "--no-playground"]);
    await (await post(`${cli.url}/agui`, "{")).text();
    await (await post(`${cli.url}/agui/runs/none/stop`, {})).text();
    await (await fetch(`${cli.url}/nothing`)).text();
    await (await fetch(`${cli.url}/agui`, { method: "PUT" })).text();
    const foreign = { method: "POST", headers: { origin: "http://elsewhere.example" } };
    await (await fetch(`${cli.url}/agui`, foreign)).text();
    await cli.waitFor(/forbidden/);
    expect(cli.err.trimEnd().split("\n")).toEqual([
      expect.stringMatching(/POST \/agui 400 in \d+ ms .*error=invalid-request$/),
      expect.stringMatching(/POST \/agui\/runs\/none\/stop 404 in \d+ ms .*error=run-not-found$/),
      expect.stringMatching(/GET \/nothing 404 in \d+ ms .*error=not-found$/),
      expect.stringMatching(/PUT \/agui 405 in \d+ ms .*error=method-not-allowed$/),
      expect.stringMatching(/POST \/agui 403 in \d+ ms .*error=forbidden$/),
    ]);
  });

  test("has what was asked and answered with --debug, and no credential", async () => {
    const file = write(scratch(), { "agent.ts": agent });
    const cli = await startServe([file, "--no-playground", "--debug"]);
    await ask(cli.url, "hello");
    await cli.waitFor(/^ {4}output .*You said hello\./m);
    expect(cli.err).toMatch(/^ {4}input .*"content":"hello"/m);
    expect(cli.err).toMatch(/^ {4}headers .*"authorization":"\[redacted\]"/m);
    expect(cli.err).not.toContain("abcdef123456");
  });

  test("is what the file asks for, where it has its own logging", async () => {
    const file = write(scratch(), {
      "agent.mjs": `
        export default async () => "hello";
        const lines = [];
        const keep = (fields, message) => process.stdout.write("own " + fields.endpoint + "\\n");
        const logger = { debug() {}, info: keep, warn() {}, error() {} };
        const run = (input, context, next) => next(input, context);
        export const options = { middleware: [{ name: "logging", run, async request(request, next) {
          const reply = await next();
          logger.info({ endpoint: request.url.pathname });
          return reply;
        } }] };
      `,
    });
    const cli = await startServe([file, "--no-playground"]);
    await ask(cli.url, "hello");
    await cli.waitFor(/^own \/agui$/m);
    expect(cli.err).toBe("");
  });
});

describe("an agent that fails under holodeck serve", () => {
  test("is shown with the file and line of the agent's code, without --debug", async () => {
    const folder = scratch();
    const file = write(folder, { "agent.ts": agent });
    const cli = await startServe([file, "--no-playground"]);
    expect(await ask(cli.url, "fail", { runId: "run-2" })).toContain("The agent failed.");
    await cli.waitFor(/^ {4}at .*$/m);
    const lines = cli.err.split("\n");
    const at = lines.findIndex((line) => line.includes("error The agent failed."));
    expect(lines[at]).toMatch(/run run-2 .*error=TypeError: Cannot read properties of null/);
    expect(lines[at + 1]).toMatch(/^ {4}at nameOf \(.*agent\.ts:7:\d+\)$/);
    expect(lines[at + 2]).toMatch(/^ {4}at .*agent\.ts:12:\d+\)?$/);
    expect(cli.err.match(/^ {4}at /gm)).toHaveLength(2);
  });

  test.for([
    ["127.0.0.1", true],
    ["0.0.0.0", false],
  ] as const)("is explained to the page when it listens on %s: %s", async ([host, isShown]) => {
    const file = write(scratch(), { "agent.ts": agent });
    const cli = await serveHere([file, "--no-playground", "--host", host]);
    await ask(cli.url, "fail", { runId: "run-3" });
    const response = await fetch(`${cli.url}/_holodeck/runs/run-3/failure`);
    const { failure } = (await response.json()) as { failure: unknown };
    if (!isShown) return expect(failure).toBeNull();
    expect(failure).toEqual({
      message: expect.stringContaining("TypeError: Cannot read properties of null"),
      frames: [
        expect.stringMatching(/nameOf .*agent\.ts:7/),
        expect.stringMatching(/agent\.ts:12/),
      ],
    });
  });
});
