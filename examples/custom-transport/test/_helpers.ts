import { once } from "node:events";
import { createInterface } from "node:readline";
import { Readable } from "node:stream";
import type { AgentFunction } from "@holodeck/agui";
import { WebSocket } from "ws";

export interface Line {
  offset: number;
  event: { type: string; delta?: string; [field: string]: unknown };
}

export interface SocketMessage extends Line {
  runId: string;
  error?: Record<string, unknown>;
}

export function userInput(runId: string, threadId: string = runId): Record<string, unknown> {
  return {
    runId,
    threadId,
    protocolVersion: "1.0",
    messages: [{ id: "user-1", role: "user", content: "hi" }],
  };
}

/** The lines of an answer, one by one, as they arrive. */
export async function* readLines(response: Response): AsyncGenerator<Line> {
  const input = Readable.fromWeb(response.body as never);
  for await (const line of createInterface({ input })) {
    if (line !== "") yield JSON.parse(line) as Line;
  }
}

export async function collect<T>(source: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const one of source) all.push(one);
  return all;
}

export interface TestSocket {
  readonly socket: WebSocket;
  readonly send: (message: object | string) => void;
  /** Messages until one run has ended, or was refused. */
  readRun(runId: string): AsyncGenerator<SocketMessage>;
  readonly next: () => Promise<SocketMessage>;
}

export async function connect(port: number, origin?: string): Promise<TestSocket> {
  const socket = new WebSocket(`ws://127.0.0.1:${port}/ws`, origin === undefined ? {} : { origin });
  const arrived: SocketMessage[] = [];
  const waiting: ((message: SocketMessage) => void)[] = [];
  socket.on("message", (data) => {
    const message = JSON.parse((data as Buffer).toString()) as SocketMessage;
    const first = waiting.shift();
    if (first) first(message);
    else arrived.push(message);
  });
  await once(socket, "open");

  const next = (): Promise<SocketMessage> => {
    const message = arrived.shift();
    return message ? Promise.resolve(message) : new Promise((resolve) => waiting.push(resolve));
  };
  return {
    socket,
    send: (message) => socket.send(typeof message === "string" ? message : JSON.stringify(message)),
    next,
    async *readRun(runId) {
      for (;;) {
        const message = await next();
        yield message;
        if (message.runId !== runId) continue;
        if (message.error || isTerminal(message)) return;
      }
    },
  };
}

export function isTerminal({ event }: Line): boolean {
  return event.type === "RUN_FINISHED" || event.type === "RUN_ERROR";
}

export interface Deferred<T> {
  readonly promise: Promise<T>;
  readonly resolve: (value: T) => void;
}

export function deferred<T = void>(): Deferred<T> {
  let resolve!: (value: T) => void;
  const promise = new Promise<T>((done) => {
    resolve = done;
  });
  return { promise, resolve };
}

export interface Lockstep {
  readonly agent: AgentFunction;
  /** Confirms every word that arrives; resolves to the words. */
  readonly follow: (lines: AsyncIterable<Line>) => Promise<string[]>;
}

/** An agent that says the next word only after the client has confirmed the last one. */
export function lockstep(words: readonly string[]): Lockstep {
  const confirmed = words.map(() => deferred());
  const agent: AgentFunction = async function* () {
    for (const [index, word] of words.entries()) {
      yield word;
      await confirmed[index]!.promise;
    }
  };
  const follow = async (lines: AsyncIterable<Line>): Promise<string[]> => {
    const seen: string[] = [];
    for await (const { event } of lines) {
      if (event.type !== "TEXT_MESSAGE_CONTENT") continue;
      confirmed[seen.length]?.resolve();
      seen.push(event.delta ?? "");
    }
    return seen;
  };
  return { agent, follow };
}

/** An agent that says one thing and waits until it is aborted. */
export function patient(): { agent: AgentFunction; aborted: Promise<unknown> } {
  const aborted = deferred<unknown>();
  const agent: AgentFunction = async function* (_input, { signal }) {
    signal.addEventListener("abort", () => aborted.resolve(signal.reason));
    yield "…";
    await aborted.promise;
  };
  return { agent, aborted: aborted.promise };
}
