import { once } from "node:events";
import { afterEach, describe, expect, test } from "vitest";
import { start } from "../server.ts";
import type { StartOptions } from "../server.ts";
import {
  collect,
  connect,
  deferred,
  isTerminal,
  lockstep,
  patient,
  userInput,
} from "./_helpers.ts";
import type { SocketMessage } from "./_helpers.ts";

const closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

async function open(options: StartOptions) {
  const server = await start(0, { onDisconnect: "abort", ...options });
  closing.push(() => server.close());
  return { server, client: await connect(server.port) };
}

const textOf = (messages: readonly SocketMessage[]) =>
  messages.map(({ event }) => event?.delta ?? "").join("");

describe("the WebSocket carrier", () => {
  test("sends every event when the agent makes it, as its own message", async () => {
    const words = ["one ", "two ", "three ", "four"];
    const { agent, follow } = lockstep(words);
    const { client } = await open({ agent });
    client.send(userInput("run-1"));
    expect(await follow(client.readRun("run-1"))).toEqual(words);
  });

  test("carries one run after the other over one socket", async () => {
    const { client } = await open({ agent: async (input) => `Run ${input.runId}` });
    for (const runId of ["first", "second"]) {
      client.send(userInput(runId, "the-same-thread"));
      const messages = await collect(client.readRun(runId));
      expect(messages.map(({ runId: id, offset, event }) => [id, offset, event.type])).toEqual([
        [runId, 1, "RUN_STARTED"],
        [runId, 2, "TEXT_MESSAGE_START"],
        [runId, 3, "TEXT_MESSAGE_CONTENT"],
        [runId, 4, "TEXT_MESSAGE_END"],
        [runId, 5, "RUN_FINISHED"],
      ]);
      expect(textOf(messages)).toBe(`Run ${runId}`);
    }
  });

  test("carries two runs at once and keeps them apart", async () => {
    const release = deferred();
    const { client } = await open({
      agent: async function* (input) {
        yield `${input.runId} begins`;
        // The first one ends after the second.
        if (input.runId === "first") await release.promise;
        yield " and ends";
      },
    });
    client.send(userInput("first"));
    client.send(userInput("second"));
    const until = await collect(client.readRun("second"));
    release.resolve();
    const all = [...until, ...(await collect(client.readRun("first")))];
    for (const runId of ["first", "second"]) {
      const own = all.filter((message) => message.runId === runId);
      expect(textOf(own)).toBe(`${runId} begins and ends`);
      expect(own.filter(isTerminal)).toHaveLength(1);
      expect(own.map(({ offset }) => offset)).toEqual([1, 2, 3, 4, 5, 6]);
    }
  });

  test.for([
    ["all its runs", {}],
    ["the run it names", { runId: "run-1" }],
  ])("stops %s on request and reports it at the end", async ([, stop]) => {
    const { client } = await open({ agent: patient().agent });
    client.send(userInput("run-1"));
    await client.next();
    client.send({ type: "stop", ...(stop as object) });
    expect((await collect(client.readRun("run-1"))).at(-1)).toMatchObject({
      event: { type: "RUN_FINISHED", outcome: { type: "cancelled" } },
    });
  });

  test("leaves a run alone when another one is stopped", async () => {
    const { client } = await open({ agent: patient().agent });
    client.send(userInput("run-1"));
    await client.next();
    client.send({ type: "stop", runId: "somebody-else" });
    client.send({ type: "stop", runId: "run-1" });
    const rest = await collect(client.readRun("run-1"));
    expect(rest.filter(({ error }) => error)).toEqual([]);
    expect(rest.at(-1)).toMatchObject({ event: { outcome: { type: "cancelled" } } });
  });

  test("aborts the agent when the socket closes", async () => {
    const { agent, aborted } = patient();
    const { client } = await open({ agent });
    client.send(userInput("run-1"));
    await client.next();
    client.socket.close();
    expect(await aborted).toMatchObject({ code: "disconnected" });
  });

  test("aborts the agent when the socket closed before the run began", async () => {
    const { agent, aborted } = patient();
    const [asked, admitted, left] = [deferred(), deferred(), deferred()];
    const authenticate = async () => {
      asked.resolve();
      await admitted.promise;
      return { id: "ada" };
    };
    const server = await start(0, { agent, authenticate, onDisconnect: "abort" });
    closing.push(() => server.close());
    server.server.once("connection", (connection) => connection.once("close", left.resolve));
    const client = await connect(server.port);
    client.send(userInput("run-1"));
    await asked.promise;
    client.socket.terminate();
    await left.promise;
    admitted.resolve();
    expect(await aborted).toMatchObject({ code: "disconnected" });
  });

  test("lets the agent wait for a client that does not read, and loses nothing", async () => {
    const chunk = "x".repeat(64 * 1024);
    const waits = deferred<number>();
    const { client } = await open({
      agent: async (_input, { emit }) => {
        for (let sent = 1; ; sent += 1) {
          const pace = emit.text(chunk);
          if (!pace) {
            await new Promise(setImmediate);
            continue;
          }
          waits.resolve(sent);
          await pace;
          return;
        }
      },
    });
    client.send(userInput("run-1"));
    await client.next();
    client.socket.pause();
    const sent = await waits.promise;
    client.socket.resume();
    const messages = await collect(client.readRun("run-1"));
    expect(textOf(messages)).toHaveLength(sent * chunk.length);
    expect(messages.at(-1)).toMatchObject({ event: { type: "RUN_FINISHED" } });
  });

  test.for([
    ["what is not JSON", "{", undefined],
    ["what is not an object", "[]", undefined],
    ["a wrong input", JSON.stringify({ runId: "run-1", messages: 7 }), "run-1"],
  ])("refuses %s and serves the next run", async ([, wrong, runId]) => {
    const { client } = await open({ agent: async () => "Hello" });
    client.send(wrong as string);
    const refusal = await client.next();
    expect(refusal).toMatchObject({ error: { status: 400, code: "invalid-request" } });
    if (runId !== undefined) expect(refusal.runId).toBe(runId);
    client.send(userInput("run-2"));
    expect(textOf(await collect(client.readRun("run-2")))).toBe("Hello");
  });

  test("shows the agent the headers of the upgrade", async () => {
    const { client } = await open({
      agent: async (_input, { request }) =>
        `${request?.headers.get("upgrade")} ${request?.url.pathname}`,
    });
    client.send(userInput("run-1"));
    expect(textOf(await collect(client.readRun("run-1")))).toBe("websocket /ws");
  });

  test("refuses the page of another site", async () => {
    const { server } = await open({});
    await expect(connect(server.port, "https://evil.example")).rejects.toThrow("401");
    const own = await connect(server.port, server.url);
    expect(own.socket.readyState).toBe(own.socket.OPEN);
  });

  test("closes its sockets when the server closes", async () => {
    const { server, client } = await open({});
    const closed = once(client.socket, "close");
    await server.close();
    expect((await closed)[0]).toBe(1001);
  });
});
