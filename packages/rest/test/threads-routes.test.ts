import { agui, createAgentHandler, allowAnonymous } from "@holodeck/agui";
import { AgentError, silentLogger } from "@holodeck/agui-core";
import type { AgentRequest, Json, Principal } from "@holodeck/agui-core";
import { collect, fakeClock, readEvents, scriptedAgent } from "@holodeck/agui-testing";
import { describe, expect, test } from "vitest";
import { storeKinds } from "../../agui/test/_shared-stores.ts";
import { threads } from "../src/index.ts";
import { loadThreadSchemas } from "../src/threads/threads-schemas.ts";
import { gate, iso, kinds, openStore, start } from "./_threads-kit.ts";
import type { Client } from "./_threads-kit.ts";

const somewhere = "11111111-2222-3333-4444-555555555555";
const schemas = await loadThreadSchemas({ idFormat: "uuid" });

const byName = ({ headers }: AgentRequest): Principal | null => {
  const id = headers.get("x-user");
  return id ? { id } : null;
};

async function say(client: Client, body: Json = {}, user?: string): Promise<string> {
  const headers: Record<string, string> = user === undefined ? {} : { "x-user": user };
  const answer = await client.ask("POST /chat", { message: "hi", stream: false, ...body }, headers);
  expect(answer.status).toBe(200);
  return String(answer.body.thread_id);
}

const historyOf = ({ body }: { body: Json }): Json[] => body.message_history as Json[];

describe("GET /threads/:id", () => {
  test("shows the thread with its messages, calls and results, and their times", async () => {
    const client = await start(
      scriptedAgent([
        "Hello. ",
        async (_input, { callTool }) => void (await callTool("add", { a: 1 })),
        "Three.",
      ]),
      { tools: [{ name: "add", description: "d", parameters: {}, invoke: () => 3 }] },
    );
    const stream = await client.chat({ message: "Add.", metadata: { user_id: 1 } });
    const events = await stream.rest();
    const { status, body } = await client.ask(`GET /threads/${stream.threadId}`);
    expect(status).toBe(200);
    expect(schemas.thread.parse(body)).toEqual(body);
    const call = { tool_name: "add", arguments: { a: 1 }, result: 3, error: null };
    expect(body).toMatchObject({
      thread_id: stream.threadId,
      status: "active",
      message_count: 5,
      token_estimate: Math.floor("Add.Hello. 3Three.".length / 4),
      metadata: { user_id: 1 },
      message_history: [
        { role: "user", content: "Add.", tool_calls: null, metadata: {} },
        { role: "assistant", content: "Hello. ", tool_calls: [] },
        { role: "assistant", content: "", tool_calls: [call] },
        { role: "tool", content: "3", tool_calls: null },
        { role: "assistant", content: "Three.", tool_calls: [] },
      ],
    });
    const [made, changed] = [String(body.created_at), String(body.updated_at)];
    expect([made, changed]).toEqual([expect.stringMatching(iso), expect.stringMatching(iso)]);
    const times = historyOf({ body }).map(({ timestamp }) => String(timestamp));
    expect([made, ...times, changed]).toEqual([made, ...times, changed].toSorted());
    const last = events.at(-1)!.message as Json;
    expect(historyOf({ body }).at(-1)).toMatchObject({ id: last.id, timestamp: last.timestamp });
    const [told] = last.tool_calls as Json[];
    const [kept] = historyOf({ body })[2]!.tool_calls as Json[];
    expect(kept).toEqual(told);
  });

  const slowly = { timeout: 300_000 };
  test.for(storeKinds)(
    "knows the time of every message again in $name",
    slowly,
    async (kind, context) => {
      const store = await openStore(kind, `times of messages in ${kind.name}`);
      if (!store) return context.skip();
      const client = await start(scriptedAgent(["Hello."]), { sessions: store.owner });
      const before = new Date().toISOString();
      const threadId = await say(client);
      const one = await client.ask(`GET /threads/${threadId}`);
      const middle = new Date().toISOString();
      await say(client, { thread_id: threadId });
      const two = await client.ask(`GET /threads/${threadId}`);
      const times = historyOf(two).map(({ timestamp }) => String(timestamp));
      expect([before, ...times.slice(0, 2), middle, ...times.slice(2)]).toEqual(
        [before, ...times.slice(0, 2), middle, ...times.slice(2)].toSorted(),
      );
      expect(historyOf(two).slice(0, 2)).toEqual(historyOf(one));
      expect(one.body.created_at).toBe(two.body.created_at);
      expect(String(two.body.updated_at) >= String(one.body.updated_at)).toBe(true);
    },
  );

  test.for([
    ["an unknown thread", somewhere, 404, "thread-not-found"],
    ["no UUID", "t1", 400, "invalid-request"],
  ] as const)("is refused for %s", async ([, id, status, code]) => {
    const { ask } = await start(async () => {});
    for (const route of ["GET /threads/:id", "DELETE /threads/:id", "POST /threads/:id/abort"]) {
      const answer = await ask(route.replace(":id", id));
      expect([route, answer.status, answer.body.code]).toEqual([route, status, code]);
    }
  });

  test("does not show what clients of this dialect do not know", async () => {
    const client = await start(async (_input, { emit }) => {
      await emit.reasoning("Hm.");
      emit.activity("PLAN", { steps: [] });
      await emit.messages([
        { id: "d", role: "developer", content: "Be kind." },
        { id: "u", role: "user", content: [{ type: "text", text: "Look" }] },
      ]);
      await emit.text("Hello.");
    });
    const threadId = await say(client);
    expect(historyOf(await client.ask(`GET /threads/${threadId}`))).toMatchObject([
      { role: "system", content: "Be kind." },
      { role: "user", content: "Look" },
      { role: "assistant", content: "Hello." },
    ]);
  });
});

describe("a long thread", () => {
  test.for([
    [undefined, 50],
    [4, 4],
  ])("with the bound %j keeps %d messages, the latest", async ([bound, kept]) => {
    const agent = scriptedAgent(["Hello."]);
    const client = await start(agent, {
      threads: bound === undefined ? {} : { maxMessagesPerThread: bound },
    });
    const threadId = await say(client, { message: "m0" });
    for (let index = 1; index < 30; index++) {
      await say(client, { message: `m${index}`, thread_id: threadId });
    }
    const { body } = await client.ask(`GET /threads/${threadId}`);
    expect(body.message_count).toBe(kept);
    expect(historyOf({ body }).at(-2)).toMatchObject({ role: "user", content: "m29" });
    expect(agent.inputs.at(-1)!.messages).toHaveLength(kept!);
    expect(agent.inputs.at(-1)!.messages.at(-1)).toMatchObject({ content: "m29" });
  });

  test("loses a tool call only together with its result, and no system message", async () => {
    const agent = scriptedAgent([
      async (input, { emit, callTool }) => {
        if (input.messages.length > 1) return void (await callTool("add", {}));
        await emit.messages([{ id: "s", role: "system", content: "Rules." }, ...input.messages]);
      },
      "Done.",
    ]);
    const client = await start(agent, {
      tools: [{ name: "add", description: "d", parameters: {}, invoke: () => 3 }],
      threads: { maxMessagesPerThread: 6 },
    });
    const threadId = await say(client);
    for (let index = 0; index < 6; index++) {
      await say(client, { thread_id: threadId });
      const history = historyOf(await client.ask(`GET /threads/${threadId}`));
      expect(history.length).toBeLessThanOrEqual(6);
      expect(history[0]).toMatchObject({ role: "system", content: "Rules." });
      const calls = history.flatMap(({ tool_calls }) => (tool_calls as Json[] | null) ?? []);
      const results = history.flatMap((one) => (one.role === "tool" ? [one.tool_call_id] : []));
      expect(results).toEqual(calls.map(({ id }) => id));
    }
  });
});

describe("GET /threads", () => {
  test("is refused without a known user", async () => {
    const client = await start(scriptedAgent(["Hello."]));
    const threadId = await say(client);
    const { status, body } = await client.ask("GET /threads");
    expect([status, body.code]).toEqual([403, "authentication-required"]);
    expect(JSON.stringify(body)).not.toContain(threadId);
    expect((await client.ask(`GET /threads/${threadId}`)).status).toBe(200);
  });

  test("lists the caller's own threads, the latest first, page by page", async () => {
    const clock = fakeClock(1_700_000_000_000);
    const client = await start(scriptedAgent(["Hello."]), { authenticate: byName, clock });
    const own: string[] = [];
    for (let index = 0; index < 5; index++) {
      own.unshift(await say(client, { metadata: { index } }, "ann"));
      await say(client, {}, "bob");
      await clock.advance(10);
    }
    const ann = { "x-user": "ann" };
    const all = await client.ask("GET /threads", undefined, ann);
    expect(schemas.threadList.parse(all.body)).toEqual(all.body);
    const found = all.body.threads as Json[];
    expect(found.map(({ thread_id }) => thread_id)).toEqual(own);
    expect(found[0]).toMatchObject({ status: "active", message_count: 2 });
    expect(found[0]).not.toHaveProperty("message_history");
    expect(all.body.next_cursor).toBeNull();
    const pages: string[][] = [];
    let cursor: string | null = "";
    while (cursor !== null) {
      const query = `limit=2${cursor && `&cursor=${encodeURIComponent(cursor)}`}`;
      const { body } = await client.ask(`GET /threads?${query}`, undefined, ann);
      pages.push((body.threads as Json[]).map(({ thread_id }) => String(thread_id)));
      cursor = body.next_cursor as string | null;
    }
    expect(pages.map(({ length }) => length)).toEqual([2, 2, 1]);
    expect(pages.flat()).toEqual(found.map(({ thread_id }) => thread_id));
  });

  test("lists all threads where all callers are one user on purpose", async () => {
    const client = await start(scriptedAgent(["Hello."]), { authenticate: allowAnonymous() });
    const threadId = await say(client);
    const { body } = await client.ask("GET /threads");
    expect(body.threads).toMatchObject([{ thread_id: threadId }]);
  });

  test.for(["0", "101", "-1", "x", "1e1", ""])("is refused for the limit %j", async (limit) => {
    const { ask } = await start(async () => {}, { authenticate: allowAnonymous() });
    const { status, body } = await ask(`GET /threads?limit=${limit}`);
    expect([status, body.errors]).toEqual([
      400,
      [{ path: "limit", message: "limit must be a whole number from 1 to 100" }],
    ]);
  });

  test("keeps the threads of others out of reach by any route", async () => {
    const heard = gate();
    const client = await start(scriptedAgent(["a", { wait: heard.opened }]), {
      authenticate: byName,
    });
    const stream = await client.chat({ message: "hi" }, { "x-user": "ann" });
    await stream.next();
    const bob = { "x-user": "bob" };
    const id = stream.threadId;
    const routes: [string, Json?][] = [
      [`GET /threads/${id}`],
      [`DELETE /threads/${id}`],
      [`POST /threads/${id}/abort`],
      ["POST /chat", { message: "hi", thread_id: id }],
    ];
    for (const [route, body] of routes) {
      expect([route, (await client.ask(route, body, bob)).status]).toEqual([route, 404]);
    }
    expect((await client.ask(`GET /threads/${id}`)).status).toBe(401);
    heard.open();
    expect(kinds(await stream.rest())).toEqual(["message_complete"]);
  });
});

describe("DELETE /threads/:id", () => {
  test("removes a thread for good, once", async () => {
    const agent = scriptedAgent(["Hello."]);
    const client = await start(agent);
    const threadId = await say(client);
    const gone = await client.ask(`DELETE /threads/${threadId}`);
    expect([gone.status, gone.body]).toEqual([204, {}]);
    expect((await client.ask(`GET /threads/${threadId}`)).status).toBe(404);
    expect((await client.ask("POST /chat", { message: "hi", thread_id: threadId })).status).toBe(
      404,
    );
    expect((await client.ask(`DELETE /threads/${threadId}`)).status).toBe(404);
    expect(agent.inputs).toHaveLength(1);
  });

  test("ends what runs in it, and frees what belongs to it", async () => {
    const freed: string[] = [];
    const stopped = gate<unknown>();
    const client = await start(
      scriptedAgent([
        (_input, { signal }) => signal.addEventListener("abort", () => stopped.open(signal.reason)),
        "a",
        { hang: true },
      ]),
      { createSession: (id) => ({ dispose: () => void freed.push(id) }) },
    );
    const stream = await client.chat({ message: "hi" });
    await stream.next();
    expect((await client.ask(`DELETE /threads/${stream.threadId}`)).status).toBe(204);
    expect(await stopped.opened).toBeInstanceOf(AgentError);
    expect(kinds(await stream.rest())).toEqual(["error"]);
    expect(freed).toEqual([stream.threadId]);
  });
});

describe("POST /threads/:id/abort", () => {
  test("stops the run and keeps the thread", async () => {
    const stopped = gate<unknown>();
    const client = await start(
      scriptedAgent(
        [
          (_input, { signal }) =>
            signal.addEventListener("abort", () => stopped.open(signal.reason)),
          "Hel",
          { hang: true },
        ],
        ["Again."],
      ),
    );
    const stream = await client.chat({ message: "hi" });
    await stream.next();
    const route = `POST /threads/${stream.threadId}/abort`;
    const answer = await client.ask(route);
    expect([answer.status, answer.body]).toEqual([
      202,
      { thread_id: stream.threadId, aborted: true },
    ]);
    expect(await stopped.opened).toMatchObject({ code: "stopped" });
    expect(await stream.rest()).toMatchObject([
      { event: "error", error_type: "cancelled", recoverable: false },
    ]);
    const again = await client.ask(route);
    expect([again.status, again.body.aborted]).toEqual([200, false]);
    const next = { message: "More.", thread_id: stream.threadId, stream: false };
    expect((await client.ask("POST /chat", next)).body.content).toBe("Again.");
    expect(historyOf(await client.ask(`GET /threads/${stream.threadId}`))).toMatchObject([
      { content: "hi" },
      { content: "Hel", metadata: { incomplete: true } },
      { content: "More." },
      { content: "Again." },
    ]);
  });

  test("answers who waits for the whole", async () => {
    const begun = gate();
    const client = await start(scriptedAgent([() => begun.open(), { hang: true }]), {
      onUnknownThread: "create",
    });
    const body = { message: "hi", thread_id: somewhere, stream: false };
    const waiting = client.ask("POST /chat", body);
    await begun.opened;
    await client.ask(`POST /threads/${somewhere}/abort`);
    const answer = await waiting;
    expect([answer.status, answer.body.code]).toEqual([409, "stopped"]);
  });
});

test("an AG-UI client of the same thread sees messages without a time", async () => {
  const handler = createAgentHandler(scriptedAgent(["Hello."]), {
    protocols: [agui(), threads()],
    logger: silentLogger,
  });
  const post = (path: string, body: Json): Promise<Response> =>
    handler.fetch(
      new Request(`http://test.local${path}`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify(body),
      }),
    );
  const run = { threadId: somewhere, runId: "r1", protocolVersion: "1.0" };
  const messages = [{ id: "u", role: "user", content: "hi" }];
  await (await post("/agui", { ...run, messages })).text();
  const chat = { message: "More.", thread_id: somewhere, stream: false };
  expect((await post("/chat", chat)).status).toBe(200);
  const response = await handler.fetch(new Request("http://test.local/agui/runs/r1/events"));
  const snapshots = (await collect(readEvents(response))).filter(
    ({ type }) => type === "MESSAGES_SNAPSHOT",
  );
  const told = snapshots.at(-1)!.messages as Json[];
  expect(told).toMatchObject([
    { id: "u", role: "user", content: "hi" },
    { role: "assistant", content: "Hello." },
    { role: "user", content: "More." },
    { role: "assistant", content: "Hello." },
  ]);
  const keys = new Set(told.flatMap((message) => Object.keys(message)));
  expect([...keys].toSorted()).toEqual(["content", "id", "role"]);
  await handler.close();
});
