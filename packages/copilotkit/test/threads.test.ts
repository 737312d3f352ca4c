import { createAgentHandler } from "@holodeck/agui";
import { EventType, silentLogger } from "@holodeck/agui-core";
import { memorySessions } from "@holodeck/agui-sessions";
import { fakeClock } from "@holodeck/agui-testing";
import { describe, expect, test } from "vitest";
import { copilotkit } from "../src/index.ts";
import { createStage } from "./_agent.ts";
import { byHeader, createHandler } from "./_host.ts";
import { ask, begin, input } from "./_wire.ts";

const run = "POST /agui/agent/default/run";
const connect = "POST /agui/agent/default/connect";

describe("a thread", () => {
  test("is shown to clients of AG-UI 1.0 as they know it", async () => {
    const handler = createHandler(createStage());
    await ask(handler, run, { body: input("t", "hi") });
    const old = await ask(handler, connect, { body: { threadId: "t" } });
    const now = await ask(handler, connect, { body: { threadId: "t", protocolVersion: "1.0" } });
    for (const { events } of [old, now]) {
      expect(events[1]).toMatchObject({
        type: "MESSAGES_SNAPSHOT",
        messages: [
          { id: "u-hi", role: "user", content: "hi" },
          { role: "assistant", content: "you said: hi" },
        ],
      });
      expect(events[2]).toEqual({ type: "STATE_SNAPSHOT", snapshot: { turns: 1 } });
    }
  });

  test("whose run was lost is shown with what its log has", async () => {
    const sessions = memorySessions();
    const handler = createHandler(createStage(), { sessions });
    const key = { principal: "anonymous", threadId: "t", runId: "r" };
    await sessions.create(key, { agentId: "default" });
    await sessions.update(key, {
      messages: [{ id: "u", role: "user", content: "hi" }],
      active: { runId: "r", offset: 0, open: [] },
    });
    const lease = await sessions.runs.open(key, { agentId: "default" });
    if ("busy" in lease) throw new Error("The thread is busy.");
    const said = [
      { type: EventType.RUN_STARTED, threadId: "t", runId: "r" },
      { type: EventType.TEXT_MESSAGE_START, messageId: "a", role: "assistant" },
      { type: EventType.TEXT_MESSAGE_CONTENT, messageId: "a", delta: "half" },
      { type: EventType.TEXT_MESSAGE_END, messageId: "a" },
      { type: EventType.RUN_ERROR, message: "The run was lost.", code: "run-lost" },
    ].map((event, index) => ({ from: index + 1, to: index + 1, at: 0, event }));
    await sessions.runs.append(lease, said.slice(0, -1));
    await sessions.runs.close(lease, said.at(-1)!, "lost");
    const { events } = await ask(handler, connect, { body: { threadId: "t" } });
    expect(events.filter(({ type }) => type === "MESSAGES_SNAPSHOT").at(-1)).toMatchObject({
      messages: [{ id: "u" }, { id: "a", content: "half" }],
    });
    expect(events.at(-1)).toMatchObject({ type: "RUN_ERROR", code: "run-lost" });
  });

  test("can be changed by its id without authentication, and never listed", async () => {
    const handler = createHandler(createStage(), { authenticate: undefined as never });
    await ask(handler, run, { body: input("t", "hi") });
    const listed = await ask(handler, "GET /agui/threads?agentId=default");
    expect(listed).toMatchObject({ status: 403, json: { code: "authentication-required" } });
    const renamed = await ask(handler, "PATCH /agui/threads/t", { body: { name: " Trip " } });
    expect(renamed.json).toMatchObject({ id: "t", name: "Trip", archived: false });
  });

  test.for<[string, unknown, string]>([
    ["without a change", { agentId: "default" }, "An update needs a name"],
    ["with a blank name", { name: "  " }, "name"],
    ["with a name that is too long", { name: "x".repeat(201) }, "name"],
    ["with a number for a name", { name: 7 }, "name"],
    ["that is archived by a word", { archived: "yes" }, "archived"],
  ])("is not changed %s", async ([, body, word]) => {
    const handler = createHandler(createStage());
    await ask(handler, run, { body: input("t", "hi") });
    const answer = await ask(handler, "PATCH /agui/threads/t", { body });
    expect(answer.status).toBe(400);
    expect(answer.json.message).toContain(word);
  });

  test("comes out of the archive again, and loses its name on request", async () => {
    const handler = createHandler(createStage());
    await ask(handler, run, { body: input("t", "hi") });
    await ask(handler, "PATCH /agui/threads/t", { body: { name: "Trip" } });
    await ask(handler, "POST /agui/threads/t/archive", { body: { agentId: "default" } });
    const list = async (): Promise<unknown> =>
      (await ask(handler, "GET /agui/threads")).json.threads;
    expect(await list()).toEqual([]);
    await ask(handler, "PATCH /agui/threads/t", { body: { archived: false } });
    expect(await list()).toMatchObject([{ id: "t", name: "Trip" }]);
    await ask(handler, "PATCH /agui/threads/t", { body: { name: null } });
    expect(await list()).toMatchObject([{ id: "t", name: null }]);
  });

  test("keeps its place in a list when it gets a name, until it is used again", async () => {
    const clock = fakeClock();
    const sessions = memorySessions({ clock });
    const handler = createHandler(createStage(), { sessions, clock });
    const lastRun = async (): Promise<unknown> => {
      const { json } = await ask(handler, "GET /agui/threads");
      return (json.threads as { lastRunAt: string }[])[0]?.lastRunAt;
    };
    await ask(handler, run, { body: input("t", "hi") });
    const first = await lastRun();
    await clock.advance(60_000);
    await ask(handler, "PATCH /agui/threads/t", { body: { name: "Trip" } });
    await clock.advance(60_000);
    await ask(handler, "POST /agui/threads/t/archive", { body: {} });
    await ask(handler, "PATCH /agui/threads/t", { body: { archived: false } });
    expect(await lastRun()).toBe(first);
    await ask(handler, run, { body: input("t", "again") });
    expect(Date.parse(String(await lastRun()))).toBe(Date.parse(String(first)) + 120_000);
  });

  test("that is deleted stops its agent", async () => {
    const stage = createStage();
    const { handler, answered } = await begin(stage, "t");
    const { json } = await ask(handler, "DELETE /agui/threads/t", { body: {} });
    expect(json).toEqual({ threadId: "t", deleted: true });
    await answered;
    expect(stage.aborted).toEqual(["stopped"]);
    expect((await ask(handler, connect, { body: { threadId: "t" } })).text).toBe("");
    expect((await ask(handler, "DELETE /agui/threads/t")).status).toBe(404);
  });

  test("is open to the inspector", async () => {
    const handler = createHandler(createStage());
    const tools = [{ name: "setColor", description: "Paints.", parameters: {} }];
    const called = await ask(handler, run, { body: input("t", "paint", { tools }) });
    const callId = called.events.find(({ type }) => type === "TOOL_CALL_START")?.toolCallId;
    const { json } = await ask(handler, "GET /agui/threads/t/messages");
    expect(json.messages).toMatchObject([
      { id: "u-paint", role: "user", content: "paint" },
      { role: "assistant", content: "Let me see." },
      {
        role: "assistant",
        toolCalls: [{ id: callId, name: "setColor", args: '{"color":"teal"}' }],
      },
    ]);
    expect((await ask(handler, "GET /agui/threads/t/state")).json).toEqual({ state: { turns: 1 } });
    const { events } = (await ask(handler, "GET /agui/threads/t/events")).json as {
      events: { type: string }[];
    };
    expect(events[0]).toMatchObject({ type: "RUN_STARTED", threadId: "t" });
    for (const part of ["messages", "state", "events"]) {
      expect((await ask(handler, `GET /agui/threads/none/${part}`)).status).toBe(404);
    }
  });
});

describe("a list of threads", () => {
  test("passes over what is archived, page by page", async () => {
    const handler = createHandler(createStage());
    for (let index = 0; index < 8; index++) {
      await ask(handler, run, { body: input(`t-${index}`, "hi") });
      if (index % 2 === 0)
        await ask(handler, `POST /agui/threads/t-${index}/archive`, { body: {} });
    }
    const seen: string[] = [];
    let cursor: string | null = null;
    do {
      const next: string = cursor === null ? "" : `&cursor=${encodeURIComponent(cursor)}`;
      const { json } = await ask(handler, `GET /agui/threads?agentId=default&limit=3${next}`);
      const page = json as { threads: { id: string }[]; nextCursor: string | null };
      expect(page.threads.length).toBeLessThanOrEqual(3);
      seen.push(...page.threads.map(({ id }) => id));
      cursor = page.nextCursor;
    } while (cursor !== null);
    expect(seen.sort()).toEqual(["t-1", "t-3", "t-5", "t-7"]);
  });

  test("holds the threads of one agent, whatever it is called", async () => {
    const stage = createStage();
    const handler = createAgentHandler(
      { main: stage.agent, other: stage.agent },
      { logger: silentLogger, protocols: [copilotkit()], authenticate: () => ({ id: "ada" }) },
    );
    await ask(handler, run, { body: input("t-main", "hi") });
    await ask(handler, "POST /agui/agent/other/run", { body: input("t-other", "hi") });
    const ids = async (agentId: string): Promise<string[]> => {
      const { json } = await ask(handler, `GET /agui/threads?agentId=${agentId}`);
      return (json.threads as { id: string }[]).map(({ id }) => id);
    };
    expect(await ids("default")).toEqual(["t-main"]);
    expect(await ids("main")).toEqual(["t-main"]);
    expect(await ids("other")).toEqual(["t-other"]);
    await handler.close();
  });

  test.for(["limit=0", "limit=101", "limit=many", "includeArchived=maybe", "cursor=nowhere"])(
    "is refused for ?%s",
    async (query) => {
      const { status, json } = await ask(
        createHandler(createStage()),
        `GET /agui/threads?${query}`,
      );
      expect({ status, code: json.code }).toEqual({ status: 400, code: "invalid-request" });
    },
  );

  test("is empty for a user who has none", async () => {
    const handler = createHandler(createStage(), { authenticate: byHeader });
    await ask(handler, run, { body: input("t", "hi"), headers: { "x-user": "ada" } });
    const { json } = await ask(handler, "GET /agui/threads", { headers: { "x-user": "bob" } });
    expect(json).toEqual({ threads: [], nextCursor: null });
    expect((await ask(handler, "GET /agui/threads")).status).toBe(401);
  });
});
