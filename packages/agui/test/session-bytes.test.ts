import { ulid } from "@holodeck/agui-core";
import type { SessionStore } from "@holodeck/agui-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createAgentHandler, memorySessions, presets } from "../src/index.ts";
import type { AgentFunction, AgentHandler, AgentHandlerOptions } from "../src/index.ts";
import { eventsOf, memoryLogger, post } from "./_helpers.ts";
import { storeKinds } from "./_shared-stores.ts";
import type { SharedStore } from "./_shared-stores.ts";

const KB = 1024;
const limits = { bodyBytes: 20 * KB, sessionBytes: 40 * KB };
const key = { principal: "", threadId: "t" };
const user = (id: string, content = id): object => ({ id, role: "user", content });
const create = (agent: AgentFunction, options: AgentHandlerOptions = {}): AgentHandler =>
  createAgentHandler(agent, { logger: memoryLogger(), limits, ...options });
const run = (handler: AgentHandler, body: object = {}): Promise<Response> =>
  handler.fetch(post({ threadId: "t", protocolVersion: "1.0", messages: [user("u")], ...body }));
const endOf = async (response: Response): Promise<unknown> => (await eventsOf(response)).at(-1);
/** Over REST, whose clients do not send the history back. */
const chat = async (handler: AgentHandler, session_id: string): Promise<string> =>
  (
    await handler.fetch(post({ message: "hi", session_id }, { path: "/agent/default/chat" }))
  ).text();

describe.each(storeKinds)("the bytes of a thread on $name", (kind) => {
  let shared: SharedStore | undefined;
  let store: SessionStore;
  beforeAll(async () => {
    shared = await kind.open("session bytes");
    if (shared) store = shared.owner;
  }, 60_000);
  afterAll(() => shared?.close());

  test("that a request would exceed are a 413, and the thread stays as it was", async ({
    skip,
  }) => {
    if (!shared) return skip();
    const seen: number[] = [];
    const handler = create(
      async ({ messages }) => {
        seen.push(messages.length);
        return "ok";
      },
      { sessions: store, history: "server" },
    );
    const threadId = "grows";
    const send = (id: string): Promise<Response> =>
      run(handler, { threadId, messages: [user(id, "x".repeat(15 * KB))] });
    expect(await endOf(await send("1"))).toMatchObject({ type: "RUN_FINISHED" });
    expect(await endOf(await send("2"))).toMatchObject({ type: "RUN_FINISHED" });
    const before = await store.get({ principal: "", threadId });
    const refused = await send("3");
    expect(refused.status).toBe(413);
    expect(await refused.json()).toMatchObject({ code: "session-too-large" });
    expect(await store.get({ principal: "", threadId })).toEqual(before);
    expect(seen).toHaveLength(2);
    // The thread is not locked: something short still fits.
    const short = run(handler, { threadId, messages: [user("4", "short")] });
    expect(await endOf(await short)).toMatchObject({ type: "RUN_FINISHED" });
  });

  test.for([
    [
      "says too much",
      async function* () {
        for (let part = 0; part < 60; part++) yield "y".repeat(KB);
      },
    ],
    ["makes too large a state", async (_, { state }) => await state.set("z".repeat(50 * KB))],
    [
      "makes too many states of one",
      async function* () {
        yield { type: "STATE_SNAPSHOT", snapshot: { list: [{ text: "x".repeat(100) }] } };
        for (let at = 0; at < 40; at++) {
          yield { type: "STATE_DELTA", delta: [{ op: "copy", from: "/list", path: "/list/-" }] };
        }
      },
    ],
    [
      "patches its state too large",
      (_, { state }) => {
        void state.set({ list: [{ text: "x".repeat(100) }] });
        for (let at = 0; at < 40; at++) {
          void state.patch([{ op: "copy", from: "/list", path: "/list/-" }]);
        }
      },
    ],
  ] as [string, AgentFunction][])(
    "that a run %s end it, and it is not stored",
    async ([, agent], { skip }) => {
      if (!shared) return skip();
      const threadId = ulid();
      let calls = 0;
      const handler = create(
        (input, context) => (calls++ === 0 ? agent(input, context) : Promise.resolve("again")),
        { sessions: store },
      );
      expect(await chat(handler, threadId)).toContain("session-too-large");
      const after = (await store.get({ principal: "", threadId }))!;
      expect(JSON.stringify([after.messages, after.state]).length).toBeLessThan(
        limits.sessionBytes,
      );
      expect(after.messages).toMatchObject([{ role: "user", content: "hi" }]);
      expect(after.active).toBeUndefined();
      expect(await store.runs.active({ principal: "", threadId })).toBeUndefined();
      expect(await chat(handler, threadId)).toContain("again");
      const { messages } = (await store.get({ principal: "", threadId }))!;
      expect(messages.at(-1)).toMatchObject({ content: "again" });
    },
  );
});

describe("limits.sessionBytes", () => {
  test("is never below bodyBytes", async () => {
    const handler = create(async () => "ok", { limits: { bodyBytes: 20 * KB, sessionBytes: KB } });
    const messages = [user("1", "x".repeat(18 * KB))];
    expect(await endOf(await run(handler, { messages }))).toMatchObject({ type: "RUN_FINISHED" });
  });

  test("holds for a middleware that makes a run larger", async () => {
    const handler = create(async () => "ok", {
      middleware: [
        (input, context, next) => {
          void context.state.set("z".repeat(50 * KB));
          return next(input, context);
        },
      ],
    });
    expect(await chat(handler, ulid())).toContain("session-too-large");
  });
});

describe("a limit of threads that was set", () => {
  const full = async (handler: AgentHandler, count: number): Promise<number[]> => {
    const statuses: number[] = [];
    for (let index = 0; index < count; index++) {
      const response = await run(handler, { threadId: `t${index}` });
      await response.text();
      statuses.push(response.status);
    }
    return statuses;
  };

  test.each(storeKinds)("holds for a $name store that is passed in", async (kind) => {
    const shared = await kind.open("a limit of threads");
    if (!shared) return;
    const handler = create(async () => "a", { sessions: shared.owner, limits: { maxSessions: 5 } });
    expect(await full(handler, 8)).toEqual([200, 200, 200, 200, 200, 429, 429, 429]);
    await shared.close();
  });

  test("holds for a store that does not know it", async () => {
    const store = memorySessions();
    const create0 = store.create.bind(store);
    const unaware = {
      ...store,
      create: (key, init) => create0(key, { ...init, maxSessions: undefined }),
    } satisfies SessionStore;
    const handler = create(async () => "a", { sessions: unaware, limits: { maxSessions: 5 } });
    expect(await full(handler, 8)).toEqual([200, 200, 200, 200, 200, 429, 429, 429]);
    expect(await store.count!()).toBe(5);
  });

  test("is refused at once with a store that does not count", () => {
    const { count: _, ...sessions } = memorySessions();
    const options = { sessions, limits: { maxSessions: 5 } };
    expect(() => create(async () => "a", options)).toThrow(
      "limits.maxSessions needs a store with count()",
    );
  });

  test("holds for requests that come at once", async () => {
    const handler = create(async () => "a", {
      sessions: memorySessions(),
      limits: { maxSessions: 5 },
    });
    const all = await Promise.all(
      Array.from({ length: 9 }, (_, index) => run(handler, { threadId: `t${index}` })),
    );
    expect(all.filter(({ status }) => status === 429)).toHaveLength(4);
  });

  test("is the preset's own, and refuses", async () => {
    const handler = createAgentHandler(async () => "a", {
      logger: memoryLogger(),
      ...presets.threads(),
    });
    const statuses = await full(handler, 101);
    expect(statuses.slice(-2)).toEqual([200, 429]);
  });

  test("of one principal locks no other out, however many requests are refused", async () => {
    const handler = create(async () => "a", {
      limits: { maxSessions: 10 },
      authenticate: (request) => ({ id: request.headers.get("x-user") ?? "anonymous" }),
    });
    const forged = { resume: [{ interruptId: "i", status: "resolved", payload: true }] };
    for (let index = 0; index < 30; index++) {
      expect((await run(handler, { threadId: `f${index}`, ...forged })).status).toBe(409);
    }
    expect(await handler.sessions.count!()).toBe(0);
    expect((await full(handler, 12)).filter((status) => status === 429)).toHaveLength(2);
    const body = { threadId: "b", protocolVersion: "1.0", messages: [user("u")] };
    const other = await handler.fetch(post(body, { headers: { "x-user": "bob" } }));
    expect(await endOf(other)).toMatchObject({ type: "RUN_FINISHED" });
    expect(await handler.sessions.count!()).toBe(10);
  });

  test("was not set: old threads make room, and none is refused", async () => {
    const handler = create(async () => "a", { limits: { memoryBytes: 60 * KB } });
    expect(new Set(await full(handler, 60))).toEqual(new Set([200]));
    expect(await handler.sessions.get({ ...key, threadId: "t59" })).toBeDefined();
    expect(await handler.sessions.get({ ...key, threadId: "t0" })).toBeUndefined();
  });
});

describe("a body of many values", () => {
  const nodes = (count: number): string => {
    const list = Array.from({ length: count }, () => "{}").join(",");
    return `{"threadId":"t","messages":[],"forwardedProps":{"p":[${list}]}}`;
  };

  test("is a 413 before it is parsed", async () => {
    const handler = create(async () => "a", { limits: { jsonNodes: 1_000 } });
    const response = await handler.fetch(post(nodes(1_000)));
    expect(response.status).toBe(413);
    expect(((await response.json()) as { detail: string }).detail).toContain("limits.jsonNodes");
    // Not even JSON: it is counted before.
    expect((await handler.fetch(post(`${nodes(1_000)}}}}`))).status).toBe(413);
    expect((await handler.fetch(post(nodes(900)))).status).toBe(200);
  });

  test("may have 100,000, unless another limit is set; texts are not counted", async () => {
    const handler = createAgentHandler(async () => "a", { logger: memoryLogger() });
    expect((await handler.fetch(post(nodes(49_000)))).status).toBe(200);
    expect((await handler.fetch(post(nodes(100_000)))).status).toBe(413);
    const messages = [user("u", "{},[],".repeat(10_000))];
    const narrow = create(async () => "a", { limits: { jsonNodes: 100, bodyBytes: 100 * KB } });
    expect((await run(narrow, { messages })).status).toBe(200);
  });
});
