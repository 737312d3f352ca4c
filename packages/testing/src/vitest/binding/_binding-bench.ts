import { toFetch } from "@holodeck/agui-core";
import type { Awaitable, Exchange, ExchangeHandler, Sink } from "@holodeck/agui-core";
import {
  createFetchClient,
  createHttp1Client,
  createHttp2Client,
  readToEnd,
} from "./_binding-client.ts";
import type { BindingClient, ClientAnswer, ClientCall, ClientRequest } from "./_binding-client.ts";
import type { MountBinding } from "./test-binding.ts";

type Behaviour = (exchange: Exchange) => Awaitable<void>;

/** A mounted binding, a handler whose routes are set case by case, and a client. */
export interface BindingBench {
  /** Where the handler is mounted, such as `/api`; empty at the root. */
  readonly prefix: string;
  /** Adds a route and returns its path. */
  route(behaviour: Behaviour, path?: string): string;
  send(request: ClientRequest): ClientCall;
  get(path: string): Promise<ClientAnswer>;
  /** One small request and its answer: time passes, and the server still serves. */
  ping(): Promise<void>;
  /** Asks again and again until the condition holds. */
  until(condition: () => boolean): Promise<void>;
  /** Asks again and again until a flood has been stuck for a while. */
  untilStuck(sink: () => Sink, sent: () => Flood): Promise<void>;
  close(): Promise<void>;
}

export async function createBindingBench(mount: MountBinding): Promise<BindingBench> {
  const routes = new Map<string, Behaviour>();
  let lastRoute = 0;
  const handle = async (exchange: Exchange): Promise<boolean> => {
    const behaviour = routes.get(exchange.path);
    if (!behaviour) return false;
    await behaviour(exchange);
    return true;
  };
  const handler: ExchangeHandler = {
    handle,
    fetch: toFetch(handle),
    start: async () => undefined,
    close: async () => undefined,
  };
  const mounted = await mount(handler);
  const { pathname } = new URL(mounted.url);
  const base = mounted.url.replace(/\/$/, "");
  const client = connectTo(base, mounted);

  const bench: BindingBench = {
    prefix: pathname.replace(/\/$/, ""),
    route(behaviour, path = `/case-${++lastRoute}`) {
      routes.set(path, behaviour);
      return path;
    },
    send: (request) =>
      client.send({ ...request, headers: { ...mounted.headers, ...request.headers } }),
    get: (path) => bench.send({ path }).answer,
    async ping() {
      const { status } = await bench.get("/ping");
      if (status !== 204) throw new Error(`The server answered ${status} to a ping.`);
    },
    async until(condition) {
      while (!condition()) await bench.ping();
    },
    async untilStuck(sink, flood) {
      let seen = -1;
      for (let times = 0; times < 30; times++) {
        await bench.ping();
        // A socket moves its bytes between two turns of the loop, not within one.
        await new Promise((resolve) => setImmediate(resolve));
        const { sent } = flood();
        // With nothing pending it is not the client that is awaited, but for example a compressor.
        if (sent === seen && sink().pending > 0) continue;
        seen = sent;
        times = 0;
      }
    },
    async close() {
      client.close();
      await mounted.close();
    },
  };
  // Without a body: on HTTP/2 it gets through when a stalled stream has used up the window.
  bench.route((exchange) => exchange.reply(204, {}).end(), "/ping");
  return bench;
}

function connectTo(base: string, mounted: Awaited<ReturnType<MountBinding>>): BindingClient {
  if (mounted.fetch) return createFetchClient(base, mounted.fetch);
  return mounted.http2 ? createHttp2Client(base) : createHttp1Client(base);
}

/** Answers with a text. */
export function replyText(exchange: Exchange, status: number, text: string): void {
  const sink = exchange.reply(status, { "content-type": "text/plain; charset=utf-8" });
  sink.write(text);
  sink.end();
}

export async function readAnswerText(answer: ClientAnswer): Promise<string> {
  return (await readToEnd(answer)).toString("utf8");
}

/** Reads until a text has arrived, and returns all of it so far. */
export async function readUntil(
  answer: ClientAnswer,
  start: string,
  wanted: string,
): Promise<string> {
  const decoder = new TextDecoder();
  let text = start;
  while (!text.includes(wanted)) {
    const part = await answer.read();
    if (!part) throw new Error(`The answer ended before ${JSON.stringify(wanted)}.`);
    text += decoder.decode(part, { stream: true });
  }
  return text;
}

export async function bodyOf(exchange: Exchange): Promise<Buffer> {
  const parts: Uint8Array[] = [];
  for await (const part of exchange.body()) parts.push(part);
  return Buffer.concat(parts);
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

/** Writes as fast as it may, and keeps count. */
export interface Flood {
  readonly total: number;
  readonly sent: number;
  readonly refusals: number;
  readonly drains: number;
  readonly peakPending: number;
}

/** 64 KiB that no compression makes smaller. */
export function noise(): Uint8Array {
  return crypto.getRandomValues(new Uint8Array(64 * 1024));
}

export function flood(sink: Sink, total: number): Flood {
  const chunk = noise();
  const count = { total, sent: 0, refusals: 0, drains: 0, peakPending: 0 };
  const pump = (): void => {
    while (count.sent < total) {
      count.sent += chunk.byteLength;
      const hasRoom = sink.write(chunk);
      count.peakPending = Math.max(count.peakPending, sink.pending);
      if (hasRoom) continue;
      count.refusals++;
      return;
    }
    sink.end();
  };
  sink.onDrain = () => {
    count.drains++;
    pump();
  };
  pump();
  return count;
}
