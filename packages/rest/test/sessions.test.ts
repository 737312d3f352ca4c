import type { AgentFunction } from "@holodeck/agui-core";
import { scriptedAgent } from "@holodeck/agui-testing";
import { describe, expect, test } from "vitest";
import { chat, deferred, framesOf, problemOf, serveRest, sessionId, shareRest } from "./_kit.ts";
import type { RestServer } from "./_kit.ts";

/** Answers with everything that was said before. */
const historian: AgentFunction = async (input) =>
  input.messages.map(({ role, content }) => `${role}: ${content as string}`).join(" | ");

const shared = shareRest(historian);

function remove(server: RestServer, id: string): Promise<Response> {
  return fetch(`${server.url}/sessions/${id}`, { method: "DELETE" });
}

describe("a session", () => {
  test("remembers the conversation, in both forms of the answer", async () => {
    const agent = scriptedAgent(["A1"], ["A2"], ["A3"]);
    const server = await serveRest(agent);
    const { session_id } = await chat(server, { message: "Q1" });
    const response = await server.post("/agent/helper/chat/stream", { message: "Q2", session_id });
    for await (const { event } of framesOf(response)) expect(event).not.toBe("error");
    await chat(server, { message: "Q3", session_id });
    expect(agent.inputs.map(({ messages }) => messages.map(({ content }) => content))).toEqual([
      ["Q1"],
      ["Q1", "A1", "Q2"],
      ["Q1", "A1", "Q2", "A2", "Q3"],
    ]);
    expect(new Set(agent.inputs.map(({ threadId }) => threadId))).toEqual(new Set([session_id]));
    expect(new Set(agent.inputs.map(({ runId }) => runId)).size).toBe(3);
  });

  test("is the same whichever case its id is written in", async () => {
    const server = await serveRest(historian);
    const { session_id } = await chat(server, { message: "one" });
    const lower = session_id.toLowerCase();
    const again = await chat(server, { message: "two", session_id: lower });
    expect(again.session_id).toBe(session_id);
    expect(again.content).toContain("user: one");
    const stream = await server.post("/agent/helper/chat/stream", {
      message: "three",
      session_id: lower,
    });
    expect(await stream.text()).toContain("user: two");
    const form = new FormData();
    form.append("message", "four");
    form.append("session_id", lower);
    const sent = await fetch(`${server.url}/agent/helper/chat`, { method: "POST", body: form });
    expect(((await sent.json()) as { session_id: string }).session_id).toBe(session_id);
    expect((await remove(server, lower)).status).toBe(204);
    expect((await chat(server, { message: "five", session_id })).content).toBe("user: five");
  });

  test("is the same for UUIDs, too", async () => {
    const server = await serveRest(historian, { rest: { idFormat: "uuid" } });
    const session_id = "0b6f4a52-0f3c-4a7e-9f53-2b1f0f7f9a11";
    await chat(server, { message: "one", session_id: session_id.toUpperCase() });
    expect((await chat(server, { message: "two", session_id })).content).toContain("user: one");
    expect((await remove(server, session_id.toUpperCase())).status).toBe(204);
    expect((await chat(server, { message: "three", session_id })).content).toBe("user: three");
  });

  test("knows nothing of another", async () => {
    const server = shared();
    await chat(server, { message: "mine" });
    expect((await chat(server, { message: "yours" })).content).toBe("user: yours");
  });

  test("outlives the request that made it", async () => {
    const data: unknown[] = [];
    let disposed = 0;
    const agent: AgentFunction = async (_, { session }) => void data.push(session.data);
    const server = await serveRest(agent, {
      createSession: () => ({ data: {}, dispose: () => void disposed++ }),
    });
    const { session_id } = await chat(server, { message: "one" });
    await chat(server, { message: "two", session_id });
    expect(data).toHaveLength(2);
    expect(data[0]).toBe(data[1]);
    expect(disposed).toBe(0);
    await remove(server, session_id);
    expect(disposed).toBe(1);
  });

  test("that is unknown begins empty, without an error", async () => {
    const server = shared();
    const answer = await chat(server, { message: "Hi", session_id: sessionId });
    expect(answer).toMatchObject({ content: "user: Hi", session_id: sessionId });
  });

  test("is reached by who made it only", async () => {
    const server = await serveRest(historian, {
      authenticate: ({ headers }) => ({ id: headers.get("authorization") ?? "nobody" }),
    });
    const say = async (who: string, message: string): Promise<string> => {
      const init = { headers: { authorization: who } };
      const body = { message, session_id: sessionId };
      const response = await server.post("/agent/helper/chat", body, init);
      return ((await response.json()) as { content: string }).content;
    };
    await say("ada", "mine");
    expect(await say("bob", "yours")).toBe("user: yours");
    // Bob's, and only Bob's.
    const init = { method: "DELETE", headers: { authorization: "bob" } };
    expect((await fetch(`${server.url}/sessions/${sessionId}`, init)).status).toBe(204);
    expect(await say("ada", "still?")).toContain("mine");
    expect(await say("bob", "still?")).toBe("user: still?");
  });
});

describe("deleting a session", () => {
  test("makes it forget everything", async () => {
    const server = shared();
    const { session_id } = await chat(server, { message: "old" });
    const key = { principal: "", threadId: session_id };
    expect(await server.handler.sessions.get(key)).toBeDefined();
    const response = await remove(server, session_id);
    expect(response.status).toBe(204);
    expect(await response.text()).toBe("");
    expect(await server.handler.sessions.get(key)).toBeUndefined();
    expect((await chat(server, { message: "new", session_id })).content).toBe("user: new");
  });

  test("succeeds when there is none", async () => {
    const server = shared();
    expect((await remove(server, sessionId)).status).toBe(204);
    expect((await remove(server, sessionId)).status).toBe(204);
  });

  test.for(["nonsense", "01ARZ3NDEKTSV4RRFFQ69G5FA", `${sessionId}0`, "..%2Fx", "%00"])(
    "refuses %s, which is no id",
    async (id) => {
      const server = shared();
      const response = await remove(server, id);
      expect(response.status).toBe(400);
      expect(await problemOf(response)).toMatchObject({
        code: "invalid-request",
        detail: "session_id must be valid ULID",
      });
    },
  );

  test("stops the run in it", async () => {
    const [begun, stopped] = [deferred(), deferred<unknown>()];
    const agent: AgentFunction = async function* (input, { signal }) {
      if (input.messages.length === 1 && input.messages[0]?.content === "new") {
        yield "fresh";
        return;
      }
      signal.addEventListener("abort", () => stopped.resolve(signal.reason));
      yield "Half";
      begun.resolve();
      await new Promise(() => undefined);
    };
    const server = await serveRest(agent);
    const body = { message: "old", session_id: sessionId };
    const first = chat(server, body);
    await begun.promise;
    expect((await remove(server, sessionId)).status).toBe(204);
    expect(await stopped.promise).toMatchObject({ code: "stopped" });
    expect(await first).toMatchObject({ content: "Half" });
    expect(await chat(server, { ...body, message: "new" })).toMatchObject({ content: "fresh" });
  });
});
