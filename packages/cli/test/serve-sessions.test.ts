import { existsSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { describe, expect, onTestFinished, test } from "vitest";
import {
  freePort,
  hasRedis,
  killRedis,
  onFreePort,
  spawnRedis,
} from "../../sessions/test/_redis.ts";
import { startPostgres } from "../../sessions/test/_postgres.ts";
import { scratch, startCli } from "./_cli.ts";
import { runMain, typeTo } from "./_run-main.ts";
import { post, serveHere, startServe, write } from "./_serve.ts";

// Tells how many messages of the thread the server has kept.
const counting = `export default async (input) => String(input.messages.length);\n`;

interface Said {
  content: string;
  session_id: string;
}

async function say(url: string, session?: string): Promise<Said> {
  const body = { message: "hi", ...(session && { session_id: session }) };
  const response = await post(url, body, { path: "/agent/default/chat" });
  return (await response.json()) as Said;
}

describe("--sessions", () => {
  test("sqlite:PATH keeps threads over a restart", async () => {
    const cwd = scratch();
    write(cwd, { "agent.mjs": counting });
    const args = ["agent.mjs", "--no-playground", "--sessions", "sqlite:threads.db"];
    const before = await startServe(args, { cwd });
    expect(before.out).toMatch(/^ {2}Sessions +sqlite:threads\.db$/m);
    const { content, session_id } = await say(before.url);
    expect(content).toBe("1");
    before.kill("SIGTERM");
    expect(await before.ended).toMatchObject({ code: 0 });
    expect(existsSync(join(cwd, "threads.db"))).toBe(true);

    const after = await startServe(args, { cwd, env: { AGUI_MAX_MESSAGES: "4" } });
    expect((await say(after.url, session_id)).content).toBe("3");
    const info = await (await fetch(`${after.url}/_holodeck/info`)).json();
    expect(info).toMatchObject({ sessions: "sqlite:threads.db" });
    // Seven by now, were it not for the environment.
    await say(after.url, session_id);
    expect((await say(after.url, session_id)).content).toBe("4");
  });

  test("sqlite:PATH that cannot be opened is one sentence", async () => {
    const { code, out, err } = await typeTo(
      ["serve", "--port", "0", "--sessions", "sqlite:no/such/x.db"],
      [],
      { cwd: scratch() },
    );
    expect({ code, out }).toEqual({ code: 1, out: "" });
    expect(err).toMatch(/^The database no\/such\/x\.db cannot be used: [^\n]+\.\n$/);
  });

  test("redis://… keeps threads over a restart, and its password to itself", async ({ skip }) => {
    if (!hasRedis("holodeck serve --sessions redis://")) return skip();
    const { port, server } = await onFreePort(async (free) => ({
      port: free,
      server: await spawnRedis(free, ["--appendonly", "no", "--requirepass", "secret"]),
    }));
    onTestFinished(() => killRedis(server));
    const file = write(scratch(), { "agent.mjs": counting });
    const args = [file, "--no-playground", "--sessions", `redis://:secret@127.0.0.1:${port}/0`];
    const before = await serveHere(args);
    expect(before.out).toContain(`redis://127.0.0.1:${port}/0`);
    const { session_id } = await say(before.url);
    expect(await before.stop()).toBe(0);
    const after = await serveHere(args);
    expect((await say(after.url, session_id)).content).toBe("3");
    expect(before.out + before.err + after.out + after.err).not.toContain("secret");
  });

  test("redis://… that is away is one sentence", async () => {
    const port = await freePort();
    const where = `redis://user:secret@127.0.0.1:${port}`;
    const { code, out, err } = await runMain("serve", "--port", "0", "--sessions", where);
    expect({ code, out }).toEqual({ code: 1, out: "" });
    expect(err).toMatch(/^Redis at redis:\/\/127\.0\.0\.1:\d+ cannot be reached: [^\n]+\.\n$/);
    expect(err).not.toContain("secret");
  });

  test("postgres://… keeps threads over a restart, and its password to itself", async ({
    skip,
  }) => {
    const server = await startPostgres("holodeck serve --sessions postgres://");
    if (!server) return skip();
    onTestFinished(() => server.stop());
    const file = write(scratch(), { "agent.mjs": counting });
    const where = `postgres://postgres:secret@127.0.0.1:${server.port}/postgres?application_name=x`;
    const args = [file, "--no-playground", "--sessions", where];
    const before = await serveHere(args);
    expect(before.out).toContain(`postgres://127.0.0.1:${server.port}/postgres`);
    const { session_id } = await say(before.url);
    expect(await before.stop()).toBe(0);
    const after = await serveHere(args);
    expect((await say(after.url, session_id)).content).toBe("3");
    expect(before.out + before.err + after.out + after.err).not.toContain("secret");
    // The server goes away and comes back: requests fail, and then do not.
    await server.shutDown("fast");
    const body = { message: "hi", session_id };
    const away = await post(after.url, body, { path: "/agent/default/chat" });
    expect(away.status).toBe(503);
    await server.start();
    expect((await say(after.url, session_id)).content).toBe("5");
  });

  test("postgres://… that is away is one sentence", async () => {
    const port = await freePort();
    const where = `postgres://user:secret@127.0.0.1:${port}/app`;
    const { code, out, err } = await runMain("serve", "--port", "0", "--sessions", where);
    expect({ code, out }).toEqual({ code: 1, out: "" });
    expect(err).toMatch(
      /^PostgreSQL at postgres:\/\/127\.0\.0\.1:\d+\/app cannot be used: [^\n]+\.\n$/,
    );
    expect(err).not.toContain("secret");
  });

  test("postgres://… with a database that does not exist is one sentence", async ({ skip }) => {
    const server = await startPostgres("holodeck serve --sessions postgres://");
    if (!server) return skip();
    onTestFinished(() => server.stop());
    const where = `postgres://postgres@127.0.0.1:${server.port}/nowhere`;
    const { code, err } = await runMain("serve", "--port", "0", "--sessions", where);
    expect(code).toBe(1);
    expect(err).toMatch(/cannot be used: database "nowhere" does not exist\.\n$/);
  });

  test("postgres://… without its driver is one sentence that names it", async () => {
    const cwd = scratch();
    const hook = `export const resolve = (name, context, next) => {
      if (name !== "pg") return next(name, context);
      throw Object.assign(new Error("gone"), { code: "ERR_MODULE_NOT_FOUND" });
    };`;
    const register = `import { register } from "node:module";
      register("data:text/javascript," + encodeURIComponent(${JSON.stringify(hook)}));`;
    write(cwd, { "without-pg.mjs": register });
    const cli = startCli(["serve", "--port", "0", "--sessions", "postgres://127.0.0.1/app"], {
      cwd,
      env: { NODE_OPTIONS: `--import=${pathToFileURL(join(cwd, "without-pg.mjs")).href}` },
    });
    expect(await cli.ended).toMatchObject({ code: 1 });
    expect(cli.err).toBe(
      "Sessions in PostgreSQL need the package pg, which is not installed: npm install pg.\n",
    );
  });
});
