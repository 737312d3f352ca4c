import type { IncomingMessage } from "node:http";
import type { Chunk, Exchange, ExchangeHandler, Sink } from "@holodeck/agui-core";
import type { WebSocket } from "ws";

export interface CarryOptions {
  /** Where the handler's line protocol is mounted. By default "/ndjson". */
  path?: string;
  /** Bytes that may wait in the socket before the agent has to. By default 64 KiB. */
  highWaterMark?: number;
}

/**
 * Carries runs over one WebSocket. A message to the server is a `RunAgentInput`, or
 * `{ type: "stop", runId? }`. A message to the client is `{ runId, offset, event }`, or
 * `{ runId, error }` when a run was refused. Runs may overlap. A socket that closes has left them all.
 *
 * @example
 * ```ts
 * sockets.on("connection", (socket, upgrade) => carry(handler, { socket, upgrade }));
 * ```
 */
export function carry(
  handler: Pick<ExchangeHandler, "handle">,
  { socket, upgrade }: { socket: WebSocket; upgrade: IncomingMessage },
  options: CarryOptions = {},
): void {
  const { path = "/ndjson", highWaterMark = 64 * 1024 } = options;
  const sinks = new Map<string, Sink>();
  /** Of requests that have not had their whole response. */
  const leaving = new Set<() => void>();

  socket.on("message", (data) => {
    // One Buffer, unless the socket is configured otherwise.
    const text = (data as Buffer).toString();
    const message = parse(text);
    if (message?.["type"] !== "stop") return run(message, text);
    const { runId } = message;
    for (const id of typeof runId === "string" ? [runId] : sinks.keys()) stop(id);
  });
  socket.on("close", () => {
    for (const leave of leaving) leave();
    leaving.clear();
    for (const sink of sinks.values()) sink.onClose?.();
    sinks.clear();
  });
  // "close" follows and reports the rest.
  socket.on("error", () => undefined);

  function run(message: Record<string, unknown> | undefined, text: string): void {
    const { runId = crypto.randomUUID() } = message ?? {};
    const id = String(runId);
    // What is no object goes as it came: the handler knows how to refuse it.
    const body = message ? JSON.stringify({ ...message, runId }) : text;
    ask(id, { method: "POST", path, body });
  }

  function stop(runId: string): void {
    if (sinks.has(runId))
      ask(runId, { method: "DELETE", path: `${path}/${encodeURIComponent(runId)}` });
  }

  function ask(runId: string, request: Asked): void {
    const listeners: (() => void)[] = [];
    const leave = (): void => {
      for (const listener of listeners) listener();
    };
    leaving.add(leave);
    const over = (): void => void leaving.delete(leave);
    const onLeave = (listener: () => void): void => {
      if (socket.readyState === socket.OPEN) listeners.push(listener);
      else listener();
    };
    const reply = (status: number): Sink => {
      if (status === 204) return toSink(() => undefined, over);
      if (status !== 200)
        return toSink((text) => send(`{"runId":${JSON.stringify(runId)},"error":${text}}`), over);
      const sink = toSink(sendLines(runId), () => {
        sinks.delete(runId);
        over();
      });
      sinks.set(runId, sink);
      // The client may have left while the run was being prepared.
      if (socket.readyState !== socket.OPEN) queueMicrotask(() => sink.onClose?.());
      return sink;
    };
    const exchange = toExchange(request, upgrade, { onLeave, reply });
    handler.handle(exchange).catch(() => socket.close(1011, "The handler failed."));
  }

  // The handler's lines arrive whole; each becomes a separate message.
  function sendLines(runId: string): (text: string) => void {
    const head = `{"runId":${JSON.stringify(runId)},`;
    return (text) => {
      for (const line of text.split("\n")) if (line !== "") send(head + line.slice(1));
    };
  }

  function send(text: string): void {
    if (socket.readyState === socket.OPEN) socket.send(text, drain);
  }

  function drain(): void {
    if (socket.bufferedAmount >= highWaterMark) return;
    for (const sink of sinks.values()) sink.onDrain?.();
  }

  function toSink(write: (text: string) => void, onEnd: () => void): Sink {
    return {
      onDrain: undefined,
      onClose: undefined,
      write(chunk: Chunk) {
        write(typeof chunk === "string" ? chunk : new TextDecoder().decode(chunk));
        return socket.bufferedAmount < highWaterMark;
      },
      get pending() {
        return socket.bufferedAmount;
      },
      end: onEnd,
      // Called for a client that does not read: closing politely would wait for it.
      destroy: () => socket.terminate(),
    };
  }
}

interface Asked {
  readonly method: string;
  readonly path: string;
  readonly body?: string;
}

function toExchange(
  asked: Asked,
  upgrade: IncomingMessage,
  { onLeave, reply }: Pick<Exchange, "onLeave"> & { reply: (status: number) => Sink },
): Exchange {
  const { method, path, body } = asked;
  const { headers, url = "/", socket } = upgrade;
  return {
    method,
    path,
    query: "",
    // The upgrade is the only real request: its cookies and tokens are what `authenticate` sees.
    request: {
      method,
      url: new URL(url, `ws://${headers.host ?? "localhost"}`),
      headers: new Headers(headers as Record<string, string>),
      ip: socket.remoteAddress,
      native: upgrade,
    },
    header: (name) => (name === "content-type" ? "application/json" : headers[name]?.toString()),
    async *body() {
      if (body !== undefined) yield new TextEncoder().encode(body);
    },
    onLeave,
    reply,
  };
}

function parse(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    const isObject = typeof value === "object" && value !== null && !Array.isArray(value);
    return isObject ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}
