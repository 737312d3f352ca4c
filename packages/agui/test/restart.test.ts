import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { sqliteSessions } from "@holodeck/agui-sessions/sqlite";
import { afterEach, expect, test } from "vitest";
import { createAgentHandler } from "../src/index.ts";
import type { AgentHandler, Message } from "../src/index.ts";
import { eventsOf, memoryLogger, post, say } from "./_helpers.ts";

const folder = mkdtempSync(join(tmpdir(), "agui-restart-"));
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** A server process, as far as its memory goes. */
function boot(): AgentHandler {
  return createAgentHandler(
    async (input, { state, session }) => {
      const turns = ((session.get("turns") as number | undefined) ?? 0) + 1;
      session.set("turns", turns);
      await state.set({ turns });
      return `${turns}: ${input.messages.map(({ content }) => content as string).join(" | ")}`;
    },
    {
      sessions: sqliteSessions({ path: join(folder, "threads.db") }),
      history: "server",
      logger: memoryLogger(),
    },
  );
}

test("a restarted server has every finished message, the state, and the last run to replay", async () => {
  const first = boot();
  const body = { threadId: "t", runId: "r1", messages: [say("one")], protocolVersion: "1.0" };
  const told = await (await first.fetch(post(body))).text();
  await first.close();

  const second = boot();
  const replay = new Request("http://test.local/agui/runs/r1/events?offset=0");
  const types = (await eventsOf(await second.fetch(replay))).map(({ type }) => type);
  expect(types).toEqual((await eventsOf(new Response(told))).map(({ type }) => type));
  await (await second.fetch(post({ ...body, runId: "r2", messages: [say("two")] }))).text();
  const session = await second.sessions.get({ principal: "", threadId: "t" });
  expect(session?.messages.map(({ content }) => (content ?? "") as Message["content"])).toEqual([
    "one",
    "1: one",
    "two",
    "2: one | 1: one | two",
  ]);
  expect(session).toMatchObject({ state: { turns: 2 }, lastRunId: "r2", messageCount: 4 });
  await second.close();
});
