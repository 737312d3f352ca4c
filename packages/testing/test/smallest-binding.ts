import { AgentError, toProblem } from "@holodeck/agui-core";
import type { Chunk, Exchange, ExchangeHandler, Sink } from "@holodeck/agui-core";
import { once } from "node:events";
import { createServer } from "node:http";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { RequiredMembers } from "./required-members.ts";

/** An exchange with nothing but what the contract asks for: one more member would not compile. */
type SmallestExchange = RequiredMembers<Exchange>;

/** Other members for an exchange, to break it. */
export type ChangeExchange = (exchange: Exchange, res: ServerResponse) => Partial<Exchange>;

/** A binding for `node:http` that implements the required members of `Exchange` and no others. */
function smallestBinding(
  handler: Pick<ExchangeHandler, "handle">,
  change?: ChangeExchange,
): (req: IncomingMessage, res: ServerResponse) => void {
  return (req, res) => {
    const smallest = toExchange(req, res);
    const exchange = change ? { ...smallest, ...change(smallest, res) } : smallest;
    const handled = Promise.resolve().then(() => handler.handle(exchange));
    handled.then(
      (isOurs) => {
        if (!isOurs) refuse(exchange, new AgentError("not-found", "There is no such page."));
      },
      (error: unknown) => {
        if (res.headersSent) res.destroy();
        else refuse(exchange, error);
      },
    );
  };
}

/** Serves a handler through the smallest binding, on a free port. */
export async function listenSmallest(
  handler: Pick<ExchangeHandler, "handle">,
  change?: ChangeExchange,
): Promise<{ url: string; close: () => Promise<void> }> {
  const server = createServer(smallestBinding(handler, change)).listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    async close() {
      server.close();
      server.closeAllConnections();
    },
  };
}

function toExchange(req: IncomingMessage, res: ServerResponse): SmallestExchange {
  const { method = "GET", headers } = req;
  const url = new URL(req.url ?? "/", `http://${headers.host ?? "localhost"}`);
  return {
    request: { method, url, headers: new Headers(headers as Record<string, string>), native: req },
    method,
    path: url.pathname,
    query: url.search,
    header: (name) => headers[name]?.toString(),
    body: () => req.iterator({ destroyOnReturn: false }),
    onLeave(listener) {
      const check = (): void => {
        if (!res.writableFinished) listener();
      };
      if (res.destroyed) check();
      else res.once("close", check);
    },
    reply(status, answerHeaders) {
      res.writeHead(status, answerHeaders).flushHeaders();
      // What was not read of the request would block the connection.
      req.resume();
      return new ResponseSink(res);
    },
  };
}

function refuse(exchange: Exchange, error: unknown): void {
  const { status, headers, body } = toProblem(error);
  const sink = exchange.reply(status, headers);
  sink.write(body);
  sink.end();
}

class ResponseSink implements Sink {
  onDrain: (() => void) | undefined;
  readonly #res: ServerResponse;
  #onClose: (() => void) | undefined;
  #isOpen = true;
  #hasLeft = false;

  constructor(res: ServerResponse) {
    this.#res = res;
    const left = (): void => {
      if (!this.#isOpen) return;
      this.#isOpen = false;
      this.#hasLeft = true;
      this.#onClose?.();
    };
    res.on("error", () => undefined);
    res.on("drain", () => this.onDrain?.());
    if (res.destroyed) left();
    else res.once("close", left);
  }

  set onClose(listener: (() => void) | undefined) {
    this.#onClose = listener;
    if (this.#hasLeft) queueMicrotask(() => listener?.());
  }

  get onClose(): (() => void) | undefined {
    return this.#onClose;
  }

  get pending(): number {
    return this.#res.destroyed ? 0 : this.#res.writableLength;
  }

  write(chunk: Chunk): boolean {
    return this.#isOpen && this.#res.write(chunk);
  }

  end(): void {
    this.#isOpen = false;
    this.#res.end();
  }

  destroy(): void {
    this.#isOpen = false;
    this.#res.destroy();
  }
}
