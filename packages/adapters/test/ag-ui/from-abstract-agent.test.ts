import { AbstractAgent, HttpAgent } from "@ag-ui/client";
import type { BaseEvent, RunAgentInput } from "@ag-ui/client";
import { createAgentHandler } from "@holodeck/agui";
import type { AgentHandler } from "@holodeck/agui";
import { silentLogger } from "@holodeck/agui-core";
import type { AgentLike } from "@holodeck/agui-core";
import { serve } from "@holodeck/agui-node";
import { runAgent, scriptedAgent } from "@holodeck/agui-testing";
import { AbstractAgent as OlderAbstractAgent, HttpAgent as OlderHttpAgent } from "ag-ui-client-0";
import { map, of } from "rxjs";
import { afterEach, describe, expect, test } from "vitest";
import { fromAbstractAgent } from "../../src/ag-ui/index.ts";
import { eventsOf, gate, post } from "../_helpers.ts";

const closers: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

/** An AG-UI server somewhere else: ours, behind a socket. */
async function upstream(agent: AgentLike): Promise<string> {
  const handler = createAgentHandler(agent, { logger: silentLogger });
  const serving = await serve(handler, { port: 0, signals: false });
  closers.push(serving.close);
  return `${serving.url}/agui`;
}

function gateway(agent: AgentLike): AgentHandler {
  const handler = createAgentHandler(agent, { logger: silentLogger });
  closers.push(() => handler.close({ timeoutMs: 50 }));
  return handler;
}

const ask = (handler: AgentHandler, input: object = {}): Promise<BaseEvent[]> =>
  handler.fetch(post(input)).then(eventsOf);

describe.for([
  { name: "1.0", Agent: HttpAgent },
  { name: "0.0.59", Agent: OlderHttpAgent },
])("a gateway to an HttpAgent $name", ({ name, Agent }) => {
  test("hands on history, state, tools, context and properties, and what comes back", async () => {
    const agent = scriptedAgent([
      "Hello",
      (_input, { state }) => state.set({ count: 2 }),
      (_input, { emit }) => void emit.toolCall("where", { exact: true }, { id: "call-1" }),
    ]);
    const url = await upstream(agent);
    const sink = await runAgent(fromAbstractAgent(new Agent({ url })), {
      message: "hi",
      messages: [
        { id: "1", role: "user", content: "one" },
        { id: "2", role: "assistant", content: "two" },
      ],
      state: { count: 1 },
      clientTools: [{ name: "where", description: "Where the user is.", parameters: {} }],
      context: [{ description: "place", value: "Bern" }],
      forwardedProps: { theme: "dark" },
      threadId: "thread-1",
      runId: "run-1",
    });
    expect(sink.error).toBeUndefined();
    expect(agent.inputs[0]).toMatchObject({
      threadId: "thread-1",
      runId: "run-1",
      messages: [{ content: "one" }, { content: "two" }, { content: "hi" }],
      state: { count: 1 },
      tools: [{ name: "where" }],
      context: [{ description: "place", value: "Bern" }],
      forwardedProps: { theme: "dark" },
    });
    expect(sink.text).toBe("Hello");
    expect(sink.state).toEqual({ count: 2 });
    // A client of that age cannot read what is pending, and the guard finds out by itself.
    expect(sink.events.at(-1)).toMatchObject({
      type: "RUN_FINISHED",
      ...(name === "1.0" ? { outcome: { pendingToolCallIds: ["call-1"] } } : {}),
    });
  });

  test("hands on a question, and its answer", async () => {
    const agent = scriptedAgent(
      [(_input, { emit }) => void emit.interrupt({ id: "q", reason: "input_required" })],
      [({ resume }) => JSON.stringify(resume![0]!.payload)],
    );
    const handler = gateway(fromAbstractAgent(new Agent({ url: await upstream(agent) })));
    const first = await ask(handler, { messages: [{ id: "1", role: "user", content: "hi" }] });
    expect(first.at(-1)).toMatchObject({ outcome: { interrupts: [{ id: "q" }] } });
    const resume = [{ interruptId: "q", status: "resolved", payload: { size: 7 } }];
    const second = await ask(handler, { runId: "r2", resume });
    expect(second.at(-1)).toMatchObject({ type: "RUN_FINISHED" });
    expect(agent.inputs[1]!.resume).toMatchObject(resume);
  });

  test("lets go of the run that is stopped, and of no other", async () => {
    const stopped = gate();
    const both = gate();
    let going = 0;
    const url = await upstream(async (_input, { signal, runId, emit }) => {
      void emit.text("a");
      if (++going === 2) both.open();
      await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve()));
      if (runId === "one") stopped.open();
      else going = -1;
    });
    const agent = fromAbstractAgent(new Agent({ url }));
    const stop = new AbortController();
    const other = new AbortController();
    const one = runAgent(agent, { threadId: "1", runId: "one", signal: stop.signal });
    const two = runAgent(agent, { threadId: "2", runId: "two", signal: other.signal });
    await both.opened;
    stop.abort();
    await stopped.opened;
    expect((await one).events.at(-1)).toMatchObject({ outcome: { type: "cancelled" } });
    expect(going).toBe(2);
    other.abort();
    expect((await two).events.at(-1)).toMatchObject({ outcome: { type: "cancelled" } });
  });

  test("keeps to itself what the server behind it answers instead of a run", async () => {
    const agent = new Agent({ url: "http://up.local/agui" });
    agent.fetch = async () => new Response("password hunter2", { status: 500 });
    const sink = await runAgent(fromAbstractAgent(agent));
    expect(sink.error).toMatchObject({ code: "agent-error" });
    expect(JSON.stringify(sink.events)).not.toContain("hunter2");
  });

  test("heeds the middleware the agent uses", async () => {
    const agent = new Agent({ url: await upstream(async () => "quiet") });
    const louder = (event: { type: string; delta?: unknown }): object =>
      typeof event.delta === "string" ? { ...event, delta: event.delta.toUpperCase() } : event;
    // oxlint-disable-next-line typescript/no-explicit-any
    const middleware = (input: any, next: any): any => next.run(input).pipe(map(louder as never));
    agent.use(middleware);
    const sink = await runAgent(fromAbstractAgent(agent));
    expect(sink.error).toBeUndefined();
    expect(sink.text).toBe("QUIET");
  });

  test("makes an agent for the user who asks", async () => {
    const seen: (string | null)[] = [];
    const url = await upstream(async (_input, { request }) => {
      seen.push(request!.headers.get("authorization"));
      return "ok";
    });
    const agent = fromAbstractAgent(
      (_input, { principal }) => new Agent({ url, headers: { authorization: principal!.id } }),
    );
    await runAgent(agent, { principal: { id: "ann" } });
    await runAgent(agent, { principal: { id: "bob" } });
    expect(seen).toEqual(["ann", "bob"]);
  });
});

describe.for([
  { name: "1.0", Base: AbstractAgent },
  { name: "0.0.59", Base: OlderAbstractAgent as unknown as typeof AbstractAgent },
])("an AbstractAgent $name", ({ Base }) => {
  class Counting extends Base {
    readonly greeting: string;
    count = 0;
    constructor(greeting: string) {
      super({ agentId: "counting", description: "Counts." });
      this.greeting = greeting;
    }
    run({ threadId, runId }: RunAgentInput): ReturnType<AbstractAgent["run"]> {
      this.count++;
      const said = `${this.greeting} ${this.count} ${this.messages.length} ${this.threadId}`;
      // Of another copy of rxjs than the client's, as it happens in the wild.
      return of(
        { type: "RUN_STARTED", threadId, runId },
        { type: "TEXT_MESSAGE_CHUNK", messageId: "m", role: "assistant", delta: said },
        { type: "RUN_FINISHED", threadId, runId },
      ) as never;
    }
  }

  test("has a copy of itself for each run, with the members of its class", async () => {
    const agent = fromAbstractAgent(new Counting("Hi"));
    expect(agent).toMatchObject({ name: "counting", description: "Counts." });
    for (const threadId of ["a", "b"]) {
      const sink = await runAgent(agent, { message: "x", threadId });
      expect(sink.error).toBeUndefined();
      expect(sink.text).toBe(`Hi 1 1 ${threadId}`);
    }
  });
});

test("names what it takes when it gets something else", () => {
  expect(() => fromAbstractAgent({} as never)).toThrow("takes an agent of @ag-ui/client");
  expect(() => fromAbstractAgent(of(1) as never)).toThrow("not what its run returns");
});
