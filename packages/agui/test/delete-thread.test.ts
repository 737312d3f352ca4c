import { copilotkit } from "@holodeck/agui-copilotkit";
import type { BaseEvent, RunContext, SessionStore } from "@holodeck/agui-core";
import { serve } from "@holodeck/agui-node";
import { rest, threads } from "@holodeck/agui-rest";
import { memorySessions } from "@holodeck/agui-sessions";
import { fakeClock } from "@holodeck/agui-testing";
import { afterEach, describe, expect, test } from "vitest";
import { agui, createAgentHandler } from "../src/index.ts";
import { deferred, eventsOf, memoryLogger, post, say } from "./_helpers.ts";
import { storeKinds } from "./_shared-stores.ts";

const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).toReversed()) await close();
});

// Each in the form of id that its protocol takes.
const uuid = "4a5fbc1e-3ab8-4f0f-8a39-9ad0ab7ccd23";
const ulid = "01M7KSY9EGH5WJ0PVC4HPKS6H5";
const routes = [
  ["DELETE /threads/:id", "/threads", uuid],
  ["DELETE /sessions/:id", "/sessions", ulid],
  ["DELETE of CopilotKit", "/agui/threads", "any-thread"],
] as const;

/** A server whose agent goes on until it is stopped, and then tries to say and to keep more. */
async function start(sessions: SessionStore, reasons: unknown[]): Promise<string> {
  async function agent(_: unknown, { emit, signal, session }: RunContext): Promise<void> {
    await emit.text("begun");
    await new Promise((resolve) => signal.addEventListener("abort", resolve));
    reasons.push((signal.reason as { code: unknown }).code);
    try {
      session.set("late", true);
      await emit.text("late");
    } catch {
      // The run has ended.
    }
  }
  const handler = createAgentHandler(agent, {
    sessions,
    logger: memoryLogger(),
    protocols: [agui(), copilotkit(), threads(), rest()],
  });
  const serving = await serve(handler, { port: 0, host: "127.0.0.1" });
  closers.push(() => serving.close());
  return `http://127.0.0.1:${serving.port}`;
}

const run = { runId: "r1", messages: [{ id: "q", ...say("go") }], protocolVersion: "1.0" };

for (const kind of storeKinds) {
  describe.for(routes)(`%s during a run on ${kind.name}`, ([, base, threadId]) => {
    const key = { principal: "", threadId };
    const path = `${base}/${encodeURIComponent(threadId)}`;
    test.for(["its own", "another"] as const)(
      "stops it, and every client of every process receives its end, through %s process",
      async (where, { skip }) => {
        const shared = await kind.open("threads that are deleted");
        if (!shared) return skip();
        closers.push(shared.close);
        const { owner, other = owner } = shared;
        const reasons: unknown[] = [];
        const here = await start(owner, reasons);
        const there = await start(other, reasons);
        const request = post({ ...run, threadId });
        const first = await fetch(`${here}/agui`, {
          method: "POST",
          headers: request.headers,
          body: await request.text(),
        });
        await expect.poll(async () => (await owner.runs.find("", "r1"))?.last).toBe(3);
        const followers = await Promise.all(
          [here, there, there].map((url, index) =>
            fetch(`${url}/agui/runs/r1/events${index < 2 ? "?offset=1" : ""}`),
          ),
        );
        const ends = [first, ...followers].map(eventsOf);
        const gone = await fetch((where === "its own" ? here : there) + path, { method: "DELETE" });
        expect(gone.status).toBeLessThan(300);
        for (const events of await Promise.all(ends)) {
          expect(events.filter(isEnd)).toHaveLength(1);
          expect(events.at(-1)).toMatchObject({
            type: "RUN_FINISHED",
            outcome: { type: "cancelled" },
          });
        }
        await expect.poll(() => reasons).toEqual(["stopped"]);
        for (const url of [here, there]) {
          expect((await fetch(`${url}/agui/runs/r1/events`)).status).toBe(404);
        }
        expect(await owner.get(key)).toBeUndefined();
        expect(await owner.runs.find("", "r1")).toBeUndefined();
        expect(await owner.runs.active(key)).toBeUndefined();
      },
    );
  });
}

function isEnd({ type }: BaseEvent): boolean {
  return type === "RUN_FINISHED" || type === "RUN_ERROR";
}

test("a run whose thread was deleted behind its back leaves the next run of that name alone", async () => {
  const key = { principal: "", threadId: "t" };
  const clock = fakeClock();
  const sessions = memorySessions({ clock });
  const gates = [deferred(), deferred()];
  const begun = [deferred(), deferred()];
  let calls = 0;
  const handler = createAgentHandler(
    async function* () {
      const call = calls++;
      yield { type: "TEXT_MESSAGE_START", messageId: `m${call}`, role: "assistant" };
      yield { type: "TEXT_MESSAGE_CONTENT", messageId: `m${call}`, delta: `answer ${call}` };
      yield { type: "TEXT_MESSAGE_END", messageId: `m${call}` };
      begun[call]!.resolve();
      await gates[call]!.promise;
    },
    { sessions, history: "server", clock, logger: memoryLogger() },
  );
  const first = await handler.fetch(post({ ...run, threadId: "t" }));
  await begun[0]!.promise;
  await sessions.delete(key);
  const second = await handler.fetch(post({ ...run, threadId: "t", runId: "r2" }));
  await begun[1]!.promise;
  gates[1]!.resolve();
  await second.text();
  const before = await sessions.get(key);
  expect(before).toMatchObject({ lastRunId: "r2" });
  gates[0]!.resolve();
  expect((await eventsOf(first)).at(-1)).toMatchObject({ type: "RUN_ERROR", code: "run-lost" });
  await clock.advance(1_000);
  expect(await sessions.get(key)).toEqual(before);
});
