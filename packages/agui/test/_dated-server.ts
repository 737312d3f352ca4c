import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { onTestFinished } from "vitest";
import { startPostgres } from "../../sessions/test/_postgres.ts";
import { startRedis } from "../../sessions/test/_redis.ts";
import { post, say } from "./_helpers.ts";
import { sourceFlags } from "../../../scripts/test-support/source-flags.ts";

/** Where the processes of a test keep their threads. */
export interface Place {
  readonly kind: string;
  /** A port or a path. */
  readonly at: string;
  /** Of PostgreSQL. */
  readonly schema?: string;
}

/** Undefined when its service cannot be had here, which is reported. */
export async function openPlace(kind: string): Promise<Place | undefined> {
  if (kind === "memory") return { kind, at: "" };
  if (kind === "SQLite") {
    const folder = mkdtempSync(join(tmpdir(), "agui-dated-"));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    return { kind, at: join(folder, "threads.db") };
  }
  if (kind === "PostgreSQL") {
    const server = await startPostgres("dates");
    if (!server) return undefined;
    onTestFinished(() => server.stop());
    return { kind, at: String(server.port), schema: await server.schema() };
  }
  const redis = await startRedis("dates");
  if (!redis) return undefined;
  onTestFinished(() => redis.stop());
  return { kind, at: String(redis.port) };
}

/** A process with a server, and what it prints. */
export interface DatedServer {
  readonly url: string;
  /** Everything it has printed. */
  printed(): string;
  /** Resolves when it has printed such a line. */
  until(pattern: RegExp): Promise<RegExpMatchArray>;
  send(line: string): void;
  /** Sets its date. */
  set(ms: number): Promise<void>;
  kill(): Promise<void>;
}

export async function startServer(
  { kind, at, schema }: Place,
  options: { leaseMs?: number; runLogMs?: number; handler?: object } = {},
): Promise<DatedServer> {
  const script = fileURLToPath(new URL("_dated-child.ts", import.meta.url));
  const flags = [...sourceFlags, script];
  const setup = JSON.stringify({ ...options, schema });
  const child = spawn(process.execPath, [...flags, kind, at, setup], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  const closed = once(child, "close");
  const kill = async (): Promise<void> => {
    child.kill("SIGKILL");
    await closed;
  };
  onTestFinished(kill);
  let printed = "";
  let isOver = false;
  void closed.then(() => (isOver = true));
  child.stdout.on("data", (chunk: Buffer) => (printed += String(chunk)));
  const until: DatedServer["until"] = async (pattern) => {
    for (;;) {
      const match = pattern.exec(printed);
      if (match) return match;
      if (isOver) throw new Error(`The server ended without ${pattern}: ${printed}`);
      await Promise.race([once(child.stdout, "data"), closed]);
    }
  };
  const send = (line: string): void => void child.stdin.write(`${line}\n`);
  let shift = 0;
  const port = Number((await until(/port (\d+)\n/))[1]);
  return {
    url: `http://127.0.0.1:${port}`,
    printed: () => printed,
    until,
    send,
    kill,
    async set(ms) {
      shift += ms;
      send(`set ${ms}`);
      await until(new RegExp(`set ${shift}\n`));
    },
  };
}

/** The text of a response as it arrives. */
export interface Reader {
  readonly status: number;
  readonly text: string;
  /** Resolves when what came after the last call contains this; rejects when the response ends before. */
  until(part: string, times?: number): Promise<void>;
  /** Resolves with everything at the end. */
  rest(): Promise<string>;
  leave(): void;
}

/** Starts a run, and returns when its client has received its first words. */
export async function startRun({ url }: DatedServer, runId: string): Promise<Reader> {
  const request = post({
    threadId: `t-${runId}`,
    runId,
    messages: [{ id: `q-${runId}`, ...say("hi") }],
    protocolVersion: "1.0",
  });
  const { headers } = request;
  const reader = await read(`${url}/agui`, { method: "POST", headers, body: await request.text() });
  if (reader.status === 200) await reader.until("begun");
  return reader;
}

export async function read(url: string, init: RequestInit = {}): Promise<Reader> {
  const left = new AbortController();
  onTestFinished(() => left.abort());
  const response = await fetch(url, { ...init, signal: left.signal });
  let text = "";
  let seen = 0;
  let failure: unknown;
  let isOver = false;
  let wake = (): void => undefined;
  // Also while the test does not wait for it, so that `text` has what has arrived.
  const pump = async (): Promise<void> => {
    const chunks = response.body!.pipeThrough(new TextDecoderStream()).getReader();
    try {
      for (let step = await chunks.read(); !step.done; step = await chunks.read()) {
        text += step.value;
        wake();
      }
    } catch (error) {
      failure = error;
    }
    isOver = true;
    wake();
  };
  void pump();
  /** False at the end. */
  const more = async (): Promise<boolean> => {
    if (!isOver) await new Promise<void>((resolve) => (wake = resolve));
    if (failure !== undefined) throw failure;
    return !isOver;
  };
  return {
    status: response.status,
    get text() {
      return text;
    },
    async until(part, times = 1) {
      for (let found = 0; found < times; found++) {
        while (text.indexOf(part, seen) === -1) {
          if (!(await more()) && text.indexOf(part, seen) === -1) {
            throw new Error(`It ended without ${part}: ${text}`);
          }
        }
        seen = text.indexOf(part, seen) + part.length;
      }
    },
    async rest() {
      while (await more());
      return text;
    },
    leave: () => left.abort(),
  };
}
