import { setImmediate as nextTurn, setTimeout as delay } from "node:timers/promises";
import type { RunLog, SessionStore } from "@holodeck/agui-core";
import { memorySessions } from "@holodeck/agui-sessions";
import { fakeClock } from "@holodeck/agui-testing";
import type { FakeClock } from "@holodeck/agui-testing";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { createAgentHandler } from "../src/index.ts";
import type { AgentHandler } from "../src/index.ts";
import { memoryLogger } from "./_helpers.ts";

// Typed by the contracts, so that a new call cannot be forgotten here.
const sessionCalls: Readonly<Record<keyof Omit<SessionStore, "runs" | "blobs">, true>> = {
  get: true,
  create: true,
  update: true,
  delete: true,
  touch: true,
  list: true,
  cleanupExpired: true,
  count: true,
  take: true,
  close: true,
};
const logCalls: Readonly<Record<keyof RunLog, true>> = {
  open: true,
  append: true,
  close: true,
  find: true,
  active: true,
  read: true,
  follow: true,
  watchers: true,
  send: true,
  requestStop: true,
  commands: true,
};

type Calls = Record<string, (...args: unknown[]) => unknown>;

const ways = {
  "always throws": () => {
    throw new Error("planted");
  },
  "always rejects": () => Promise.reject(new Error("planted")),
  "never answers": () => new Promise(() => undefined),
  "fails once": () => Promise.reject(new Error("planted")),
};
type Way = keyof typeof ways;

const calls = [
  ...Object.keys(sessionCalls).map((name) => ({ name, part: "sessions" as const })),
  ...Object.keys(logCalls).map((name) => ({ name, part: "runs" as const })),
];
const table = calls.flatMap(({ name, part }) =>
  (Object.keys(ways) as Way[])
    // Listening to commands is not a call that is waited for.
    .filter((way) => name !== "commands" || way === "always throws")
    .map((way) => ({ title: `${part}.${name} ${way}`, name, part, way })),
);

/** A store in memory with one call that fails while it is broken, in the way that is planted. */
function faultyStore(part: "sessions" | "runs", name: string, way: Way) {
  const store = memorySessions();
  const fault = { isBroken: true };
  const target = (part === "runs" ? store.runs : store) as unknown as Calls;
  const original = target[name]!;
  target[name] = (...args) => {
    if (!fault.isBroken) return original.apply(target, args);
    if (way === "fails once") fault.isBroken = false;
    return name === "follow" ? failingFollow(way) : ways[way]();
  };
  return { store, fault };
}

function failingFollow(way: Way): AsyncIterable<never> {
  const next = async (): Promise<IteratorResult<never>> => {
    await ways[way]();
    return { done: true, value: undefined };
  };
  return { [Symbol.asyncIterator]: () => ({ next }) };
}

const uuid = "0b3c8a52-6f5e-4c1d-9a55-3a1a7b0d9a11";
const say = [{ id: "m1", role: "user", content: "hi", parts: [{ type: "text", text: "hi" }] }];

function toRequest(method: string, path: string, body?: object): Request {
  return new Request(`http://test.local${path}`, {
    method,
    headers: { "content-type": "application/json" },
    ...(body ? { body: JSON.stringify(body) } : {}),
  });
}

function run(threadId: string, runId: string): Request {
  const rest = { messages: say, tools: [], context: [], state: {}, forwardedProps: {} };
  return toRequest("POST", "/agui", { threadId, runId, ...rest });
}

/** The requests of one client, one after the other. */
const requests: Readonly<Record<string, () => Request>> = {
  "a run": () => run(uuid, "r1"),
  "the next run of the thread": () => run(uuid, "r2"),
  "a copy of the first": () => run(uuid, "r1"),
  "a run of another thread": () => run("t2", "r3"),
  "a turn over REST": () => toRequest("POST", "/chat", { message: "hi", thread_id: uuid }),
  "a turn over the threads protocol": () =>
    toRequest("POST", "/agent/default/chat", { thread_id: uuid, message: "hi" }),
  "a completion": () => toRequest("POST", "/v1/chat/completions", { model: "x", messages: say }),
  "the list of threads": () => toRequest("GET", "/sessions"),
  "the messages": () => toRequest("GET", `/agui/threads/${uuid}/messages`),
  "a stop": () => toRequest("POST", `/agui/agent/default/stop/${uuid}`, {}),
  "its end": () => toRequest("DELETE", `/sessions/${uuid}`),
};

/** Reads the response whole, while the time of the server passes and nothing else does. */
async function ask(handler: AgentHandler, clock: FakeClock, request: Request): Promise<string> {
  let head: number | undefined;
  let text: string | undefined;
  const asked = (async () => {
    const response = await handler.fetch(request);
    head = response.status;
    text = `${head} ${await response.text()}`;
  })();
  // More than a run may take to be acknowledged, a call to the store, and a run that is asked to stop, together.
  for (let second = 0; second < 60 && text === undefined; second++) {
    for (let turn = 0; turn < 20 && text === undefined; turn++) await nextTurn();
    if (text === undefined) await clock.advance(1_000);
  }
  // What a busy machine does meanwhile takes real time.
  if (text === undefined) await Promise.race([asked, delay(10_000)]);
  if (text === undefined) return head === undefined ? "no answer" : `${head}, no end`;
  await asked;
  return text;
}

const unhandled: unknown[] = [];
const note = (reason: unknown): void => void unhandled.push(reason);
beforeAll(() => void process.on("unhandledRejection", note));
afterAll(() => void process.off("unhandledRejection", note));

describe("a store of which one call fails", { timeout: 60_000 }, () => {
  test.for(table)("$title: every request is answered", async ({ part, name, way }) => {
    const clock = fakeClock();
    const { store, fault } = faultyStore(part, name, way);
    const handler = createAgentHandler(async () => "hello", {
      sessions: store,
      clock,
      logger: memoryLogger(),
    });
    onTestFinished(() => void handler.close({ timeoutMs: 0 }));
    const answers: Record<string, string> = {};
    for (const [title, request] of Object.entries(requests)) {
      answers[title] = (await ask(handler, clock, request())).slice(0, 12);
    }
    expect(answers).toEqual(
      Object.fromEntries(
        Object.keys(requests).map((title) => [title, expect.stringMatching(/^[2345]\d\d /)]),
      ),
    );
    // It works again afterwards, on a thread that it has not failed for.
    fault.isBroken = false;
    expect(await ask(handler, clock, run("t9", "r9"))).toMatch(/^200 .*RUN_FINISHED/s);
    await nextTurn();
    expect(unhandled).toEqual([]);
  });

  test("an end that could not be stored twice frees its thread a moment later", async () => {
    const clock = fakeClock();
    const store = memorySessions();
    const { close } = store.runs;
    let failures = 0;
    store.runs.close = (...args) => {
      if (++failures <= 2) throw new Error("planted");
      return close.apply(store.runs, args);
    };
    const handler = createAgentHandler(async () => "hello", {
      sessions: store,
      clock,
      logger: memoryLogger(),
      onBusy: "reject",
    });
    onTestFinished(() => void handler.close({ timeoutMs: 0 }));
    expect(await ask(handler, clock, run(uuid, "r1"))).toMatch(/^200 .*store-unavailable/s);
    await clock.advance(1_000);
    expect(await ask(handler, clock, run(uuid, "r2"))).toMatch(/^200 .*RUN_FINISHED/s);
  });

  test.for([
    { onBusy: "reject", failures: Infinity, status: 409, within: 1_000 },
    { onBusy: "replace", failures: Infinity, status: 409, within: 11_000 },
    // Tried at once, and then after a quarter of a second, one, three and eight.
    { onBusy: "replace", failures: 4, status: 200, within: 5_000 },
  ] as const)(
    "after an end that fails $failures times, the next run of the thread is a $status within $within ms ($onBusy)",
    async ({ onBusy, failures, status, within }) => {
      const clock = fakeClock();
      const store = memorySessions();
      const { close } = store.runs;
      let closes = 0;
      store.runs.close = (...args) => {
        if (++closes <= failures) throw new Error("planted");
        return close.apply(store.runs, args);
      };
      const logger = memoryLogger();
      const handler = createAgentHandler(async () => "hello", {
        sessions: store,
        clock,
        logger,
        onBusy,
      });
      onTestFinished(() => void handler.close({ timeoutMs: 0 }));
      expect(await ask(handler, clock, run(uuid, "r1"))).toMatch(/^200 .*store-unavailable/s);
      const began = clock.now();
      expect(await ask(handler, clock, run(uuid, "r2"))).toMatch(new RegExp(`^${status} `));
      expect(clock.now() - began).toBeLessThanOrEqual(within);
    },
  );
});
