import { describe, expect, test } from "vitest";
import { runCli, scratch } from "./_cli.ts";
import { runMain } from "./_run-main.ts";
import { ask, serveHere, startServe, write } from "./_serve.ts";

describe("what is printed at the start", () => {
  test("names agents, protocols, sessions, limits and endpoints that all answer", async () => {
    const folder = scratch();
    const file = write(folder, {
      "agents.ts": `
        const one = async function* (): AsyncGenerator<string> { yield "one"; };
        export default { first: { agent: one, name: "The first" }, second: one };
        export const options = { limits: { runTimeoutMs: 60_000 } };
      `,
    });
    const cli = await startServe([file]);
    expect(cli.out).toMatch(/^holodeck \d+\.\d+\.\d+\S* serves agents\.ts\n/);
    expect(cli.out).toMatch(/^ {2}Agents +The first \(first\), second$/m);
    expect(cli.out).toMatch(/^ {2}Protocols +ag-ui, copilotkit, vercel, openai, rest, threads$/m);
    expect(cli.out).toMatch(/^ {2}Sessions +memory$/m);
    expect(cli.out).toContain("runTimeout 1 min");
    expect(cli.out).toContain("bodyBytes 14 MiB");
    expect(cli.out).toContain(`Ctrl-C stops it (process ${cli.pid}).`);
    expect(cli.err).not.toMatch(/warn|error/i);

    const routes = [...cli.out.matchAll(/^ +(GET|POST|PATCH|DELETE) +(http\S+)$/gm)];
    const info = await (await fetch(`${cli.url}/agui/info`)).json();
    const printed = routes.map(([, method, url]) => `${method} ${new URL(url!).pathname}`);
    expect(new Set(printed)).toEqual(new Set(info.routes));
    for (const [, method, url] of routes) {
      const address = url!.replaceAll(/:[a-z]\w*/gi, (part) => (part === ":name" ? "first" : "x"));
      // Without a thread or run it would be the host's page.
      const query = method === "GET" && address.endsWith("/agui") ? "?threadId=x" : "";
      const response = await fetch(address + query, {
        method: method!,
        signal: AbortSignal.timeout(5_000),
        ...(method === "POST" && {
          body: "{}",
          headers: { "content-type": "application/json" },
        }),
      });
      // No such run, thread or message is fine; no such route is not.
      const text = await response.text();
      expect(text, address).not.toContain("No route matches");
      expect(response.status, address).not.toBe(405);
    }
    const curl = /curl .* (http:\S+) -H 'content-type: application\/json' -d '(.*)'$/m.exec(
      cli.out,
    );
    const answer = await fetch(curl![1]!, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: curl![2]!,
    });
    expect(await answer.text()).toContain('"delta":"one"');
  });

  test("is the demo agent when no file is named", async () => {
    const cli = await serveHere([], { env: { HOLODECK_DEMO_PACE: "0" } });
    expect(cli.out).toMatch(/serves the demo agent\n/);
    const { events } = await ask(cli.url);
    expect(events.at(0)).toMatchObject({ type: "RUN_STARTED" });
    expect(events.at(-1)).toMatchObject({ type: "RUN_FINISHED" });
  });
});

describe("an agent file", () => {
  test.for([
    ["agent.mts", "import { word } from './word.mts';\nexport const agent = async () => word;\n"],
    [
      "agent.js",
      "const word = await Promise.resolve('hello');\nexport default { run: async () => word };\n",
    ],
    ["common.js", "module.exports = async () => 'hello';\n"],
  ] as const)("may be %s", async ([name, source]) => {
    const folder = scratch();
    const file = write(folder, {
      [name]: source,
      "word.mts": "export const word: string = 'hello';\n",
    });
    const cli = await serveHere([file, "--no-playground"]);
    expect(await ask(cli.url)).toMatchObject({ text: "hello" });
  });
});

describe("help and version", () => {
  test("are there for the command and for serve", async () => {
    const [main, serve, version, own] = await Promise.all([
      runMain("--help"),
      runMain("serve", "--help"),
      runCli(["--version"]),
      runMain("serve", "--version"),
    ]);
    expect(main).toMatchObject({ code: 0, out: expect.stringContaining("holodeck <command>") });
    expect(serve.code).toBe(0);
    for (const flag of [
      "port",
      "host",
      "protocol",
      "cors-origins",
      "sessions",
      "debug",
      "open",
      "watch",
      "no-playground",
    ]) {
      expect(serve.out).toContain(`--${flag}`);
    }
    expect(version.out).toMatch(/^\d+\.\d+\.\d+\S*\n$/);
    expect(own.out).toBe(version.out);
  });
});
