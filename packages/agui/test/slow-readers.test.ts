import { fork } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { connect as connectHttp2 } from "node:http2";
import { connect } from "node:net";
import { fileURLToPath } from "node:url";
import { afterEach, describe, expect, test } from "vitest";
import { parseSse } from "./_helpers.ts";

const MiB = 1024 * 1024;
const sockets = 50;
// The defaults, spelled out.
const limits = { followerBytes: MiB, runLogBytes: 8 * MiB, logBytes: 256 * MiB };
// 50 MB owed to each of 50 clients.
const owed = { events: 2_500, bytes: 20_000 };

interface Report {
  rss: number;
  peak: number;
  produced: number;
  aborted: number;
  runs: number;
}

interface Server {
  http1: number;
  http2: number;
  ask(message: object): Promise<Report>;
  until(settled: (report: Report) => boolean): Promise<Report>;
}

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).toReversed()) await cleanup();
});

async function startServer(onDisconnect = "abort"): Promise<Server> {
  const script = fileURLToPath(new URL("_slow-server.ts", import.meta.url));
  const execArgv = ["--expose-gc", "--import", "tsx", "--conditions=@holodeck/source"];
  const child: ChildProcess = fork(script, [JSON.stringify(limits), onDisconnect], { execArgv });
  cleanups.push(async () => {
    child.kill("SIGKILL");
    await once(child, "exit");
  });
  const died = once(child, "exit").then(([code]) => {
    throw new Error(`The server ended with ${String(code)}.`);
  });
  died.catch(() => {});
  const [ports] = (await Promise.race([once(child, "message"), died])) as [
    { http1: number; http2: number },
  ];
  const ask = async (message: object): Promise<Report> => {
    const answer = once(child, "message") as Promise<[{ report: Report }]>;
    child.send(message);
    return (await Promise.race([answer, died]))[0].report;
  };
  return {
    ...ports,
    ask,
    async until(settled) {
      for (;;) {
        if (settled(await ask({ ask: "look" }))) return ask({ ask: "report" });
      }
    },
  };
}

let runs = 0;
const bodyOf = (agentId: string, order: object): string =>
  JSON.stringify({ agentId, runId: `run-${++runs}`, messages: [], forwardedProps: order });

/** A client that sends its request and then never takes a byte from its socket. */
function stallHttp1(port: number, body: string): void {
  const socket = connect(port, "127.0.0.1");
  socket.pause();
  socket.on("error", () => {});
  const head = [
    "POST /agui HTTP/1.1",
    "host: test",
    "content-type: application/json",
    `content-length: ${body.length}`,
  ];
  socket.write(`${head.join("\r\n")}\r\n\r\n${body}`);
  cleanups.push(() => socket.destroy());
}

function stallHttp2(port: number, body: string): void {
  // A client of its own each: the window of a shared connection would hide what a stream holds.
  const client = connectHttp2(`http://127.0.0.1:${port}`);
  client.on("error", () => {});
  const stream = client.request({
    ":method": "POST",
    ":path": "/agui",
    "content-type": "application/json",
  });
  stream.on("error", () => {});
  stream.pause();
  stream.end(body);
  cleanups.push(() => client.destroy());
}

async function readAll(port: number, agentId: string): Promise<void> {
  const order = { events: 250, bytes: 20_000 };
  const response = await fetch(`http://127.0.0.1:${port}/agui`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: bodyOf(agentId, order),
  });
  const events = parseSse(await response.text());
  const deltas = events.flatMap(({ delta }) => (typeof delta === "string" ? [delta] : []));
  expect(deltas.map((text) => Number(text.split(":", 1)[0]))).toEqual(
    Array.from({ length: order.events }, (_, index) => index),
  );
  expect(events.at(-1)!.type).toBe("RUN_FINISHED");
}

const carriers = {
  "HTTP/1.1": (server: Server, agent: string) => {
    for (let i = 0; i < sockets; i++) stallHttp1(server.http1, bodyOf(agent, owed));
  },
  "HTTP/2": (server: Server, agent: string) => {
    for (let i = 0; i < sockets; i++) stallHttp2(server.http2, bodyOf(agent, owed));
  },
  "handler.fetch": async (server: Server, agent: string) => {
    const requests = Array.from({ length: sockets }, () => ({
      url: "http://test.local/agui",
      body: bodyOf(agent, owed),
    }));
    await server.ask({ ask: "fetch", requests });
  },
};

describe.for(Object.entries(carriers))("%s", ([, stall]) => {
  test.for(["iterable", "observable"])(
    "holds a bounded buffer for clients that never read, while others read everything (%s agent)",
    { timeout: 300_000 },
    async (agent) => {
      const server = await startServer();
      // Warm: code, heap and buffers as they are in a server that has been at work.
      await Promise.all(Array.from({ length: 10 }, () => readAll(server.http1, agent)));
      const before = await server.ask({ ask: "reset" });
      await stall(server, agent);
      await Promise.all(Array.from({ length: 10 }, () => readAll(server.http1, agent)));
      // Observables cannot wait: their clients are cut, each as soon as it is a buffer behind.
      // Iterables can: they are paused, and nothing more is produced.
      let last = -1;
      const settled = ({ aborted, runs: live, produced }: Report): boolean => {
        const still = produced === last;
        last = produced;
        return still && (agent === "iterable" ? live : aborted) === sockets;
      };
      const after = await server.until(settled);

      const bound = sockets * limits.followerBytes + limits.logBytes;
      expect(after.rss - before.rss).toBeLessThan(bound);
      expect(after.peak - before.rss).toBeLessThan(1.5 * bound);
      const owedEvents = sockets * owed.events;
      const produced = after.produced - before.produced - 10 * 250;
      // Paused, or cut: either way the agents did not run to their end.
      expect(produced).toBeLessThan(owedEvents / 4);
      if (agent === "iterable") expect(after.runs).toBe(sockets);
      else expect(after.aborted).toBe(sockets);
    },
  );
});

test(
  "lets the runs of cut clients go on when told to, within the bound of their logs",
  { timeout: 300_000 },
  async () => {
    const server = await startServer("continue");
    await Promise.all(Array.from({ length: 10 }, () => readAll(server.http1, "observable")));
    const before = await server.ask({ ask: "reset" });
    const order = { events: 500, bytes: 20_000 };
    for (let i = 0; i < sockets; i++) stallHttp1(server.http1, bodyOf("observable", order));
    const total = before.produced + sockets * order.events;
    const after = await server.until(
      ({ produced, runs: live }) => produced === total && live === 0,
    );
    expect(after.aborted).toBe(0);
    // Ten times the bound was said. The logs, and the messages folded from them, keep one bound each.
    expect(after.rss - before.rss).toBeLessThan(limits.logBytes + sockets * limits.runLogBytes);
  },
);
