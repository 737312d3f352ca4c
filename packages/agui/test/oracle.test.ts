import { HttpAgent } from "@ag-ui/client";
import type { AgentFunction, Message, RunContext } from "@holodeck/agui-core";
import { serve } from "@holodeck/agui-node";
import type { Serving } from "@holodeck/agui-node";
import { fakeClock } from "@holodeck/agui-testing";
import { HttpAgent as HttpAgent0 } from "ag-ui-client-0";
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from "vitest";
import { createAgentHandler } from "../src/index.ts";
import type { AgentHandler, AgentHandlerOptions } from "../src/index.ts";
import { deferred, memoryLogger } from "./_helpers.ts";
import type { Deferred } from "./_helpers.ts";
import { legacy, proto, sse } from "./_wires.ts";
import type { Wire } from "./_wires.ts";

interface Seen {
  readonly type: string;
  readonly [field: string]: unknown;
}

/** One thread of a real client. */
interface Talk {
  readonly client: HttpAgent;
  /** The events of every run so far, as a subscriber of the client gets them. */
  readonly seen: Seen[];
  run(parameters?: Parameters<HttpAgent["runAgent"]>[0]): Promise<Seen[]>;
}

interface TalkOptions {
  readonly threadId?: string;
  readonly messages?: readonly Message[];
}

function talk(wire: Wire, url: string, agentId: string, options: TalkOptions = {}): Talk {
  const config = {
    url: `${url}/agui`,
    ...(options.threadId === undefined ? {} : { threadId: options.threadId }),
    initialMessages: [...(options.messages ?? [])],
    // The stock client always asks for SSE and names no agent; only its `fetch` can.
    fetch: (address: string, init: RequestInit) => {
      const headers = new Headers(init.headers);
      headers.set("accept", wire.contentType);
      const body = JSON.stringify({ ...(JSON.parse(init.body as string) as object), agentId });
      return fetch(address, { ...init, headers, body });
    },
  };
  // Another copy of the same class; for what is used of it here the types are the same.
  const Client: typeof HttpAgent = wire.isLegacy ? Object(HttpAgent0) : HttpAgent;
  const client = new Client(config);
  const seen: Seen[] = [];
  return {
    client,
    seen,
    async run(parameters) {
      const from = seen.length;
      await client.runAgent(parameters, { onEvent: ({ event }) => void seen.push(event) });
      return seen.slice(from);
    },
  };
}

const textOf = (message: Message | undefined): string =>
  typeof message?.content === "string" ? message.content : "nothing";

const untilAborted = ({ signal }: RunContext): Promise<void> =>
  new Promise((resolve) => signal.addEventListener("abort", () => resolve()));

const picture = { type: "image", source: { type: "url", value: "https://example.org/a.png" } };
let half: Deferred;

const agents: Record<string, AgentFunction> = {
  async *text() {
    yield "Hello ";
    yield "wörld\n\n🌦";
  },
  async *parallel() {
    for (const id of ["c1", "c2"]) {
      yield { type: "TOOL_CALL_START", toolCallId: id, toolCallName: "look", parentMessageId: "m" };
    }
    for (const delta of ['{"at":', '"x"}']) {
      for (const id of ["c1", "c2"]) yield { type: "TOOL_CALL_ARGS", toolCallId: id, delta };
    }
    for (const id of ["c2", "c1"]) yield { type: "TOOL_CALL_END", toolCallId: id };
    yield { type: "TOOL_CALL_RESULT", messageId: "r2", toolCallId: "c2", content: "two" };
    yield {
      type: "TOOL_CALL_RESULT",
      messageId: "r1",
      toolCallId: "c1",
      content: [{ type: "text", text: "one" }, picture],
    };
  },
  async reasoning(_input, { emit }) {
    await emit.reasoning("The user ");
    await emit.reasoning("means Bern.");
    await emit.text("Bern.");
  },
  async state(_input, { state, emit }) {
    // Long enough for a patch to be the shorter way.
    await state.set({ steps: ["look", "say"], done: 0, note: "x".repeat(200) });
    await state.update<{ done: number }>((draft) => {
      draft.done++;
    });
    await state.patch([{ op: "add", path: "/steps/-", value: "rest" }]);
    await emit.text("ok");
  },
  async activity(_input, { emit }) {
    emit.activity("PLAN", { done: 0 }, { id: "a" });
    await emit.event({
      type: "ACTIVITY_DELTA",
      messageId: "a",
      activityType: "PLAN",
      patch: [{ op: "replace", path: "/done", value: 1 }],
    });
  },
  async steps(_input, { emit }) {
    await emit.step("outer", () => emit.step("inner", () => emit.custom("confetti", [null, 1])));
    await emit.raw({ any: "thing" }, "elsewhere");
  },
  async subagent(_input, { emit }) {
    await emit.subagent("helper", async (theirs) => {
      await theirs.step("look", () => theirs.text("found"));
    });
    await emit.text("done");
  },
  async interrupt(input, { emit }) {
    const answer = input.resume?.[0];
    if (answer)
      await emit.text(`${answer.interruptId}: ${answer.status} ${JSON.stringify(answer.payload)}`);
    else emit.interrupt({ id: "i", reason: "confirmation", message: "Send?" });
  },
  async frontend(input, { emit }) {
    const last = input.messages.at(-1);
    if (last?.role === "tool") await emit.text(`You said ${textOf(last)}.`);
    else emit.toolCall("confirm", { what: "all" }, { id: "c" });
  },
  async hang(_input, context) {
    await context.emit.text("half");
    half.resolve();
    await untilAborted(context);
  },
  async fail(_input, { emit }) {
    await emit.text("half");
    throw new Error("postgres://user:secret@db");
  },
  async count(input) {
    return `${input.messages.length}, last: ${textOf(input.messages.at(-1))}`;
  },
};

const unhandled: unknown[] = [];
const note = (reason: unknown): void => void unhandled.push(reason);
const servers: Serving[] = [];

beforeAll(() => {
  process.on("unhandledRejection", note);
  // The official client prints what it was told of failures.
  vi.spyOn(console, "error").mockImplementation(() => undefined);
});
afterEach(async () => {
  for (const { server, close } of servers.splice(0)) {
    const closed = close();
    // After an abort, Node's fetch opens a connection that it never uses.
    server.closeAllConnections();
    await closed;
  }
});
afterAll(() => {
  process.off("unhandledRejection", note);
  vi.restoreAllMocks();
});

async function start(
  options: AgentHandlerOptions = {},
): Promise<{ handler: AgentHandler; url: string }> {
  half = deferred();
  const handler = createAgentHandler(agents, { logger: memoryLogger(), ...options });
  const serving = await serve(handler, { port: 0, signals: false });
  servers.push(serving);
  return { handler, url: serving.url };
}

const namesOf = (events: readonly Seen[]): string[] => events.map(({ type }) => type);
const answerOf = ({ client }: Talk): unknown => client.messages.at(-1)?.content;

describe.for([sse, proto, legacy])("the official client of $name", (wire) => {
  const { isLegacy } = wire;

  test("reads text", async () => {
    const { url } = await start();
    const one = talk(wire, url, "text");
    const events = await one.run();
    expect(namesOf(events)).toEqual([
      "RUN_STARTED",
      "TEXT_MESSAGE_START",
      "TEXT_MESSAGE_CONTENT",
      "TEXT_MESSAGE_CONTENT",
      "TEXT_MESSAGE_END",
      "RUN_FINISHED",
    ]);
    expect(one.client.messages).toMatchObject([{ role: "assistant", content: "Hello wörld\n\n🌦" }]);
  });

  test("reads parallel tool calls and their results", async () => {
    const { url } = await start();
    const one = talk(wire, url, "parallel");
    await one.run();
    const call = { type: "function", function: { name: "look", arguments: '{"at":"x"}' } };
    const parts = isLegacy ? "one" : [{ type: "text", text: "one" }, picture];
    expect(one.client.messages).toEqual([
      {
        id: "m",
        role: "assistant",
        toolCalls: [
          { id: "c1", ...call },
          { id: "c2", ...call },
        ],
      },
      { id: "r2", role: "tool", toolCallId: "c2", content: "two" },
      { id: "r1", role: "tool", toolCallId: "c1", content: parts },
    ]);
  });

  test("reads reasoning", async () => {
    const { url } = await start();
    const one = talk(wire, url, "reasoning");
    await one.run();
    expect(one.client.messages).toMatchObject([
      { role: "reasoning", content: "The user means Bern." },
      { role: "assistant", content: "Bern." },
    ]);
  });

  test("reads a snapshot of the state and what changes it, and sends it back", async () => {
    const { url, handler } = await start();
    const one = talk(wire, url, "state", { threadId: "t" });
    const events = await one.run();
    expect(namesOf(events).filter((type) => type.startsWith("STATE_"))).toEqual([
      "STATE_SNAPSHOT",
      "STATE_DELTA",
      "STATE_DELTA",
    ]);
    expect(one.client.state).toMatchObject({ steps: ["look", "say", "rest"], done: 1 });
    const session = await handler.sessions.get({ principal: "", threadId: "t" });
    expect(session?.state).toEqual(one.client.state);
    await one.run();
    expect(one.client.state).toMatchObject({ steps: ["look", "say", "rest"], done: 1 });
  });

  test("reads an activity", async () => {
    const { url } = await start();
    const one = talk(wire, url, "activity");
    await one.run();
    expect(one.client.messages).toEqual([
      { id: "a", role: "activity", activityType: "PLAN", content: { done: 1 } },
    ]);
  });

  test("reads steps, custom and raw events", async () => {
    const { url } = await start();
    expect(await talk(wire, url, "steps").run()).toMatchObject([
      { type: "RUN_STARTED" },
      { type: "STEP_STARTED", stepName: "outer" },
      { type: "STEP_STARTED", stepName: "inner" },
      { type: "CUSTOM", name: "confetti", value: [null, 1] },
      { type: "STEP_FINISHED", stepName: "inner" },
      { type: "STEP_FINISHED", stepName: "outer" },
      { type: "RAW", event: { any: "thing" }, source: "elsewhere" },
      { type: "RUN_FINISHED" },
    ]);
  });

  test("reads the events of a subagent", async () => {
    const { url } = await start();
    const one = talk(wire, url, "subagent");
    const events = await one.run();
    expect(one.client.messages).toMatchObject([{ content: "found" }, { content: "done" }]);
    const theirs = namesOf(events).filter((type) => /^(SUBAGENT|STEP)_/.test(type));
    expect(theirs).toHaveLength(isLegacy ? 0 : 4);
  });

  test("is asked, and answers in the next run", async () => {
    const { url, handler } = await start();
    const one = talk(wire, url, "interrupt", { threadId: "t" });
    const asked = await one.run();
    expect(asked.at(-1)).toMatchObject({
      type: "RUN_FINISHED",
      outcome: {
        type: "interrupt",
        interrupts: [{ id: "i", reason: "confirmation", message: "Send?" }],
      },
    });
    const waiting = await handler.sessions.get({ principal: "", threadId: "t" });
    expect(waiting?.pending).toMatchObject([{ id: "i", kind: "interrupt" }]);
    await one.run({
      resume: [{ interruptId: "i", status: "resolved", payload: { approved: true } }],
    });
    expect(answerOf(one)).toBe('i: resolved {"approved":true}');
    const answered = await handler.sessions.get({ principal: "", threadId: "t" });
    expect(answered?.pending).toEqual([]);
  });

  test("answers a frontend tool in a second run", async () => {
    const { url } = await start();
    const one = talk(wire, url, "frontend");
    const tools = [{ name: "confirm", description: "Asks.", parameters: { type: "object" } }];
    const asked = await one.run({ tools });
    expect(asked.at(-1)?.outcome).toEqual(
      isLegacy ? undefined : { type: "success", pendingToolCallIds: ["c"] },
    );
    one.client.addMessage({ id: "t", role: "tool", toolCallId: "c", content: "yes" });
    await one.run({ tools });
    expect(answerOf(one)).toBe("You said yes.");
    expect(one.client.messages.map(({ role }) => role)).toEqual(["assistant", "tool", "assistant"]);
  });

  test("resolves when its run is stopped, and keeps half an answer", async () => {
    const { url, handler } = await start();
    const one = talk(wire, url, "hang");
    const running = one.run({ runId: "r" });
    await half.promise;
    expect(await handler.runs.stop("r")).toBe(true);
    const events = await running;
    expect(events.at(-1)).toMatchObject({
      type: "RUN_FINISHED",
      ...(isLegacy ? { result: { status: "cancelled" } } : { outcome: { type: "cancelled" } }),
    });
    expect(answerOf(one)).toBe("half");
    expect(await handler.runs.stop("r")).toBe(false);
  });

  test("resolves when it aborts the run itself, and the agent learns of it", async () => {
    const { url, handler } = await start();
    const one = talk(wire, url, "hang", { threadId: "t" });
    const running = one.run({ runId: "r" });
    await half.promise;
    await expect.poll(() => one.seen.some(({ delta }) => delta === "half")).toBe(true);
    one.client.abortRun();
    await running;
    await expect.poll(() => handler.runs.get("r")).toBeUndefined();
    const session = await handler.sessions.get({ principal: "", threadId: "t" });
    expect(session?.messages).toMatchObject([{ role: "assistant", content: "half" }]);
  });

  test("resolves when the agent fails, and learns nothing of why", async () => {
    const { url } = await start();
    const one = talk(wire, url, "fail");
    const events = await one.run();
    expect(events.at(-1)).toEqual({
      type: "RUN_ERROR",
      message: "The agent failed.",
      code: "agent-error",
    });
    expect(answerOf(one)).toBe("half");
  });

  test("resolves when the run takes too long", async () => {
    const clock = fakeClock();
    const { url } = await start({ clock, limits: { runTimeoutMs: 40 } });
    const one = talk(wire, url, "hang");
    const running = one.run();
    await half.promise;
    await clock.advance(40);
    const events = await running;
    expect(events.at(-1)).toMatchObject({ type: "RUN_ERROR", code: "timeout" });
    expect(answerOf(one)).toBe("half");
  });

  test("resolves when the server closes in mid-run", async () => {
    const { url, handler } = await start();
    const one = talk(wire, url, "hang");
    const running = one.run();
    await half.promise;
    await handler.close({ timeoutMs: 20 });
    const events = await running;
    expect(events.at(-1)).toMatchObject({ type: "RUN_ERROR", code: "shutting-down" });
    expect(answerOf(one)).toBe("half");
    await expect(one.run()).rejects.toMatchObject({ status: 503 });
  });

  test("brings a history of 200 messages", async () => {
    const { url, handler } = await start();
    const messages = Array.from({ length: 200 }, (_, index): Message => ({
      id: `m${index}`,
      role: index % 2 === 0 ? "user" : "assistant",
      content: `message ${index}`,
    }));
    const one = talk(wire, url, "count", { threadId: "t", messages });
    await one.run();
    expect(answerOf(one)).toBe("200, last: message 199");
    const session = await handler.sessions.get({ principal: "", threadId: "t" });
    expect(session?.messages).toEqual(one.client.messages);
  });

  test("gets an error for an agent that is not there", async () => {
    const { url } = await start();
    const one = talk(wire, url, "nobody");
    await expect(one.run()).rejects.toMatchObject({
      status: 404,
      message: expect.stringContaining("Agent 'nobody' is not loaded on this server"),
    });
    expect(one.seen).toEqual([]);
  });

  test("gets an error for a thread that is busy, and gets the thread when it is free", async () => {
    const { url, handler } = await start();
    const first = talk(wire, url, "hang", { threadId: "t" });
    const running = first.run({ runId: "r" });
    await half.promise;
    const second = talk(wire, url, "text", { threadId: "t" });
    await expect(second.run()).rejects.toMatchObject({
      status: 409,
      message: expect.stringContaining("thread-busy"),
    });
    void handler.runs.stop("r");
    await running;
    await second.run();
    expect(answerOf(second)).toBe("Hello wörld\n\n🌦");
  });

  test("leaves no unhandled rejection", async () => {
    // One more turn of the loop, in which a late one would show.
    await new Promise(setImmediate);
    expect(unhandled).toEqual([]);
  });
});
