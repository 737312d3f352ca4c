import { AgentError, EventType, mapEvents } from "@holodeck/agui-core";
import type { AgentFunction, Middleware } from "@holodeck/agui-core";
import { of, throwError } from "rxjs";
import { describe, expect, test, vi } from "vitest";
import { exampleRun, fakeClock, mockSink, runAgent, scriptedAgent, settle } from "../src/index.ts";

const hello: AgentFunction = async function* () {
  yield "Hello ";
  yield "world";
};

describe("runAgent", () => {
  test("shows in the sink what the agent sent", async () => {
    const sink = mockSink();
    await runAgent(hello, { message: "hi", sink });
    expect(sink.text).toBe("Hello world");
    expect(sink.outcome).toEqual({ type: "success" });
    expect(sink.error).toBeUndefined();
    expect(sink.ended).toBe(true);
  });

  test("resolves with the same record as the sink's", async () => {
    const sink = mockSink();
    expect(await runAgent(hello, { sink })).toBe(sink);
  });

  test("makes its own sink when it gets none", async () => {
    const { text, events } = await runAgent(hello);
    expect(text).toBe("Hello world");
    expect(events.map(({ type }) => type)).toEqual([
      "RUN_STARTED",
      "TEXT_MESSAGE_START",
      "TEXT_MESSAGE_CONTENT",
      "TEXT_MESSAGE_CONTENT",
      "TEXT_MESSAGE_END",
      "RUN_FINISHED",
    ]);
  });

  test("hands the agent everything it was given", async () => {
    const agent = scriptedAgent([]);
    const clientTools = [{ name: "ask", description: "Asks." }];
    const context = [{ description: "locale", value: "de" }];
    const resume = [{ interruptId: "i", status: "resolved" as const }];
    const messages = [{ id: "m", role: "assistant" as const, content: "Hi." }];
    await runAgent(agent, {
      message: "Go on.",
      messages,
      state: { count: 1 },
      clientTools,
      context,
      forwardedProps: { a: 1 },
      threadId: "t",
      runId: "r",
      resume,
    });
    expect(agent.inputs).toEqual([
      {
        threadId: "t",
        runId: "r",
        state: { count: 1 },
        messages: [...messages, { id: expect.any(String), role: "user", content: "Go on." }],
        tools: clientTools,
        context,
        forwardedProps: { a: 1 },
        resume,
      },
    ]);
  });

  test("refuses what is no agent, and options it does not have", async () => {
    const called = (async () => "Hello")();
    await expect(runAgent(called as never)).rejects.toThrow("agent, not agent()");
    await expect(runAgent(hello, { mesage: "hi" } as never)).rejects.toThrow(
      "mesage is not an option of runAgent. Did you mean message?",
    );
    await expect(runAgent(hello, "hi" as never)).rejects.toThrow('an object, not "hi"');
  });

  test("takes an Observable of strings", async () => {
    expect((await runAgent(() => of("Hello ", "world"))).text).toBe("Hello world");
  });

  test("takes every kind of agent", async () => {
    const event = { type: EventType.CUSTOM, name: "n", value: 1 };
    const observable = await runAgent(() => of(event));
    const object = await runAgent({ run: () => of(event) });
    const promise = await runAgent(async (_, { emit }) => {
      await emit.custom("n", 1);
    });
    const text = await runAgent(async () => "Hello");
    expect([observable, object, promise].map(({ custom }) => custom)).toEqual(
      Array.from({ length: 3 }, () => [{ name: "n", value: 1 }]),
    );
    expect(text.text).toBe("Hello");
  });

  test("resolves with the masked error of a run that failed", async () => {
    const { error, outcome, ended } = await runAgent(scriptedAgent(["a", { throw: secret }]));
    expect(error).toEqual({ code: "agent-error", message: "The agent failed." });
    expect(outcome).toBeUndefined();
    expect(ended).toBe(true);
  });

  test.for<[string, AgentFunction]>([
    ["a stream error", () => throwError(() => secret)],
    [
      "a synchronous throw",
      () => {
        throw secret;
      },
    ],
    ["a rejection", () => Promise.reject(secret)],
  ])("shows %s as it is with debug", async ([, agent]) => {
    const { error } = await runAgent(agent, { debug: true });
    expect(error?.message).toBe(secret.message);
  });

  test("fails a run that needed a repair, unless strict is false", async () => {
    const agent = scriptedAgent([{ type: "STEP_STARTED", stepName: "left open" }]);
    expect((await runAgent(agent)).error?.code).toBe("protocol-violation");
    const lenient = await runAgent(agent, { strict: false });
    expect(lenient.error).toBeUndefined();
    expect(lenient.events.map(({ type }) => type)).toContain("STEP_FINISHED");
  });

  test("gives server tools to the agent and records its calls", async () => {
    const invoke = vi.fn(({ city }: { city: string }) => ({ city, celsius: 18 }));
    const weather = { name: "weather", description: "The weather.", invoke } as never;
    const { toolCalls, text } = await runAgent(
      async (_, context) => {
        const result = (await context.callTool("weather", { city: "Bern" })) as { celsius: number };
        return `${result.celsius} °C`;
      },
      { tools: [weather] },
    );
    expect(text).toBe("18 °C");
    expect(toolCalls).toEqual([
      {
        id: expect.any(String),
        name: "weather",
        args: { city: "Bern" },
        argsText: '{"city":"Bern"}',
        result: '{"city":"Bern","celsius":18}',
      },
    ]);
  });

  test("runs middleware, outermost first", async () => {
    const mark = (name: string): Middleware =>
      mapEvents((event) =>
        event.type === EventType.TEXT_MESSAGE_CONTENT
          ? { ...event, delta: `${event.delta as string}${name}` }
          : event,
      );
    const { text } = await runAgent(async () => "-", { middleware: [mark("a"), mark("b")] });
    expect(text).toBe("-ba");
  });

  test("admits and runs handler middleware", async () => {
    const admit = vi.fn();
    const run = mapEvents((event) => event);
    await runAgent(hello, { runId: "r", middleware: [{ name: "mine", admit, run }] });
    expect(admit).toHaveBeenCalledWith(
      expect.objectContaining({ runId: "r" }),
      expect.objectContaining({ runId: "r" }),
    );
    const refuse = (): never => {
      throw new AgentError("rate-limited", "Later.");
    };
    const refused = runAgent(hello, { middleware: [{ name: "mine", admit: refuse }] });
    await expect(refused).rejects.toThrow("Later.");
  });

  test("cancels the run when its signal is aborted", async () => {
    const stop = new AbortController();
    const reasons: unknown[] = [];
    const sink = mockSink();
    const agent = scriptedAgent([
      "Hello",
      (_, { signal }) => signal.addEventListener("abort", () => reasons.push(signal.reason)),
      { hang: true },
    ]);
    const run = runAgent(agent, { signal: stop.signal, sink });
    await settle();
    expect(sink.ended).toBe(false);
    stop.abort();
    expect((await run).outcome).toEqual({ type: "cancelled" });
    expect(sink.text).toBe("Hello");
    expect(reasons).toMatchObject([{ code: "stopped" }]);
  });

  test("cancels at once when the signal was aborted before", async () => {
    const { outcome } = await runAgent(scriptedAgent([{ hang: true }]), {
      signal: AbortSignal.abort(),
    });
    expect(outcome).toEqual({ type: "cancelled" });
  });

  test("times out on the clock it is given", async () => {
    const clock = fakeClock();
    const limits = { runTimeoutMs: 1_000 };
    const run = runAgent(scriptedAgent([{ hang: true }]), { clock, limits });
    await clock.advance(1_000);
    expect((await run).error?.code).toBe("timeout");
    expect(clock.pending).toBe(0);
  });

  test("logs to the logger it is given", async () => {
    const logger = { debug: vi.fn(), info: vi.fn(), warn: vi.fn(), error: vi.fn() };
    await runAgent(scriptedAgent([{ throw: secret }]), { logger });
    expect(logger.error).toHaveBeenCalledWith(
      expect.objectContaining({ error: secret }),
      expect.any(String),
    );
  });

  test("refuses a sink that has been used", async () => {
    const sink = mockSink();
    await runAgent(hello, { sink });
    await expect(runAgent(hello, { sink })).rejects.toThrow("mockSink()");
  });

  test("carries every event without a repair", async () => {
    const { events } = await runAgent(scriptedAgent(exampleRun), {
      threadId: "thread-1",
      runId: "run-1",
    });
    expect(events).toEqual(exampleRun);
  });
});

const secret = new Error("connect postgres://user:pw@db");
