/** A server of its own process, so that its memory is its own. Speaks over the IPC channel. */
import { createServer } from "node:http";
import { createServer as createHttp2Server } from "node:http2";
import type { AddressInfo, Socket } from "node:net";
import { toNodeHandler } from "@holodeck/agui-node";
import { createAgentHandler } from "../src/index.ts";
import type { AgentHandlerOptions, RunAgentInput } from "../src/index.ts";

interface Order {
  events: number;
  bytes: number;
}

const limits = JSON.parse(process.argv[2] ?? "{}") as AgentHandlerOptions["limits"];
const onDisconnect = (process.argv[3] ?? "abort") as "abort";
const orderOf = ({ forwardedProps }: RunAgentInput): Order => forwardedProps as Order;
const aborted: string[] = [];
let started = 0;
let produced = 0;

// Every delta is a string of its own, as a model's would be: one shared string would cost nothing.
const delta = (index: number, bytes: number): string =>
  `${index}:`.padEnd(bytes, String.fromCharCode(97 + (index % 26)));

const handler = createAgentHandler(
  {
    iterable: async function* (input, { signal, runId }) {
      const { events, bytes } = orderOf(input);
      started++;
      signal.addEventListener("abort", () => aborted.push(runId));
      for (let i = 0; i < events; i++) {
        produced++;
        yield delta(i, bytes);
      }
    },
    observable: (input, { signal, runId }) => ({
      subscribe(observer) {
        const { events, bytes } = orderOf(input);
        started++;
        signal.addEventListener("abort", () => aborted.push(runId));
        let index = 0;
        let live = true;
        const burst = (): void => {
          for (let n = 0; n < 20 && live && index < events; n++) {
            produced++;
            observer.next({
              type: "TEXT_MESSAGE_CHUNK",
              messageId: runId,
              delta: delta(index++, bytes),
            });
          }
          if (!live) return;
          if (index < events) setImmediate(burst);
          else observer.complete();
        };
        setImmediate(burst);
        return { unsubscribe: () => (live = false) };
      },
    }),
  },
  { limits: limits!, onDisconnect, logger: { debug() {}, info() {}, warn() {}, error() {} } },
);

await handler.start();
const http1 = createServer(toNodeHandler(handler)).listen(0, "127.0.0.1");
const http2 = createHttp2Server(toNodeHandler(handler)).listen(0, "127.0.0.1");
await Promise.all(
  [http1, http2].map((server) => new Promise((done) => server.once("listening", done))),
);

// What this process has taken from the agents and no kernel has accepted yet.
const sockets = new Set<Socket>();
for (const server of [http1, http2]) {
  server.on("connection", (socket: Socket) => {
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
  });
}
const unsent = (): number => {
  let bytes = 0;
  for (const socket of sockets) bytes += socket.writableLength;
  return bytes;
};

/** Heap and external memory that is still in use after a collection. */
async function measure(): Promise<{ held: number; rss: number }> {
  // Twice, with a turn between: what weak references and finalizers hold goes with the second.
  for (let round = 0; round < 2; round++) {
    globalThis.gc!();
    await new Promise((resolve) => setImmediate(resolve));
  }
  const { heapUsed, external, rss } = process.memoryUsage();
  return { held: heapUsed + external, rss };
}

const responses: Response[] = [];
process.on(
  "message",
  async (message: { ask: string; requests?: { url: string; body: string }[] }) => {
    if (message.ask === "fetch") {
      // Called in process; the bodies are held and never read.
      for (const { url, body } of message.requests ?? []) {
        const headers = { "content-type": "application/json" };
        responses.push(await handler.fetch(new Request(url, { method: "POST", headers, body })));
      }
    }
    // Looking is cheap; only a report is worth a collection.
    const { held, rss } = message.ask === "look" ? { held: 0, rss: 0 } : await measure();
    const report = {
      held,
      rss,
      unsent: unsent(),
      started,
      produced,
      aborted: aborted.length,
      runs: handler.runs.list().length,
    };
    process.send!({ report, responses: responses.length });
  },
);

process.send!({
  http1: (http1.address() as AddressInfo).port,
  http2: (http2.address() as AddressInfo).port,
});
