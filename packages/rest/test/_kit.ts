import { createAgentHandler } from "@holodeck/agui";
import type { AgentHandler, AgentHandlerOptions } from "@holodeck/agui";
import type { AgentLike, InputFile, Json, Logger } from "@holodeck/agui-core";
import { serve } from "@holodeck/agui-node";
import type { Serving } from "@holodeck/agui-node";
import { readSse } from "@holodeck/agui-testing";
import { afterAll, beforeAll, onTestFinished } from "vitest";
import { rest } from "../src/index.ts";
import type { ChatResponse, RestOptions } from "../src/index.ts";

export const ulidPattern: RegExp = /^[0-7][0-9A-HJKMNP-TV-Z]{25}$/;
export const sessionId = "01ARZ3NDEKTSV4RRFFQ69G5FAV";

export interface Problem {
  readonly type: string;
  readonly title: string;
  readonly status: number;
  readonly detail: string;
  readonly instance: string;
  readonly code: string;
  readonly requestId: string;
  readonly errors?: readonly { path: string; message: string }[];
}

export interface Frame {
  readonly event: string;
  readonly data: Json;
}

interface PostInit {
  headers?: Record<string, string>;
  signal?: AbortSignal;
}

export interface RestServer extends Serving {
  readonly handler: AgentHandler;
  readonly logged: { level: string; message?: string | undefined; [field: string]: unknown }[];
  post(path: string, body: unknown, init?: PostInit): Promise<Response>;
}

type Setup = Omit<AgentHandlerOptions, "protocols"> & { rest?: RestOptions };

/** REST on a port of the loopback, closed when the test is over. */
export async function serveRest(
  agent: AgentLike | Record<string, AgentLike>,
  setup: Setup = {},
): Promise<RestServer> {
  const server = await startRest(agent, setup);
  onTestFinished(() => server.close());
  return server;
}

/** One REST server for all the tests of a block. */
export function shareRest(agent: AgentLike, setup: Setup = {}): () => RestServer {
  let server: RestServer;
  beforeAll(async () => {
    server = await startRest(agent, setup);
  });
  afterAll(() => server.close());
  return () => server;
}

async function startRest(
  agent: AgentLike | Record<string, AgentLike>,
  { rest: restOptions, ...options }: Setup,
): Promise<RestServer> {
  const { logger, logged } = memoryLogger();
  const agents = typeof agent === "function" || "run" in agent ? { helper: agent } : agent;
  const handler = createAgentHandler(agents as Record<string, AgentLike>, {
    logger,
    ...options,
    protocols: [rest(restOptions)],
  });
  const serving = await serve(handler, { port: 0, signals: false });
  return {
    ...serving,
    handler,
    logged,
    post: (path, body, init = {}) =>
      fetch(serving.url + path, {
        method: "POST",
        ...init,
        ...(body instanceof FormData
          ? { body }
          : {
              body: typeof body === "string" ? body : JSON.stringify(body),
              headers: { "content-type": "application/json", ...init.headers },
            }),
      }),
  };
}

/** Asks for a whole answer, which must come. */
export async function chat(server: RestServer, body: unknown): Promise<ChatResponse> {
  const response = await server.post("/agent/helper/chat", body);
  const answer = (await response.json()) as ChatResponse;
  if (response.status !== 200) throw new Error(`${response.status} ${JSON.stringify(answer)}`);
  return answer;
}

/** The frames of a stream as they arrive. */
export async function* framesOf(response: Response): AsyncGenerator<Frame, void, undefined> {
  for await (const { event = "", data } of readSse(response)) {
    yield { event, data: JSON.parse(data) as Json };
  }
}

export async function problemOf(response: Response): Promise<Problem> {
  if (response.headers.get("content-type") !== "application/problem+json") {
    throw new Error(`${response.status} ${await response.text()} is no problem.`);
  }
  return (await response.json()) as Problem;
}

export function form(fields: Record<string, string>, files: readonly File[] = []): FormData {
  const data = new FormData();
  for (const [name, value] of Object.entries(fields)) data.set(name, value);
  for (const file of files) data.append("files", file);
  return data;
}

export interface Deferred<T = void> {
  readonly promise: Promise<T>;
  resolve(value: T): void;
}

export function deferred<T = void>(): Deferred<T> {
  let resolve!: (value: T) => void;
  const promise = new Promise<T>((done) => (resolve = done));
  return { promise, resolve };
}

/** What an agent can say of its files: name, type, size and text of each. */
export async function describeFiles(files: readonly InputFile[]): Promise<unknown[]> {
  return Promise.all(
    files.map(async (file) => ({
      name: file.name,
      mimeType: file.mimeType,
      size: file.size,
      bytes: new TextDecoder().decode(await file.bytes()),
      stream: await new Response(file.stream()).text(),
    })),
  );
}

function memoryLogger(): { logger: Logger; logged: RestServer["logged"] } {
  const logged: RestServer["logged"] = [];
  const write = (level: string) => (fields: object, message?: string) => {
    logged.push({ ...fields, level, message });
  };
  const [debug, info, warn, error] = ["debug", "info", "warn", "error"].map(write);
  return { logger: { debug, info, warn, error } as Logger, logged };
}
