import { once } from "node:events";
import { chmodSync, existsSync, readFileSync } from "node:fs";
import { createServer } from "node:net";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { runCli, scratch } from "./_cli.ts";
import { typeTo } from "./_run-main.ts";
import type { MainResult } from "./_run-main.ts";
import { ask, buildPage, hello, post, serveHere, startServe, write } from "./_serve.ts";

function refuse(args: readonly string[], env: Record<string, string> = {}): Promise<MainResult> {
  return typeTo(["serve", ...args], [], { env, cwd: scratch() });
}

describe("a command line that cannot be meant", () => {
  test.for([
    [["--prot", "8000"], '"--prot"', "--help"],
    [["-x"], '"-x"', "--help"],
    [["--port"], "--port needs a value", "--port 8000"],
    [["--port", "99999"], '"99999" is not a port', "--port 8000"],
    [["--port", "80a"], '"80a" is not a port', "--port 8000"],
    [["--port=-1"], '"-1" is not a port', "--port 8000"],
    [["--debug=yes"], "--debug takes no value", "--debug."],
    [["--host", "http://x"], '"http://x" is not an address', "--host 127.0.0.1"],
    [["--protocol", "soap"], '"soap"', "ag-ui, copilotkit, vercel, openai, rest, threads"],
    [["--protocol", "rest,soap"], '"soap"', "--protocol ag-ui,rest"],
    [["--cors-origins", "example.com"], '"example.com"', "https://app.example.com"],
    [["--sessions", "mongo://x"], '"mongo://x"', "sqlite:./threads.db"],
    [["--sessions", "sqlite:"], "needs the path", "sqlite:./threads.db"],
    [["a.ts", "b.ts"], "One agent file", "holodeck serve a.ts"],
    [["agent.py"], '"agent.py" is not an agent file', ".yaml"],
    [["--watch"], "--watch needs a file", "agent.ts --watch"],
    [["--open", "--no-playground"], "--open", "--no-playground"],
  ] as const)("is refused in one sentence: %j", async ([args, value, advice]) => {
    const { code, err } = await refuse(args);
    expect(code).toBe(2);
    expect(err).toContain(value);
    expect(err).toContain(advice);
    expect(err).toMatch(/^[^\n]+\.\n$/);
  });

  test("ends the process with 2", async () => {
    const { code, out, err } = await runCli(["serve", "--nope"]);
    expect({ code, out }).toEqual({ code: 2, out: "" });
    expect(err).toBe('holodeck serve has no flag "--nope"; `holodeck serve --help` lists them.\n');
  });
});

describe("the environment", () => {
  test("reports everything that is wrong with it at once", async () => {
    const { code, err } = await refuse([], { AGUI_PORT: "nine", LOG_LEVEL: "loud" });
    expect(code).toBe(2);
    expect(err).toContain('AGUI_PORT must be an integer from 0 to 65535, not "nine".');
    expect(err).toContain("LOG_LEVEL must be one of");
    expect(await refuse([], { LOG_FORMAT: "xml" })).toEqual({
      code: 2,
      out: "",
      err: 'LOG_FORMAT is "xml"; it must be text or json, like LOG_FORMAT=json.\n',
    });
  });

  test("sets where and how loudly, and a flag takes precedence", async () => {
    const file = write(scratch(), {
      "agent.ts": `
        export default async (_input: unknown, { logger, runId }: any) => {
          logger.info({ runId }, "at info");
          logger.error({ runId, detail: "\\u001b[2J" }, "at error");
          return "hello";
        };
      `,
    });
    const env = { AGUI_HOST: "::1", AGUI_PORT: "1", LOG_LEVEL: "error", LOG_FORMAT: "json" };
    const cli = await startServe([file, "--host", "127.0.0.1", "--port", "0"], { env });
    expect(cli.url).toMatch(/^http:\/\/127\.0\.0\.1:\d{4,5}$/);
    expect(await ask(cli.url)).toMatchObject({ text: "hello" });
    await cli.waitFor(/at error/);
    expect(cli.err).not.toContain("at info");
    const line = cli.err.split("\n").find((one) => one.includes("at error"))!;
    expect(JSON.parse(line)).toMatchObject({ level: "error", message: "at error" });
  });
});

describe("log lines", () => {
  test("are short, name the run, and cannot steer the terminal; --debug shows more", async () => {
    const file = write(scratch(), {
      "agent.ts": `
        export default async (_input: unknown, { logger, runId }: any) => {
          logger.debug({ runId }, "at debug");
          logger.warn({ runId, city: "Berlin\\u001b[2J", n: 1 }, "two\\nlines");
          throw new Error("the secret reason");
        };
      `,
    });
    const [loud, quiet] = [await serveHere([file, "--debug"]), await serveHere([file])];
    const answer = await ask(loud.url, { runId: "run-1" });
    expect(answer.events.at(-1)).toMatchObject({
      type: "RUN_ERROR",
      message: expect.stringContaining("the secret reason"),
    });
    await loud.waitFor(/error=.*the secret reason/);
    expect(loud.err).toMatch(/^\d\d:\d\d:\d\d debug at debug {2}run run-1$/m);
    expect(loud.err).toMatch(
      /^\d\d:\d\d:\d\d warn {2}two lines {2}run run-1 {2}city="Berlin.*" {2}n=1$/m,
    );
    expect(loud.err).not.toContain("\u001b");
    expect(loud.err).toMatch(/^ {4}at .*agent\.ts:5/m);

    const masked = await ask(quiet.url);
    expect(JSON.stringify(masked.events)).not.toContain("the secret reason");
    await quiet.waitFor(/error=.*the secret reason/);
    expect(quiet.err).not.toContain("at debug");
    // The frames of the agent's own code, and no other.
    expect(quiet.err.match(/^ {4}at .*$/gm)).toEqual([expect.stringContaining("agent.ts:5")]);
    expect(loud.err.match(/^ {4}at .*$/gm)!.length).toBeGreaterThan(1);
  });
});

describe("--protocol", () => {
  test("serves only what is named, once or several times; the environment sets where", async () => {
    const file = write(scratch(), { "agent.mjs": hello });
    const cli = await serveHere([file, "--protocol", "rest,threads", "--protocol", "VERCEL"], {
      env: { AGUI_HOST: "localhost", AGUI_PORT: "0" },
    });
    expect(cli.url).toMatch(/^http:\/\/localhost:\d+$/);
    expect(cli.out).toMatch(/^ {2}Protocols +vercel, rest, threads$/m);
    expect((await post(cli.url, { messages: [] })).status).toBe(404);
    const answer = await post(cli.url, { message: "hi" }, { path: "/agent/default/chat" });
    expect(await answer.json()).toMatchObject({ content: "hello" });
    expect(cli.out).toContain("/agent/default/chat -H");
  });
});

describe("a port in use", () => {
  test("is named, with the next free one, and nothing is served", async () => {
    const taken = createServer().listen(0, "127.0.0.1");
    onTestFinished(() => void taken.close());
    await once(taken, "listening");
    const { port } = taken.address() as AddressInfo;
    const { code, err } = await runCli(["serve", "--no-playground", "--port", String(port)]);
    expect(code).toBe(1);
    const next = /^Port (\d+) on 127\.0\.0\.1 is in use; --port (\d+) is free\.\n$/.exec(err);
    expect(Number(next?.[1])).toBe(port);
    expect(Number(next?.[2])).toBeGreaterThan(port);
  });

  test("is distinguished from an address that is not ours", async () => {
    const { code, err } = await refuse(["--host", "192.0.2.1", "--no-playground"]);
    expect(code).toBe(1);
    expect(err).toBe('"192.0.2.1" is not an address of this machine; try --host 127.0.0.1.\n');
  });
});

describe("--open", () => {
  beforeAll(buildPage);

  test("hands the page's URL to xdg-open", async () => {
    const folder = scratch();
    const opener = write(folder, {
      "xdg-open": `#!/bin/sh\nprintf %s "$1" > "${folder}/opened"\n`,
    });
    chmodSync(opener, 0o755);
    const cli = await serveHere(["--open"], { env: { PATH: `${folder}:${process.env.PATH}` } });
    await expect.poll(() => existsSync(join(folder, "opened"))).toBe(true);
    await expect.poll(() => readFileSync(join(folder, "opened"), "utf8")).toBe(`${cli.url}/`);
  });

  test("prints a notice when there is nothing to open it with, and serves all the same", async () => {
    const cli = await serveHere(["--open"], { env: { PATH: scratch() } });
    await cli.waitFor(
      /The browser could not be opened \(xdg-open is not installed\); open http:\S+ yourself\./,
    );
    expect((await fetch(`${cli.url}/health`)).status).toBe(200);
  });
});
