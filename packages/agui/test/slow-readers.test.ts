import { fork } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { request } from "node:http";
import type { IncomingMessage } from "node:http";
import { connect as connectHttp2 } from "node:http2";
import { connect } from "node:net";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { afterEach, describe, expect, test } from "vitest";
import { effort } from "../../../scripts/test-support/effort.ts";
import { parseSse } from "./_helpers.ts";
import { sourceFlags } from "../../../scripts/test-support/source-flags.ts";

const MiB = 1024 * 1024;
const sockets = 50;
// Logs are small beside what is owed, so that a buffer without a bound stands out. The stall is long: how
// long a busy machine takes is not the question here.
const limits = {
  followerBytes: MiB,
  runLogBytes: MiB,
  logBytes: 64 * MiB,
  stallMs: 3_600_000,
};
// The logs, and the messages folded from them, keep one bound each.
const kept = limits.logBytes + sockets * limits.runLogBytes;
// Owed to each of 50 clients: 50 MB, or several times what may be held.
const owed = { events: effort(2_500, 750), bytes: 20_000 };

interface Report {
  /** Heap and external memory after a collection. */
  held: number;
  /** What the kernel and the allocator make of it: a figure, and no measure of what is held. */
  rss: number;
  /** Bytes that were written to sockets and that no kernel has accepted. */
  unsent: number;
  started: number;
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
  const execArgv = ["--expose-gc", ...sourceFlags];
  const child: ChildProcess = fork(script, [JSON.stringify(limits), onDisconnect], { execArgv });
  cleanups.push(async () => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    child.kill("SIGKILL");
    await once(child, "exit");
  });
  const died = once(child, "exit").then(([code, signal]) => {
    throw new Error(`The server ended with ${String(code ?? signal)}.`);
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

/** A client that reads everything, on a connection that it shares with no other request. */
async function readAll(port: number, agentId: string): Promise<void> {
  const order = { events: 250, bytes: 20_000 };
  // Without `fetch`: its pool may pick a connection that the server, idle for 5 s, is about to close.
  const sent = request({
    port,
    host: "127.0.0.1",
    method: "POST",
    path: "/agui",
    headers: { "content-type": "application/json" },
    agent: false,
  });
  sent.end(bodyOf(agentId, order));
  const [response] = (await once(sent, "response")) as [IncomingMessage];
  const events = parseSse(await text(response));
  const deltas = events.flatMap(({ delta }) => (typeof delta === "string" ? [delta] : []));
  expect(deltas.map((delta) => Number(delta.split(":", 1)[0]))).toEqual(
    Array.from({ length: order.events }, (_, index) => index),
  );
  expect(events.at(-1)!.type).toBe("RUN_FINISHED");
}

/** Everybody has come, and for many turns of the server no agent has produced anything. */
function atRest(started: number): (report: Report) => boolean {
  let last = -1;
  let turns = 0;
  return (report) => {
    turns = report.produced === last ? turns + 1 : 0;
    last = report.produced;
    return report.started === started && turns === 50;
  };
}

const mib = (bytes: number): string => `${(bytes / MiB).toFixed(1)} MiB`;
const print = (before: Report, after: Report): void => {
  process.stdout.write(
    `Held: ${mib(before.held)} → ${mib(after.held)}, unsent ${mib(after.unsent)}, ` +
      `RSS ${mib(before.rss)} → ${mib(after.rss)}.\n`,
  );
};

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
      const before = await server.ask({ ask: "report" });
      await stall(server, agent);
      await Promise.all(Array.from({ length: 10 }, () => readAll(server.http1, agent)));
      const after = await server.until(atRest(before.started + sockets + 10));
      print(before, after);

      // Observables cannot wait: their clients are cut, each as soon as it is a buffer behind.
      // Iterables can: they are paused, and nothing more is produced.
      expect(after).toMatchObject(
        agent === "iterable" ? { runs: sockets, aborted: 0 } : { runs: 0, aborted: sockets },
      );
      // Paused, or cut: either way the agents did not run to their end.
      const produced = after.produced - before.produced - 10 * 250;
      expect(produced).toBeLessThan((sockets * owed.events) / 2);
      expect(after.unsent).toBeLessThan(sockets * limits.followerBytes);
      expect(after.held - before.held).toBeLessThan(sockets * limits.followerBytes + kept);
    },
  );
});

test(
  "lets the runs of cut clients go on when set to, within the bound of their logs",
  { timeout: 300_000 },
  async () => {
    const server = await startServer("continue");
    await Promise.all(Array.from({ length: 10 }, () => readAll(server.http1, "observable")));
    const before = await server.ask({ ask: "report" });
    const order = { events: 500, bytes: 20_000 };
    for (let i = 0; i < sockets; i++) stallHttp1(server.http1, bodyOf("observable", order));
    const total = before.produced + sockets * order.events;
    const after = await server.until(
      ({ produced, runs: live }) => produced === total && live === 0,
    );
    print(before, after);
    expect(after.aborted).toBe(0);
    expect(after.held - before.held).toBeLessThan(kept);
  },
);
