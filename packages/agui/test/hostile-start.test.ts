import { memorySessions } from "@holodeck/agui-sessions";
import type { RunContext } from "@holodeck/agui-core";
import { describe, expect, test } from "vitest";
import { createAgentHandler } from "../src/index.ts";
import { deferred, eventsOf, memoryLogger, post, typesOf } from "./_helpers.ts";

const hello = async function* (): AsyncGenerator<string> {
  yield "Hello";
};
const codeOf = async (response: Response): Promise<unknown> =>
  ((await response.json()) as { code: unknown }).code;
const untilAborted = ({ signal }: RunContext): Promise<void> =>
  new Promise((resolve) => signal.addEventListener("abort", () => resolve()));

describe("a start that fails half-way", () => {
  test("frees the thread when what the host shows of a session throws", async () => {
    let fails = true;
    const { fetch, runs } = createAgentHandler(hello, {
      logger: memoryLogger(),
      exposeSessionState: () => {
        if (fails) throw new Error("secret");
        return {};
      },
    });
    const refused = await fetch(post({ threadId: "t", messages: [] }));
    expect(refused.status).toBe(500);
    expect(await refused.text()).not.toContain("secret");
    fails = false;
    expect(runs.list()).toEqual([]);
    const events = await eventsOf(await fetch(post({ threadId: "t", messages: [] })));
    expect(typesOf(events).at(-1)).toBe("RUN_FINISHED");
  });

  test("frees the thread when the store cannot listen for commands", async () => {
    const sessions = memorySessions();
    const commands = sessions.runs.commands.bind(sessions.runs);
    sessions.runs.commands = () => {
      throw new Error("broken");
    };
    const { fetch, runs } = createAgentHandler(hello, { logger: memoryLogger(), sessions });
    expect((await fetch(post({ threadId: "t", messages: [] }))).status).toBe(500);
    sessions.runs.commands = commands;
    expect(runs.list()).toEqual([]);
    expect((await fetch(post({ threadId: "t", messages: [] }))).status).toBe(200);
  });
});

describe("requests at the same moment", () => {
  test("are counted against maxConcurrentRuns while they are on their way", async () => {
    const { fetch, close } = createAgentHandler((_input, context) => untilAborted(context), {
      logger: memoryLogger(),
      limits: { maxConcurrentRuns: 2 },
      middleware: [{ name: "slow", admit: () => new Promise((resolve) => setImmediate(resolve)) }],
    });
    const all = await Promise.all(Array.from({ length: 6 }, () => fetch(post({ messages: [] }))));
    expect(all.map(({ status }) => status).sort((a, b) => a - b)).toEqual([
      200, 200, 429, 429, 429, 429,
    ]);
    await close({ timeoutMs: 50 });
  });

  test("give back their place when they are refused", async () => {
    const { fetch } = createAgentHandler(hello, {
      logger: memoryLogger(),
      limits: { maxConcurrentRuns: 1, maxSessions: 1 },
    });
    await eventsOf(await fetch(post({ threadId: "one", messages: [] })));
    expect((await fetch(post({ threadId: "two", messages: [] }))).status).toBe(429);
    expect((await fetch(post({ threadId: "one", messages: [] }))).status).toBe(200);
  });

  test("for one new thread: one runs, the other gets 409 because the thread is busy", async () => {
    const { fetch, close } = createAgentHandler((_input, context) => untilAborted(context), {
      logger: memoryLogger(),
    });
    const all = await Promise.all([
      fetch(post({ threadId: "t", runId: "1", messages: [] })),
      fetch(post({ threadId: "t", runId: "2", messages: [] })),
    ]);
    const refused = all.filter(({ status }) => status === 409);
    expect(refused).toHaveLength(1);
    expect(await codeOf(refused[0]!)).toBe("thread-busy");
    await close({ timeoutMs: 50 });
  });

  test("find the state that the run they replace has left", async () => {
    const states: unknown[] = [];
    const started = deferred();
    let first = true;
    const { fetch } = createAgentHandler(
      async (input, context) => {
        states.push(input.state);
        if (!first) return;
        first = false;
        void context.state.set({ step: 1 });
        context.session.set("key", "value");
        started.resolve();
        await untilAborted(context);
      },
      { logger: memoryLogger(), onDisconnect: "continue" },
    );
    const leaving = await fetch(post({ threadId: "t", messages: [] }));
    await started.promise;
    await leaving.body!.cancel();
    await eventsOf(await fetch(post({ threadId: "t", messages: [] })));
    expect(states).toEqual([{}, { step: 1 }]);
  });
});

describe("the store", () => {
  test("stops being listened to for commands when a run has ended", async () => {
    const sessions = memorySessions();
    const commands = sessions.runs.commands.bind(sessions.runs);
    let listening = 0;
    sessions.runs.commands = (lease, on) => {
      listening++;
      const forget = commands(lease, on);
      return () => {
        listening--;
        forget();
      };
    };
    const { fetch } = createAgentHandler(hello, { logger: memoryLogger(), sessions });
    await eventsOf(await fetch(post({ threadId: "t", messages: [] })));
    expect(listening).toBe(0);
  });
});
