import { mockSink } from "@holodeck/agui-testing";
import { EventEmitter } from "node:events";
import { Observable } from "rxjs";
import { describe, expect, test, vi } from "vitest";
import { AgentError, compose, mapEvents, toAgent } from "../src/index.ts";
import type { AgentFunction, Emit, Logger, RunContext } from "../src/index.ts";
import { forever, setup, turn } from "./_hostile-kit.ts";
import { uncaughtDuring } from "./_uncaught.ts";

const input = { threadId: "t", runId: "r", messages: [], tools: [], context: [], state: {} };

/** A logger, and what it was warned of. */
function listen(): { logger: Logger; warnings: string[] } {
  const warnings: string[] = [];
  const warn = (_fields: object, message = ""): void => void warnings.push(message);
  return { logger: { debug: vi.fn(), info: vi.fn(), warn, error: vi.fn() }, warnings };
}

/** Starts an agent, stops its run, and lets what is left of it have its turn. */
async function stopped(agent: AgentFunction, layers = 0): Promise<readonly string[]> {
  const { logger, warnings } = listen();
  const middleware = Array.from({ length: layers }, () => mapEvents((event) => event));
  const { run } = setup(agent, { logger, init: { middleware } });
  const sink = mockSink();
  run.follow(sink.encoder, sink);
  for (let turns = 0; turns < 3; turns++) await turn();
  run.abort(new AgentError("stopped", "Enough."));
  await run.done;
  for (let turns = 0; turns < 20; turns++) await turn();
  return warnings;
}

const aborted = ({ signal }: RunContext): Promise<void> =>
  new Promise((resolve) => signal.addEventListener("abort", () => resolve()));

async function codeOf(work: () => unknown): Promise<unknown> {
  try {
    return await work();
  } catch (error) {
    return (error as AgentError).code;
  }
}

async function* words(): AsyncGenerator<string> {
  yield "{}";
}

describe("after the end of a run", () => {
  test("methods with a value return it, and do nothing", async () => {
    const seen: unknown[] = [];
    const sink = mockSink();
    const { run } = setup(async (_input, context) => {
      await aborted(context);
      const { emit, session, state } = context;
      seen.push(
        emit.toolCall("weather", {}, { id: "call" }),
        emit.activity("plan", {}, { id: "plan" }),
        emit.interrupt({ id: "question", reason: "input_required" }),
        emit.message({ id: "message" }).id,
        emit.usage({ inputTokens: 1, outputTokens: 1 }),
        session.set("key", 1),
        session.get("key"),
        state.get(),
      );
      seen.push(typeof emit.toolCall("weather"), typeof emit.activity("plan", {}));
    });
    run.follow(sink.encoder, sink);
    await turn();
    run.abort(new AgentError("stopped", "Enough."));
    const { usage } = await run.done;
    await turn();
    expect(seen).toEqual([
      "call",
      "plan",
      "question",
      "message",
      undefined,
      undefined,
      undefined,
      {},
      "string",
      "string",
    ]);
    expect(usage).toEqual([]);
    expect(sink.events.map(({ type }) => type)).toEqual(["RUN_STARTED", "RUN_FINISHED"]);
  });

  const methods: Record<string, (context: RunContext) => unknown> = {
    "emit.text": ({ emit }) => emit.text("x"),
    "emit.reasoning": ({ emit }) => emit.reasoning("x"),
    "emit.message().text": ({ emit }) => emit.message().text("x"),
    "emit.message().end": ({ emit }) => emit.message().end(),
    "emit.toolCall, streamed": ({ emit }) => emit.toolCall("weather", words()),
    "emit.toolResult": ({ emit }) => emit.toolResult("call", "x"),
    "emit.step": ({ emit }) => emit.step("x", () => 1),
    "emit.messages": ({ emit }) => emit.messages([]),
    "emit.predictState": ({ emit }) => emit.predictState([]),
    "emit.custom": ({ emit }) => emit.custom("x", 1),
    "emit.raw": ({ emit }) => emit.raw({}),
    "emit.subagent": ({ emit }) => emit.subagent("x", () => 1),
    "emit.event": ({ emit }) => emit.event({ type: "CUSTOM", name: "x" }),
    "state.set": ({ state }) => state.set({ a: 1 }),
    "state.update": ({ state }) => state.update<{ a: number }>((draft) => void (draft.a = 1)),
    "state.patch": ({ state }) => state.patch([{ op: "remove", path: "/not/there" }]),
    "state.resync": ({ state }) => state.resync(),
    callTool: ({ callTool }) => callTool("weather"),
    callTools: ({ callTools }) => callTools([{ name: "weather", args: {} }]),
  };

  test.for(Object.entries(methods))(
    "%s rejects with run-ended where the agent awaits it",
    async ([, method]) => {
      for (const layers of [0, 1]) {
        let code: unknown;
        await stopped(async (_input, context) => {
          await aborted(context);
          code = await codeOf(() => method(context));
        }, layers);
        expect(code).toBe("run-ended");
      }
    },
  );

  const agents: Record<string, (over: () => void) => AgentFunction> = {
    "an async function":
      (over) =>
      async (_input, { emit }) => {
        try {
          for (;;) {
            await emit.text("x");
            await turn();
          }
        } finally {
          over();
        }
      },
    "a loop over a model":
      (over) =>
      async (_input, { emit }) => {
        const model = async function* (): AsyncGenerator<string> {
          try {
            for (;;) {
              await turn();
              yield "x";
            }
          } finally {
            over();
          }
        };
        for await (const delta of model()) await emit.text(delta);
      },
    "a helper":
      (over) =>
      async (_input, { emit }) => {
        const say = async (): Promise<void> => {
          await turn();
          await emit.text("x");
        };
        try {
          for (;;) await say();
        } finally {
          over();
        }
      },
    "a helper among others":
      (over) =>
      async (_input, { emit }) => {
        const say = async (): Promise<void> => {
          await turn();
          await emit.text("x");
        };
        try {
          for (;;) await Promise.all([say(), turn(), turn()]);
        } finally {
          over();
        }
      },
    "a chain of promises":
      (over) =>
      (_input, { emit }) => {
        const go = (): Promise<void> =>
          turn()
            .then(() => emit.text("x"))
            .then(go);
        return go().finally(over);
      },
    "a step":
      (over) =>
      async (_input, { emit }) => {
        try {
          await emit.step("speak", async () => {
            for (;;) {
              await turn();
              await emit.text("x");
            }
          });
        } finally {
          over();
        }
      },
    "a subagent":
      (over) =>
      async (_input, { emit }) => {
        try {
          await emit.subagent("speaker", async (own) => {
            for (;;) {
              await turn();
              await own.text("x");
            }
          });
        } finally {
          over();
        }
      },
    "a generator that emits": (over) =>
      async function* (_input, { emit }) {
        try {
          for (;;) {
            await turn();
            await emit.text("x");
            if (over.length > 1) yield "never";
          }
        } finally {
          over();
        }
      },
  };

  test.for(
    Object.entries(agents).flatMap(([name, make]) =>
      [0, 1].map((layers) => [name, layers, make] as const),
    ),
  )(
    "%s ends where it awaits, behind %i middleware, and nothing is logged",
    async ([, layers, make]) => {
      const over = vi.fn();
      expect(await stopped(make(over), layers)).toEqual([]);
      expect(over).toHaveBeenCalledOnce();
    },
  );

  test("a tool ends where it awaits", async () => {
    const over = vi.fn();
    const sink = mockSink();
    const invoke = async (_args: unknown, { emit }: RunContext): Promise<void> => {
      try {
        for (;;) {
          await turn();
          await emit.text("x");
        }
      } finally {
        over();
      }
    };
    const tools = [{ name: "talk", description: "", parameters: {}, invoke }];
    const context = { threadId: "t", runId: "r", tools };
    const { run } = setup(async (_input, { callTool }) => void (await callTool("talk")), {
      init: { context },
    });
    run.follow(sink.encoder, sink);
    await turn();
    run.abort(new AgentError("stopped", "Enough."));
    await run.done;
    for (let turns = 0; turns < 5; turns++) await turn();
    expect(over).toHaveBeenCalledOnce();
  });

  test("an agent that catches everything and goes on lets others have their turn", async () => {
    let calls = 0;
    await stopped(async (_input, { emit }) => {
      while (calls < 1_000_000) {
        calls++;
        try {
          await emit.text("x");
        } catch {
          continue;
        }
      }
    });
    expect(calls).toBeLessThan(100_000);
  });

  const listeners: Record<string, (context: RunContext, done: () => void) => void> = {
    "a listener of the agent's SDK": ({ emit }, done) => {
      const sdk = new EventEmitter().on("content", async (delta: string) => {
        await emit.text(delta);
        await emit.text(delta);
        done();
      });
      sdk.emit("content", "x");
    },
    "a timer": ({ emit }, done) => {
      setTimeout(async () => {
        await emit.text("x");
        await emit.text("y");
        done();
      }, 0);
    },
    "a promise that nothing awaits": ({ emit }, done) => {
      void Promise.resolve()
        .then(() => emit.text("x"))
        .then(() => emit.text("y"))
        .then(done);
    },
  };

  test.for(Object.entries(listeners))("%s is not rejected", async ([, listener]) => {
    const done = vi.fn();
    let settle!: (value: unknown) => void;
    const settled = new Promise((resolve) => (settle = resolve));
    let warnings: readonly string[] = [];
    const uncaught = await uncaughtDuring(async () => {
      warnings = await stopped(async (_input, context) => {
        await aborted(context);
        listener(context, () => settle(done()));
      });
      await settled;
    });
    expect(uncaught).toEqual([]);
    expect(done).toHaveBeenCalledOnce();
    expect(warnings).toHaveLength(1);
    expect(warnings[0]).toContain('Agent "default" called emit.text after its run "r" had ended');
  });

  test("a listener that needs the value of a call never goes on without it", async () => {
    const went = vi.fn();
    const uncaught = await uncaughtDuring(async () => {
      await stopped(async (_input, context) => {
        const { emit, callTool, callTools } = context;
        await aborted(context);
        const sdk = new EventEmitter()
          .on("call", async () => went(((await callTool("weather")) as string).length))
          .on("calls", async () => went((await callTools([]))[0]!.id))
          .on("step", async () => went((await emit.step("x", () => "value")).length))
          .on("agent", async () => went((await emit.subagent("x", () => "value")).length));
        for (const name of ["call", "calls", "step", "agent"]) sdk.emit(name);
      });
    });
    expect(uncaught).toEqual([]);
    expect(went).not.toHaveBeenCalled();
  });

  test("a listener whose call is aborted by the end is not rejected", async () => {
    const went = vi.fn();
    const invoke = (): Promise<never> => forever();
    const tools = [{ name: "slow", description: "", parameters: {}, invoke }];
    const uncaught = await uncaughtDuring(async () => {
      const sink = mockSink();
      const { run } = setup(
        async (_input, context) => {
          const sdk = new EventEmitter().on("call", async () => {
            await context.callTool("slow");
            went();
          });
          sdk.emit("call");
          await aborted(context);
        },
        { init: { context: { threadId: "t", runId: "r", tools } } },
      );
      run.follow(sink.encoder, sink);
      await turn();
      run.abort(new AgentError("stopped", "Enough."));
      await run.done;
      for (let turns = 0; turns < 5; turns++) await turn();
    });
    expect(uncaught).toEqual([]);
    expect(went).not.toHaveBeenCalled();
  });

  test("an Observable whose subscribe function is async is not rejected", async () => {
    const done = vi.fn();
    const uncaught = await uncaughtDuring(async () => {
      await stopped((_input, context) => {
        const speak = async (): Promise<void> => {
          await aborted(context);
          await context.emit.text("x");
          await context.emit.text("y");
          done();
        };
        return new Observable<string>(() => void speak());
      });
    });
    expect(uncaught).toEqual([]);
    expect(done).toHaveBeenCalledOnce();
  });

  test("the agent is found whatever the host does with stack traces, which stay as they are", async () => {
    const tracing = Error as { prepareStackTrace?: unknown; stackTraceLimit: number };
    const { prepareStackTrace, stackTraceLimit } = tracing;
    const prepare = (): string => "shortened";
    let code: unknown;
    let seen: unknown;
    try {
      await stopped(async (_input, context) => {
        await aborted(context);
        tracing.prepareStackTrace = prepare;
        tracing.stackTraceLimit = 0;
        code = await codeOf(() => context.emit.text("x"));
        seen = [tracing.prepareStackTrace, tracing.stackTraceLimit];
      });
    } finally {
      Object.assign(tracing, { prepareStackTrace, stackTraceLimit });
    }
    expect(code).toBe("run-ended");
    expect(seen).toEqual([prepare, 0]);
  });

  test("where the engine has no traces every call resolves", async () => {
    const tracing = Error as { captureStackTrace?: unknown };
    const { captureStackTrace } = tracing;
    const codes: unknown[] = [];
    try {
      tracing.captureStackTrace = undefined;
      await stopped(async (_input, context) => {
        await aborted(context);
        codes.push(
          await codeOf(() => context.emit.text("x")),
          await codeOf(() => context.state.resync()),
        );
      });
    } finally {
      tracing.captureStackTrace = captureStackTrace;
    }
    expect(codes).toEqual([undefined, undefined]);
  });

  test("a thousand calls are one warning", async () => {
    const warnings = await stopped(async (_input, context) => {
      await aborted(context);
      for (let calls = 0; calls < 1_000; calls++) {
        void context.emit.text("x");
        context.emit.usage({ inputTokens: 1, outputTokens: 1 });
        context.session.set("key", calls);
      }
    });
    expect(warnings).toHaveLength(1);
  });

  test("a last word in an abort listener is dropped without a warning", async () => {
    const warnings = await stopped((_input, { emit, session, signal }) => {
      signal.addEventListener("abort", () => {
        void emit.text("bye");
        emit.toolCall("bye");
        session.set("bye", 1);
      });
      return forever();
    });
    expect(warnings).toEqual([]);
  });
});

describe("outside a handler", () => {
  test.for(["toAgent", "compose"] as const)(
    "what is called after %s(…) was left neither throws nor rejects",
    async (name) => {
      let own!: Emit;
      const over = vi.fn();
      const agent: AgentFunction = async (_input, { emit, signal }) => {
        own = emit;
        try {
          for (;;) {
            await turn();
            await emit.text("x");
          }
        } finally {
          over(signal.aborted);
        }
      };
      const run =
        name === "toAgent"
          ? toAgent(agent).run
          : compose(
              agent,
              mapEvents((event) => event),
            );
      const uncaught = await uncaughtDuring(async () => {
        const subscription = run(input).subscribe(() => {});
        await turn();
        subscription.unsubscribe();
        void own.text("late");
        expect(own.toolCall("late", {}, { id: "call" })).toBe("call");
        for (let turns = 0; turns < 5; turns++) await turn();
      });
      expect(uncaught).toEqual([]);
      expect(over).toHaveBeenCalledExactlyOnceWith(true);
    },
  );

  test("an agent that goes on after its own RUN_FINISHED completes", async () => {
    const events: string[] = [];
    const agent: AgentFunction = async (_input, { emit }) => {
      await emit.event({ type: "RUN_FINISHED", threadId: "t", runId: "r" });
      await emit.text("more");
    };
    await new Promise<void>((resolve, reject) => {
      toAgent(agent)
        .run(input)
        .subscribe({ next: ({ type }) => events.push(type), error: reject, complete: resolve });
    });
    expect(events).toEqual(["RUN_STARTED", "RUN_FINISHED"]);
  });
});
