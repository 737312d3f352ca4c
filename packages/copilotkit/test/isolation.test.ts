import { describe, expect, test } from "vitest";
import { createStage } from "./_agent.ts";
import { byHeader, createHandler } from "./_host.ts";
import { ask, input } from "./_wire.ts";

/** What a request with somebody else's ids may come to. */
type Outcome = "creates" | "is not found" | "shows nothing";

const run = "POST /agui/agent/default/run";

/** Every operation, on Zoe's thread. A new one has no line here, and fails the first test. */
const attempts: Readonly<Record<string, readonly [string, unknown, Outcome]>> = {
  "POST /agui": [
    "POST /agui",
    {
      method: "resource/request",
      params: { path: "/threads/t", httpMethod: "DELETE" },
    },
    "is not found",
  ],
  "GET /agui/info": ["GET /agui/info", undefined, "shows nothing"],
  "POST /agui/agent/:agentId/run": [run, input("t", "hi"), "creates"],
  "POST /agui/agent/:agentId/connect": [
    "POST /agui/agent/default/connect",
    { threadId: "t" },
    "shows nothing",
  ],
  "POST /agui/agent/:agentId/suggest": [
    "POST /agui/agent/default/suggest",
    input("t", "hi"),
    "shows nothing",
  ],
  "POST /agui/agent/:agentId/stop/:threadId": [
    "POST /agui/agent/default/stop/t",
    { runId: "r-t-wait" },
    "shows nothing",
  ],
  "GET /agui": ["GET /agui?threadId=t", undefined, "shows nothing"],
  "GET /agui/threads": ["GET /agui/threads", undefined, "shows nothing"],
  "PATCH /agui/threads/:threadId": ["PATCH /agui/threads/t", { name: "Mine" }, "is not found"],
  "DELETE /agui/threads/:threadId": ["DELETE /agui/threads/t", undefined, "is not found"],
  "POST /agui/threads/:threadId/archive": ["POST /agui/threads/t/archive", {}, "is not found"],
  "GET /agui/threads/:threadId/messages": [
    "GET /agui/threads/t/messages",
    undefined,
    "is not found",
  ],
  "GET /agui/threads/:threadId/events": ["GET /agui/threads/t/events", undefined, "is not found"],
  "GET /agui/threads/:threadId/state": ["GET /agui/threads/t/state", undefined, "is not found"],
};

describe("the thread of another user", () => {
  test("is tried on every route there is", () => {
    const { routes } = createHandler(createStage(), { health: false, openapi: false }).info() as {
      routes: string[];
    };
    // Those of AG-UI alone are tried where they are from.
    const own = routes.filter((route) => !route.includes("/runs/"));
    expect(Object.keys(attempts).sort()).toEqual(own.sort());
  });

  test.for(Object.keys(attempts))("is out of reach of %s", async (name) => {
    const stage = createStage();
    const handler = createHandler(stage, { authenticate: byHeader });
    const zoe = { "x-user": "zoe" };
    const answered = ask(handler, run, { body: input("t", "wait"), headers: zoe });
    await stage.waiting.opened;
    const key = { principal: "zoe", threadId: "t" };
    const before = await handler.sessions.get(key);

    const [route, body, outcome] = attempts[name]!;
    const answer = await ask(handler, route, { body, headers: { "x-user": "eve" } });
    expect(answer.status).toBe(outcome === "is not found" ? 404 : 200);
    expect(answer.text).not.toContain("first");
    expect(answer.text).not.toContain("zoe");
    const made = await handler.sessions.get({ principal: "eve", threadId: "t" });
    expect(made !== undefined).toBe(outcome === "creates");

    // Zoe notices nothing.
    expect(await handler.sessions.get(key)).toEqual(before);
    expect(stage.aborted).toEqual([]);
    stage.gate.open();
    expect((await answered).text).toContain("second");
  });
});
