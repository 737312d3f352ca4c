import { renameSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { scratch } from "./_cli.ts";
import type { Served } from "./_serve.ts";
import { ask, follow, post, startServe, write } from "./_serve.ts";

async function times(cli: Served, pattern: RegExp, count: number): Promise<void> {
  await cli.waitFor(new RegExp(`(?:[\\s\\S]*?${pattern.source}){${count}}`));
}

// Every look is a question.
const slowly = { interval: 100, timeout: 60_000 };

describe("--watch", () => {
  test("serves the file as it is now, what it imports included; threads stay", async () => {
    const file = write(scratch(), {
      "agent.ts": `
        import { word } from "./word.ts";
        import { deep } from "./lib/deep.mjs";
        import data from "./data.json";
        export default async (input: { messages: unknown[] }) =>
          \`one \${word} \${deep} \${data.n} \${input.messages.length}\`;
      `,
      "word.ts": `export const word: string = "a";\n`,
      "lib/deep.mjs": `export { deep } from "./deeper.mjs";\n`,
      "lib/deeper.mjs": `export const deep = "x";\n`,
      "data.json": `{ "n": 1 }`,
    });
    const folder = dirname(file);
    const cli = await startServe([file, "--watch"]);
    expect(cli.out).toContain("serves agent.ts, and watches it");
    const say = async (session?: string): Promise<{ content: string; session_id: string }> => {
      const body = { message: "hi", ...(session && { session_id: session }) };
      const response = await post(cli.url, body, { path: "/agent/default/chat" });
      return (await response.json()) as { content: string; session_id: string };
    };
    const first = await say();
    expect(first.content).toBe("one a x 1 1");

    const changes: [string, string, string][] = [
      ["word.ts", `export const word: string = "b";\n`, "one b x 1"],
      ["lib/deeper.mjs", `export const deep = "y";\n`, "one b y 1"],
      ["data.json", `{ "n": 2 }`, "one b y 2"],
    ];
    for (const [index, [name, source, answer]] of changes.entries()) {
      writeFileSync(join(folder, name), source);
      // A file may be seen twice, half written and whole: what counts is what is served.
      await expect.poll(async () => (await say()).content, slowly).toBe(`${answer} 1`);
      // The server's history of the thread goes on: two messages per turn before.
      expect((await say(first.session_id)).content).toBe(`${answer} ${2 * index + 3}`);
    }

    // As editors do it: a new file takes the name of the old one.
    write(folder, { "agent.ts.tmp": `export default async () => "two";\n` });
    renameSync(join(folder, "agent.ts.tmp"), file);
    await expect.poll(async () => (await say(first.session_id)).content, slowly).toBe("two");
    await times(cli, /was reloaded/, 4);
  });

  test("keeps the agent that works when the file is broken, prints the place, and goes on when it is mended", async () => {
    const file = write(scratch(), { "agent.ts": `export default async () => "good";\n` });
    const cli = await startServe([file, "--watch"]);
    writeFileSync(file, `\nexport default async () => "bad" +;\n`);
    await cli.waitFor(/agent\.ts:2:35: SyntaxError[\s\S]*The previous agent stays in use\./);
    expect(await ask(cli.url)).toMatchObject({ text: "good" });

    writeFileSync(file, `import { word } from "./word.ts";\nexport default async () => word;\n`);
    await cli.waitFor(/agent\.ts:1:\d+: Cannot find module/);
    writeFileSync(join(dirname(file), "word.ts"), `export const word = "better";\n`);
    await cli.waitFor(/was reloaded/);
    expect(await ask(cli.url)).toMatchObject({ text: "better" });
  });

  test("reads agent.yaml again when a module is mended that made it unusable, or changes later", async () => {
    const yaml = (...lines: string[]): string =>
      ["name: a", "model: { provider: demo }", "instructions: hi", ...lines, ""].join("\n");
    const file = write(scratch(), { "agent.yaml": yaml() });
    const cli = await startServe([file, "--watch"]);
    const folder = dirname(file);
    // In folders of their own: a new file beside the agent would be noticed anyway.
    write(folder, {
      "lib/tools.ts": `import { say } from "./deep/say.ts";\nexport const shout = say;\n`,
      "lib/deep/say.ts": `export const say = () => "a" +;\n`,
    });
    const tool =
      "{ type: function, name: shout, description: Says it loudly., module: ./lib/tools.ts }";
    writeFileSync(file, yaml("tools:", `  - ${tool}`));
    await cli.waitFor(
      /agent\.yaml:5:\d+ The module cannot be loaded: .*say\.ts:1:\d+: SyntaxError[\s\S]*stays in use\./,
    );
    writeFileSync(join(folder, "lib/deep/say.ts"), `export const say = () => "a";\n`);
    await cli.waitFor(/was reloaded/);
    const info = await (await fetch(`${cli.url}/agui/info`)).text();
    expect(info).toContain("Says it loudly.");
    writeFileSync(join(folder, "lib/deep/say.ts"), `export const say = () => "b";\n`);
    await times(cli, /was reloaded/, 2);
  });

  test("lets a run in flight end on the agent it began with; it can be stopped and followed", async () => {
    const source = (word: string): string => `
      import { setTimeout } from "node:timers/promises";
      export default async function* (_: unknown, { signal }: { signal: AbortSignal }) {
        yield "${word}";
        while (!globalThis.go) await setTimeout(10, undefined, { signal });
        yield " end";
      }
      export const options = {
        middleware: [{ name: "go", request: (request: any, next: any) => {
          if (request.url.searchParams.has("go")) globalThis.go = true;
          return next();
        } }],
      };
    `;
    const file = write(scratch(), { "agent.ts": source("old") });
    const cli = await startServe([file, "--watch"]);
    const start = (runId: string): Promise<Response> =>
      post(cli.url, { messages: [{ role: "user", content: "hi" }], runId });
    const [kept, stopped] = [follow(await start("kept")), follow(await start("stopped"))];
    await Promise.all([kept.until("old"), stopped.until("old")]);
    writeFileSync(file, source("new"));
    await cli.waitFor(/was reloaded/);

    const stop = await post(cli.url, {}, { path: "/agui/runs/stopped/stop" });
    expect(stop.status).toBeLessThan(300);
    await stopped.until("RUN_FINISHED");
    const joined = follow(await fetch(`${cli.url}/agui/runs/kept/events`));
    await joined.until("old");
    const next = follow(await start("next"));
    await next.until("new");
    await fetch(`${cli.url}/health?go`);
    expect(await kept.until("RUN_FINISHED")).toContain(" end");
    expect(await joined.until("RUN_FINISHED")).toContain(" end");
    expect(await next.until("RUN_FINISHED")).toContain(" end");
  });
});
