import type { SessionStore } from "@holodeck/agui-core";
import { memorySessions } from "@holodeck/agui-sessions";
import { expect, test } from "vitest";
import { createAgentHandler } from "../src/index.ts";

/** A store as its author may write it: a class, with what it needs in private members. */
class OwnStore implements SessionStore {
  readonly #inner = memorySessions();
  readonly runs = this.#inner.runs;

  get: SessionStore["get"] = (key) => this.#inner.get(key);

  create(...args: Parameters<SessionStore["create"]>): ReturnType<SessionStore["create"]> {
    return this.#inner.create(...args);
  }
  update(...args: Parameters<SessionStore["update"]>): ReturnType<SessionStore["update"]> {
    return this.#inner.update(...args);
  }
  delete(...args: Parameters<SessionStore["delete"]>): ReturnType<SessionStore["delete"]> {
    return this.#inner.delete(...args);
  }
  touch(...args: Parameters<SessionStore["touch"]>): ReturnType<SessionStore["touch"]> {
    return this.#inner.touch(...args);
  }
  list(...args: Parameters<SessionStore["list"]>): ReturnType<SessionStore["list"]> {
    return this.#inner.list(...args);
  }
  cleanupExpired(): ReturnType<SessionStore["cleanupExpired"]> {
    return this.#inner.cleanupExpired();
  }
  take(...args: Parameters<SessionStore["take"]>): ReturnType<SessionStore["take"]> {
    return this.#inner.take(...args);
  }
  close(): ReturnType<SessionStore["close"]> {
    return this.#inner.close();
  }
}

test.each([{}, { createSession: () => ({}) }])(
  "a store that is a class with private members serves every route, with %j",
  async (options) => {
    const handler = createAgentHandler(async () => "Hello", {
      ...options,
      sessions: new OwnStore(),
      authenticate: () => ({ id: "ann" }),
    });
    const ask = (method: string, path: string, body?: unknown): Promise<Response> =>
      handler.fetch(
        new Request(`http://localhost${path}`, {
          method,
          ...(body === undefined
            ? {}
            : { body: JSON.stringify(body), headers: { "content-type": "application/json" } }),
        }),
      );
    const message = { id: "m1", role: "user", content: "Hi" };
    const input = { threadId: "t1", runId: "r1", state: {}, tools: [], context: [] };
    const run = await ask("POST", "/agui", { ...input, forwardedProps: {}, messages: [message] });
    expect(await run.text()).toContain("RUN_FINISHED");
    const answers = await Promise.all([
      ask("GET", "/agui/threads/t1/events"),
      ask("GET", "/agui/threads"),
      ask("GET", "/agui/threads/t1/messages"),
      ask("GET", "/agui/runs/r1/events"),
      ask("GET", "/ready"),
    ]);
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200]);
    await Promise.all(answers.map((answer) => answer.text()));
    const removed = await ask("DELETE", "/agui/threads/t1");
    expect(removed.ok).toBe(true);
    expect((await ask("GET", "/agui/threads/t1/events")).status).toBe(404);
    await handler.close();
  },
);
