import { spawn } from "node:child_process";
import { once } from "node:events";
import { Agent, request } from "node:http";
import type { IncomingHttpHeaders } from "node:http";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { describe, expect, onTestFinished, test } from "vitest";
import { parseSse, say } from "./_helpers.ts";
import { openPlace } from "./_places.ts";
import { sourceFlags } from "../../../scripts/test-support/source-flags.ts";

const timeout = 120_000;

/** A server process, and what it has printed. */
async function start(kind: string, place: string, options: object = {}) {
  const script = fileURLToPath(new URL("_draining-child.ts", import.meta.url));
  const flags = [...sourceFlags, script];
  const child = spawn(process.execPath, [...flags, kind, place, JSON.stringify(options)], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  const exited = once(child, "exit") as Promise<[number | null, string | null]>;
  const closed = once(child, "close");
  let isOver = false;
  void closed.then(() => (isOver = true));
  const printed = { out: "" };
  child.stdout.on("data", (chunk: Buffer) => (printed.out += String(chunk)));
  const until = async (pattern: RegExp): Promise<RegExpMatchArray> => {
    for (;;) {
      const match = pattern.exec(printed.out);
      if (match) return match;
      if (isOver) throw new Error(`The server ended without ${pattern}: ${printed.out}`);
      await Promise.race([once(child.stdout, "data"), closed]);
    }
  };
  const port = Number((await until(/port (\d+)\n/))[1]);
  return { child, port, exited, closed, printed, until };
}

interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Promise<string>;
}

/** Over a new connection, or one of an agent. */
async function ask(
  port: number,
  { path = "/ready", body, agent }: { path?: string; body?: object; agent?: Agent } = {},
): Promise<Answer> {
  const asked = request({
    port,
    path,
    host: "127.0.0.1",
    method: body ? "POST" : "GET",
    headers: { "content-type": "application/json" },
    agent: agent ?? false,
  });
  asked.end(body && JSON.stringify(body));
  const [response] = await once(asked, "response");
  return { status: response.statusCode, headers: response.headers, body: text(response) };
}

const run = (runId: string): { path: string; body: object } => ({
  path: "/agui",
  body: { threadId: runId, runId, messages: [say("hi")], protocolVersion: "1.0" },
});

const refusal = { status: 503, headers: { connection: "close" } };

describe("SIGTERM", () => {
  test.for(["memory", "SQLite", "node-redis", "ioredis", "PostgreSQL"] as const)(
    "ends the process with 0 and all of its output, with the host's client open: %s",
    { timeout },
    async (kind, { skip }) => {
      const isRedis = kind === "node-redis" || kind === "ioredis";
      const place =
        kind === "memory" ? undefined : await openPlace(isRedis ? "Redis" : kind, "draining");
      if (kind !== "memory" && !place) return skip();
      onTestFinished(() => place?.close());
      const { child, port, exited, closed, printed } = await start(kind, place?.at ?? "");
      const { body } = await ask(port, run("short-1"));
      child.stdin.write("go\n");
      expect(parseSse(await body).at(-1)).toMatchObject({ type: "RUN_FINISHED" });
      child.kill("SIGTERM");
      expect(await exited).toEqual([0, null]);
      await closed;
      expect(printed.out.endsWith("last words over\n")).toBe(true);
    },
  );

  test(
    "is seen in /ready and on new connections while runs end, and closes idle connections after an answer",
    { timeout },
    async () => {
      const { child, port, exited, until } = await start("memory", "");
      const idle = new Agent({ keepAlive: true, maxSockets: 1 });
      onTestFinished(() => idle.destroy());
      const before = await ask(port, { agent: idle });
      expect(before).toMatchObject({ status: 200, headers: { connection: "keep-alive" } });
      await before.body;
      const { body } = await ask(port, run("short-1"));
      child.kill("SIGTERM");
      await until(/shutting_down/);
      expect(await ask(port)).toMatchObject(refusal);
      expect(await ask(port, { path: "/health" })).toMatchObject({
        status: 200,
        headers: { connection: "close" },
      });
      expect(await ask(port, run("short-2"))).toMatchObject(refusal);
      expect(await ask(port, { agent: idle })).toMatchObject(refusal);
      child.stdin.write("go\n");
      const events = parseSse(await body);
      expect(events).toContainEqual(expect.objectContaining({ delta: "ended" }));
      expect(events.at(-1)).toMatchObject({ type: "RUN_FINISHED" });
      expect(await exited).toEqual([0, null]);
    },
  );

  test("is seen in /ready also when nothing runs", { timeout }, async () => {
    const { child, port, exited, until } = await start("memory", "", { noticeMs: 20_000 });
    child.kill("SIGTERM");
    await until(/over\n/);
    expect(await ask(port)).toMatchObject(refusal);
    expect(await ask(port, run("short-1"))).toMatchObject(refusal);
    child.kill("SIGTERM");
    expect(await exited).toEqual([130, null]);
  });

  test("gives long runs drainMs, and then ends them with shutting-down", { timeout }, async () => {
    const { child, port, exited } = await start("memory", "", { drainMs: 1_000 });
    const { body } = await ask(port, run("long-1"));
    child.kill("SIGTERM");
    expect(parseSse(await body).at(-1)).toMatchObject({ type: "RUN_ERROR", code: "shutting-down" });
    expect(await exited).toEqual([0, null]);
  });

  test("that comes twice ends the process at once, whatever runs", { timeout }, async () => {
    const { child, port, exited, until } = await start("memory", "", { drainMs: 600_000 });
    const { body } = await ask(port, run("long-1"));
    const cut = expect(body).rejects.toThrow("aborted");
    child.kill("SIGTERM");
    await until(/shutting_down/);
    child.kill("SIGTERM");
    expect(await exited).toEqual([130, null]);
    await cut;
  });
});
