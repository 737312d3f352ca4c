import { serve } from "@holodeck/agui-node";
import type {
  AgentEvent,
  BaseEvent,
  RunAgentInput,
  RunContext,
  SessionStore,
} from "@holodeck/agui-core";
import { copilotkit } from "@holodeck/agui-copilotkit";
import { memorySessions } from "@holodeck/agui-sessions";
import { afterEach, describe, expect, test } from "vitest";
import { agui, createAgentHandler } from "../src/index.ts";
import type { AgentHandlerOptions } from "../src/index.ts";
import { deferred, memoryLogger, say } from "./_helpers.ts";
import type { Deferred } from "./_helpers.ts";
import { storeKinds } from "./_shared-stores.ts";
import { proto, sse } from "./_wires.ts";

interface Body {
  readonly threadId: string;
  readonly runId: string;
  readonly messages: readonly object[];
  readonly resume?: readonly object[];
}

/** A way to ask for a run under an id of the client's. */
interface Way {
  readonly name: string;
  post(url: string, body: Body, headers?: Record<string, string>): Promise<Response>;
  read(response: Response): Promise<readonly BaseEvent[]>;
}

const json = { "content-type": "application/json" };
const send = (url: string, body: unknown, headers: Record<string, string> = {}) =>
  fetch(url, { method: "POST", headers: { ...json, ...headers }, body: JSON.stringify(body) });
const input = (body: Body): object => ({
  ...body,
  protocolVersion: "1.0",
  state: {},
  tools: [],
  context: [],
  forwardedProps: {},
});

const ways: readonly Way[] = [
  {
    name: "AG-UI over SSE",
    post: (url, body, headers) => send(`${url}/agui`, input(body), headers),
    read: async (response) => (await sse.read(response)).events,
  },
  {
    name: "AG-UI over protobuf",
    post: (url, body, headers) =>
      send(`${url}/agui`, input(body), { accept: proto.contentType, ...headers }),
    read: async (response) => (await proto.read(response)).events,
  },
  {
    name: "CopilotKit's routes",
    post: (url, body, headers) => send(`${url}/agui/agent/default/run`, input(body), headers),
    read: async (response) => (await sse.read(response)).events,
  },
  {
    name: "CopilotKit's single endpoint",
    post: (url, body, headers) =>
      send(
        `${url}/agui`,
        { method: "agent/run", params: { agentId: "default" }, body: input(body) },
        headers,
      ),
    read: async (response) => (await sse.read(response)).events,
  },
];

const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).toReversed()) await close();
});

/** A server whose agent answers with how often it was called; with a gate it waits for that in the middle. */
async function start(
  sessions: SessionStore,
  calls: string[],
  options: AgentHandlerOptions & { gate?: Promise<unknown>; onCall?: () => void } = {},
): Promise<string> {
  const { gate, onCall, ...rest } = options;
  async function* agent({ runId }: RunAgentInput, { signal }: RunContext) {
    calls.push(runId);
    yield `answer ${calls.length} of ${runId}`;
    onCall?.();
    const stopped = new Promise((resolve) => signal.addEventListener("abort", resolve));
    if (gate) await Promise.race([gate, stopped]);
  }
  const handler = createAgentHandler(agent, {
    sessions,
    logger: memoryLogger(),
    protocols: [agui(), copilotkit()],
    ...rest,
  });
  const serving = await serve(handler, { port: 0, host: "127.0.0.1" });
  closers.push(() => serving.close());
  return `http://127.0.0.1:${serving.port}`;
}

const body = (runId: string, ...texts: string[]): Body => ({
  threadId: "t",
  runId,
  messages: texts.map((text, index) => ({ id: `q${index}`, ...say(text) })),
});

const contents = async (sessions: SessionStore): Promise<unknown[]> => {
  const session = await sessions.get({ principal: "", threadId: "t" });
  return session?.messages.map(({ content }) => content) ?? [];
};

/** CopilotKit's clients are refused with an event, all others with a status. */
async function expectExists(response: Response, part = "already exists"): Promise<void> {
  if (response.headers.get("content-type")?.startsWith("text/event-stream")) {
    const { events } = await sse.read(response);
    expect(events).toMatchObject([{ type: "RUN_ERROR", code: "run-exists" }]);
    expect(events[0]!.message).toContain(part);
    return;
  }
  const problem = (await response.json()) as { code?: string; detail?: string };
  expect([response.status, problem.code]).toEqual([409, "run-exists"]);
  expect(problem.detail).toContain(part);
}

for (const kind of storeKinds) {
  describe(`a run id on ${kind.name}`, () => {
    const open = async (): Promise<{ owner: SessionStore; other: SessionStore } | undefined> => {
      const store = await kind.open("run ids");
      if (!store) return undefined;
      closers.push(store.close);
      return { owner: store.owner, other: store.other ?? store.owner };
    };

    for (const history of ["client", "server"] as const) {
      test.for(ways)(
        `is used once over $name, though its request comes again; the ${history} owns the history`,
        async (way, { skip }) => {
          const stores = await open();
          if (!stores) return skip();
          const calls: string[] = [];
          const here = await start(stores.owner, calls, { history });
          const there = await start(stores.other, calls, { history });
          const first = await way.read(await way.post(here, body("r1", "one")));
          const second = body("r2", "one", "two");
          await way.read(await way.post(there, second));
          const before = await contents(stores.owner);
          expect(calls).toEqual(["r1", "r2"]);
          for (const url of [here, there, here]) {
            const copy = await way.read(await way.post(url, body("r1", "one")));
            expect(copy).toEqual(first);
          }
          for (const url of [here, there]) {
            await expectExists(await way.post(url, body("r1", "one", "more")));
            await expectExists(await way.post(url, { ...body("r1", "one"), threadId: "other" }));
            const resume = [{ interruptId: "i", status: "resolved" }];
            await expectExists(await way.post(url, { ...body("r1", "one"), resume }));
          }
          expect(calls).toEqual(["r1", "r2"]);
          expect(await contents(stores.owner)).toEqual(before);
          await way.read(await way.post(here, body("r3", "one", "two", "three")));
          expect(calls).toEqual(["r1", "r2", "r3"]);
        },
      );
    }

    test.for(ways)(
      "is followed from Last-Event-ID while it runs, over $name",
      async (way, { skip }) => {
        const stores = await open();
        if (!stores) return skip();
        const gate = deferred();
        const calls: string[] = [];
        const here = await start(stores.owner, calls, { gate: gate.promise });
        const there = await start(stores.other, calls, { gate: gate.promise });
        const running = await way.post(here, body("r1", "one"));
        const all = way.read(running);
        await expect.poll(() => calls.length).toBe(1);
        for (const url of [here, there]) {
          await expectExists(await way.post(url, body("r1", "one")), "is already running");
          const invalid = await way.post(url, body("r1", "one"), { "last-event-id": "x" });
          expect(invalid.status).toBe(400);
          await invalid.text();
        }
        const copies = await Promise.all(
          [here, there].map((url) => way.post(url, body("r1", "one"), { "last-event-id": "1" })),
        );
        expect(copies.map(({ status }) => status)).toEqual([200, 200]);
        gate.resolve();
        const events = await all;
        for (const copy of copies) expect(await way.read(copy)).toEqual(events.slice(1));
        // Ended, it is resumed in the same way.
        for (const url of [here, there]) {
          const late = await way.post(url, body("r1", "one"), { "last-event-id": "2" });
          expect(await way.read(late)).toEqual(events.slice(2));
          await expectExists(
            await way.post(url, body("r1", "else", "two"), { "last-event-id": "2" }),
          );
        }
        expect(calls).toEqual(["r1"]);
      },
    );

    test("is used once, though copies of its request come at the same time to two processes", async ({
      skip,
    }) => {
      const stores = await open();
      if (!stores) return skip();
      const calls: string[] = [];
      const urls = [await start(stores.owner, calls), await start(stores.other, calls)];
      const way = ways[0]!;
      const answers = await Promise.all(
        Array.from({ length: 10 }, async (_, index) => {
          const response = await way.post(urls[index % 2]!, body("r1", "one"));
          const text = await response.text();
          return response.status === 200 ? text : `${response.status} ${text}`;
        }),
      );
      expect(calls).toEqual(["r1"]);
      for (const answer of answers) {
        expect(answer).toMatch(/^409 .*run-exists|answer 1 of r1[^]*RUN_FINISHED/);
      }
      expect(await contents(stores.owner)).toEqual(["one", "answer 1 of r1"]);
    });

    test.for(["reject", "queue", "replace"] as const)(
      "does not disturb the next run when its request comes late (onBusy: %s)",
      async (onBusy, { skip }) => {
        const stores = await open();
        if (!stores) return skip();
        const calls: string[] = [];
        let gate: Deferred | undefined;
        const agent = async function* ({
          runId,
        }: RunAgentInput): AsyncGenerator<AgentEvent | string> {
          calls.push(runId);
          yield "begun";
          if (gate) await gate.promise;
          yield { type: "CUSTOM", name: "done", value: runId };
        };
        const handler = createAgentHandler(agent, {
          sessions: stores.owner,
          logger: memoryLogger(),
          onBusy,
        });
        const serving = await serve(handler, { port: 0, host: "127.0.0.1" });
        closers.push(() => serving.close());
        const url = `http://127.0.0.1:${serving.port}`;
        const way = ways[0]!;
        const first = await way.read(await way.post(url, body("r1", "one")));
        gate = deferred();
        const live = way.read(await way.post(url, body("r2", "one", "two")));
        await expect.poll(() => calls.length).toBe(2);
        expect(await way.read(await way.post(url, body("r1", "one")))).toEqual(first);
        await expectExists(await way.post(url, body("r1", "other", "text")));
        gate.resolve();
        const end = (await live).at(-1);
        expect([end?.type, end?.outcome]).toEqual(["RUN_FINISHED", undefined]);
        expect(calls).toEqual(["r1", "r2"]);
        expect((await contents(stores.owner)).slice(-2)).toEqual(["two", "begun"]);
      },
    );
  });
}

describe("a run id", () => {
  const way = ways[0]!;

  test("is refused when the events of its run are gone from the log", async () => {
    const calls: string[] = [];
    const url = await start(memorySessions({ runLogMs: 1 }), calls);
    await way.read(await way.post(url, body("r1", "one")));
    await expect.poll(async () => (await fetch(`${url}/agui/runs/r1/events`)).status).toBe(404);
    await expectExists(await way.post(url, body("r1", "one")), "not stored");
    expect(calls).toEqual(["r1"]);
  });

  test("is one of another user's too", async () => {
    const calls: string[] = [];
    const url = await start(memorySessions(), calls, {
      authenticate: ({ headers }) => ({ id: headers.get("x-user")! }),
    });
    const first = await way.read(await way.post(url, body("r1", "one"), { "x-user": "ann" }));
    const headers = { "x-user": "bob", "last-event-id": "1" };
    const other = await way.read(await way.post(url, body("r1", "one"), headers));
    expect(other).not.toEqual(first);
    expect(calls).toEqual(["r1", "r1"]);
  });

  test("may be used again by a request that was refused before its run began", async () => {
    const calls: string[] = [];
    const gate = deferred();
    let isRefused = true;
    const url = await start(memorySessions(), calls, {
      gate: gate.promise,
      limits: { maxConcurrentRuns: 1 },
      createSession() {
        if (isRefused) throw new Error("not yet");
        return {};
      },
    });
    const failed = await way.post(url, body("r1", "one"));
    expect(failed.status).toBe(500);
    await failed.text();
    isRefused = false;
    const running = way.read(await way.post(url, { ...body("r0", "one"), threadId: "u" }));
    const full = await way.post(url, body("r1", "one"));
    expect(full.status).toBe(429);
    await full.text();
    gate.resolve();
    await running;
    const events = await way.read(await way.post(url, body("r1", "one")));
    expect(events.at(-1)).toMatchObject({ type: "RUN_FINISHED" });
    expect(calls).toEqual(["r0", "r1"]);
  });

  test("is free again once its thread was busy with another run", async () => {
    const calls: string[] = [];
    const gate = deferred();
    const url = await start(memorySessions(), calls, { gate: gate.promise });
    const running = way.read(await way.post(url, body("r1", "one")));
    const busy = await way.post(url, body("r2", "one", "two"));
    expect([busy.status, await busy.text()]).toEqual([409, expect.stringContaining("thread-busy")]);
    gate.resolve();
    await running;
    await way.read(await way.post(url, body("r2", "one", "two")));
    expect(calls).toEqual(["r1", "r2"]);
  });

  test("is used once by copies that wait in a queue", async () => {
    const calls: string[] = [];
    const gate = deferred();
    const url = await start(memorySessions(), calls, { gate: gate.promise, onBusy: "queue" });
    const running = way.read(await way.post(url, body("r1", "one")));
    await expect.poll(() => calls.length).toBe(1);
    const waiting = await Promise.all([1, 2].map(() => way.post(url, body("r2", "one", "two"))));
    gate.resolve();
    await running;
    const ends = await Promise.all(waiting.map(async (one) => (await way.read(one)).at(-1)));
    expect(ends).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ type: "RUN_FINISHED" }),
        expect.objectContaining({ type: "RUN_ERROR", code: "run-exists" }),
      ]),
    );
    expect(calls).toEqual(["r1", "r2"]);
  });

  test("is remembered for the last hundred runs of its thread", { timeout: 60_000 }, async () => {
    const calls: string[] = [];
    const url = await start(memorySessions({ runLogMs: 1 }), calls);
    for (let number = 1; number <= 100; number++) {
      await way.read(await way.post(url, body(`r${number}`, "one")));
    }
    await expect.poll(async () => (await fetch(`${url}/agui/runs/r1/events`)).status).toBe(404);
    await expectExists(await way.post(url, body("r1", "one")), "not stored");
    expect(calls).toHaveLength(100);
  });
});
