import { mockSink, runAgent } from "@holodeck/agui-testing";
import type { MockSink } from "@holodeck/agui-testing";
import { EventEmitter } from "node:events";
import { Observable } from "rxjs";
import { describe, expect, test, vi } from "vitest";
import { AgentError, mapEvents, toAgent, withTools } from "../src/index.ts";
import type {
  AgentFunction,
  Logger,
  Middleware,
  RunContext,
  ServerTool,
  ToolContext,
} from "../src/index.ts";
import { forever, setup, turn } from "./_hostile-kit.ts";
import { uncaughtDuring } from "./_uncaught.ts";

interface Warning {
  readonly message: string;
  readonly call?: string;
  readonly error?: unknown;
}

interface Ended {
  readonly sink: MockSink;
  /** What the author is warned of. */
  readonly warnings: readonly Warning[];
  /** What would have ended the process. */
  readonly uncaught: readonly unknown[];
}

const tool = (
  name: string,
  invoke: ServerTool["invoke"],
  more: Partial<ServerTool> = {},
): ServerTool => ({
  name,
  description: "",
  parameters: {},
  invoke,
  ...more,
});

function deferred<T>(): { promise: Promise<T>; resolve: (value: T) => void } {
  let resolve!: (value: T) => void;
  const promise = new Promise<T>((settle) => (resolve = settle));
  return { promise, resolve };
}

function listen(): { logger: Logger; warnings: Warning[] } {
  const warnings: Warning[] = [];
  const warn = (fields: object, message = ""): void => void warnings.push({ ...fields, message });
  return { logger: { debug: vi.fn(), info: vi.fn(), warn, error: vi.fn() }, warnings };
}

/** Runs an agent to its end, outside and inside of middleware. */
async function ran(
  agent: AgentFunction,
  options: Omit<NonNullable<Parameters<typeof runAgent>[1]>, "logger"> = {},
): Promise<Ended> {
  const { logger, warnings } = listen();
  let sink!: MockSink;
  const uncaught = await uncaughtDuring(async () => {
    sink = await runAgent(agent, { ...options, logger });
    await turn();
  });
  return { sink, warnings, uncaught };
}

const types = ({ events }: MockSink): string[] => events.map(({ type }) => type);
const outcome = ({ events }: MockSink): unknown => events.at(-1)?.outcome;
const layers = [0, 1] as const;
const behind = (count: number): { middleware: ReturnType<typeof mapEvents>[] } => ({
  middleware: Array.from({ length: count }, () => mapEvents((event) => event)),
});

describe("a call that was not awaited", () => {
  test.for(layers)("is one warning that names it, behind %i middleware", async (count) => {
    const agent: AgentFunction = async (_input, { callTool }) => {
      void callTool("nope", {});
      void callTool("nope", {});
      return "x";
    };
    const { sink, warnings, uncaught } = await ran(agent, behind(count));
    expect(uncaught).toEqual([]);
    expect(sink.error).toBeUndefined();
    expect(sink.text).toBe("x");
    expect(warnings).toEqual([
      expect.objectContaining({
        call: 'callTool("nope")',
        error: expect.objectContaining({ code: "unknown-tool" }),
        message: expect.stringContaining('callTool("nope") was not awaited') as string,
      }),
    ]);
  });

  test.for(layers)("is waited for, behind %i middleware", async (count) => {
    const work = deferred<string>();
    const tools = [tool("slow", () => work.promise)];
    const agent: AgentFunction = async (_input, { callTool }) => {
      void callTool("slow", {});
      setImmediate(() => work.resolve("done at last"));
    };
    const { sink, warnings } = await ran(agent, { tools, ...behind(count) });
    expect(types(sink).slice(-2)).toEqual(["TOOL_CALL_RESULT", "RUN_FINISHED"]);
    expect(sink.events.at(-2)).toMatchObject({ content: "done at last" });
    expect(warnings).toHaveLength(1);
    expect(warnings[0]).not.toHaveProperty("error");
  });

  test("has an error result and a warning with the error when it fails", async () => {
    const broken = new Error("broken");
    const tools = [tool("refund", () => Promise.reject(broken))];
    const { sink, warnings, uncaught } = await ran(
      async (_input, { callTool }) => {
        void callTool("refund", {});
        return "Done.";
      },
      { tools },
    );
    expect(uncaught).toEqual([]);
    expect(sink.error).toBeUndefined();
    expect(sink.events.at(-2)).toMatchObject({
      type: "TOOL_CALL_RESULT",
      metadata: { error: "tool-error" },
    });
    expect(warnings).toHaveLength(1);
    expect(warnings[0]?.error).toMatchObject({ code: "tool-error", cause: broken });
  });

  test.for(layers)(
    "that needs approval ends the run with its interrupt, behind %i middleware",
    async (count) => {
      const invoke = vi.fn();
      const tools = [
        tool("refund", invoke, { needsApproval: async () => turn().then(() => true) }),
      ];
      const { sink, warnings, uncaught } = await ran(
        async (_input, { callTool }) => {
          void callTool("refund", {});
          return "Done.";
        },
        { tools, ...behind(count) },
      );
      expect(uncaught).toEqual([]);
      expect(outcome(sink)).toMatchObject({
        type: "interrupt",
        interrupts: [{ reason: "tool_call" }],
      });
      expect(invoke).not.toHaveBeenCalled();
      expect(warnings.map(({ call }) => call)).toEqual(['callTool("refund")']);
    },
  );

  test("of the client's ends the run with the call pending", async () => {
    const { sink, warnings, uncaught } = await ran(
      async (_input, { callTool }) => {
        void callTool("confirm", {});
        return "Done.";
      },
      { clientTools: [{ name: "confirm", description: "", parameters: {} }] },
    );
    expect(uncaught).toEqual([]);
    expect(outcome(sink)).toMatchObject({ pendingToolCallIds: [expect.any(String)] });
    expect(warnings).toHaveLength(1);
  });

  test("is named when it is one of several, a step, a subagent or a streamed call", async () => {
    const failing = async function* (): AsyncGenerator<string> {
      yield "{";
      await turn();
      throw new Error("broken");
    };
    const { sink, warnings, uncaught } = await ran(
      async (_input, { callTools, emit }) => {
        void callTools([
          { name: "a", args: {} },
          { name: "b", args: {} },
        ]);
        void emit.step("plan", () => turn().then(() => Promise.reject(new Error("broken"))));
        void emit.subagent("reader", () => turn().then(() => Promise.reject(new Error("broken"))));
        void emit.toolCall("weather", failing());
      },
      { strict: false },
    );
    expect(uncaught).toEqual([]);
    expect(
      warnings.flatMap(({ call, error }) => (call ? [[call, error !== undefined]] : [])),
    ).toEqual([
      ['callTools("a", "b")', false],
      ['emit.step("plan")', true],
      ['emit.subagent("reader")', true],
      ['emit.toolCall("weather")', true],
    ]);
    expect(types(sink)).toEqual(
      expect.arrayContaining(["STEP_FINISHED", "SUBAGENT_ERROR", "TOOL_CALL_END"]),
    );
    expect(sink.error).toBeUndefined();
  });

  test("of an agent that brings its own tools is waited for, too", async () => {
    const { sink, warnings } = await ran(async (input, context) => {
      const own = withTools(input, context, [tool("own", () => turn().then(() => "done"))]);
      void own.context.callTool("own");
    });
    expect(types(sink).slice(-2)).toEqual(["TOOL_CALL_RESULT", "RUN_FINISHED"]);
    expect(warnings).toHaveLength(1);
  });

  test.for(layers)(
    "has its result before the agent's own RUN_FINISHED, behind %i middleware",
    async (count) => {
      const work = deferred<string>();
      const tools = [tool("slow", () => work.promise)];
      const agent: AgentFunction = async function* (input, { callTool }) {
        void callTool("slow", {});
        const { threadId, runId } = input;
        yield { type: "RUN_FINISHED", threadId, runId };
        setImmediate(() => work.resolve("done"));
      };
      const { sink } = await ran(agent, { tools, ...behind(count) });
      expect(types(sink).slice(-2)).toEqual(["TOOL_CALL_RESULT", "RUN_FINISHED"]);
    },
  );
});

describe("a call that is awaited", () => {
  const tools = [
    tool("quick", () => "quick"),
    tool("slow", () => turn().then(() => "slow")),
    tool("refund", () => "refunded", { needsApproval: true }),
    tool("broken", () => Promise.reject(new Error("broken"))),
  ];

  test("later, at once with others, or by then, is no warning", async () => {
    const { sink, warnings, uncaught } = await ran(
      async (_input, { callTool, emit }) => {
        const kept = callTool("quick");
        await turn();
        await turn();
        await kept;
        await Promise.all([callTool("quick"), callTool("slow")]);
        await Promise.race([callTool("quick"), forever()]);
        await callTool("quick").finally(() => {});
        callTool("slow").then(
          (result) => emit.text(String(result)),
          () => {},
        );
      },
      { tools },
    );
    expect(warnings).toEqual([]);
    expect(uncaught).toEqual([]);
    expect(sink.text).toBe("slow");
    expect(types(sink).filter((type) => type === "TOOL_CALL_RESULT")).toHaveLength(6);
  });

  test("and lost a race is waited for, so that the client has its result", async () => {
    const { sink } = await ran(
      async (_input, { callTool }) =>
        void (await Promise.race([callTool("slow"), Promise.resolve("too late")])),
      { tools },
    );
    expect(types(sink).slice(-2)).toEqual(["TOOL_CALL_RESULT", "RUN_FINISHED"]);
  });

  test("beside one that needs approval has its result in the run that asks", async () => {
    const work = deferred<string>();
    const { sink, warnings } = await ran(
      async (_input, { callTool }) => {
        setTimeout(() => work.resolve("slow"), 5);
        await Promise.all([callTool("refund"), callTool("later")]);
      },
      { tools: [...tools, tool("later", () => work.promise)] },
    );
    expect(types(sink).slice(-2)).toEqual(["TOOL_CALL_RESULT", "RUN_FINISHED"]);
    expect(outcome(sink)).toMatchObject({ type: "interrupt" });
    expect(warnings).toEqual([]);
  });

  test("and fails, fails the run", async () => {
    const { sink } = await ran(async (_input, { callTool }) => void (await callTool("broken")), {
      tools,
    });
    expect(sink.error).toMatchObject({ code: "tool-error" });
  });

  test.for(layers)(
    "by a listener, and has to wait, ends the run with its interrupt, behind %i middleware",
    async (count) => {
      const went = vi.fn();
      const { sink, uncaught } = await ran(
        async (_input, { callTool }) => {
          const sdk = new EventEmitter().on("call", async (name: string) => {
            await callTool(name);
            went();
          });
          sdk.emit("call", "refund");
          await forever();
        },
        { tools, ...behind(count) },
      );
      expect(uncaught).toEqual([]);
      expect(outcome(sink)).toMatchObject({ type: "interrupt" });
      expect(went).not.toHaveBeenCalled();
    },
  );

  test("is as good as a promise", async () => {
    let seen: unknown;
    await ran(
      async (_input, { callTool }) => {
        const promise = callTool("quick");
        seen = [
          promise instanceof Promise,
          promise.then(() => 1) instanceof Promise,
          await promise,
        ];
        expect(promise.finally(() => {})).toBeInstanceOf(Promise);
      },
      { tools },
    );
    expect(seen).toEqual([true, true, "quick"]);
  });
});

describe("a run with a call in progress", () => {
  function hanging(): { tools: ServerTool[]; signals: AbortSignal[] } {
    const signals: AbortSignal[] = [];
    const invoke = (_args: unknown, { signal }: ToolContext): Promise<never> => {
      signals.push(signal);
      return forever();
    };
    return { tools: [tool("hang", invoke)], signals };
  }

  test.for(layers)(
    "is ended by stop, which aborts the call, behind %i middleware",
    async (count) => {
      const { tools, signals } = hanging();
      const sink = mockSink();
      const uncaught = await uncaughtDuring(async () => {
        const { run } = setup(async (_input, { callTool }) => void callTool("hang"), {
          init: { context: { threadId: "t", runId: "r", tools }, ...behind(count) },
        });
        run.follow(sink.encoder, sink);
        for (let turns = 0; turns < 3; turns++) await turn();
        expect(types(sink)).not.toContain("RUN_FINISHED");
        run.abort(new AgentError("stopped", "Enough."));
        await run.done;
      });
      expect(uncaught).toEqual([]);
      expect(outcome(sink)).toEqual({ type: "cancelled" });
      expect(signals.map(({ aborted }) => aborted)).toEqual([true]);
    },
  );

  test("is not waited for longer than the tool's time", async () => {
    const { tools, signals } = hanging();
    const sink = mockSink();
    const { run, clock } = setup(async (_input, { callTool }) => void callTool("hang"), {
      limits: { toolTimeoutMs: 1_000 },
      init: { context: { threadId: "t", runId: "r", tools } },
    });
    run.follow(sink.encoder, sink);
    for (let turns = 0; turns < 3; turns++) await turn();
    await clock.advance(1_000);
    await run.done;
    expect(types(sink).slice(-2)).toEqual(["TOOL_CALL_RESULT", "RUN_FINISHED"]);
    expect(sink.events.at(-2)).toMatchObject({ metadata: { error: "timeout" } });
    expect(signals[0]?.aborted).toBe(true);
  });

  test.for(layers)("aborts it when the agent fails, behind %i middleware", async (count) => {
    const { tools, signals } = hanging();
    const { sink, uncaught } = await ran(
      async (_input, { callTool }) => {
        void callTool("hang");
        await turn();
        throw new AgentError("agent-error", "Broken.");
      },
      { tools, ...behind(count) },
    );
    await turn();
    expect(uncaught).toEqual([]);
    expect(sink.error).toMatchObject({ message: "Broken." });
    expect(signals.map(({ aborted }) => aborted)).toEqual([true]);
  });

  test("aborts it when a middleware leaves the agent, or aborts the signal it passed on", async () => {
    const { tools, signals } = hanging();
    const own = new AbortController();
    const leaveAt =
      (type: string): Middleware =>
      (input, context, next) =>
        new Observable((subscriber) => {
          const narrowed = Object.create(context, { signal: { value: own.signal } }) as RunContext;
          const left = next(input, narrowed).subscribe({
            next: (event) => {
              subscriber.next(event);
              if (event.type !== type) return;
              setImmediate(() => {
                if (type === "TOOL_CALL_END") left.unsubscribe();
                else own.abort(new AgentError("timeout", "Too slow."));
                subscriber.complete();
              });
            },
            error: () => {},
          });
        });
    for (const type of ["TOOL_CALL_END", "TOOL_CALL_START"]) {
      const agent: AgentFunction = async (_input, { callTool }) => void (await callTool("hang"));
      const { sink, uncaught } = await ran(agent, { tools, middleware: [leaveAt(type)] });
      expect(uncaught).toEqual([]);
      expect(types(sink).at(-1)).toBe("RUN_FINISHED");
    }
    await turn();
    expect(signals.map(({ aborted }) => aborted)).toEqual([true, true]);
  });

  test("of an Observable that is unsubscribed from aborts it", async () => {
    const { tools, signals } = hanging();
    let own!: RunContext;
    const agent: AgentFunction = async (input, context) => {
      own = withTools(input, context, tools).context;
      void own.callTool("hang");
    };
    const uncaught = await uncaughtDuring(async () => {
      const input = { threadId: "t", runId: "r", messages: [], tools: [], context: [], state: {} };
      const seen: string[] = [];
      const subscription = toAgent(agent)
        .run(input)
        .subscribe(({ type }) => void seen.push(type));
      for (let turns = 0; turns < 3; turns++) await turn();
      expect(seen).not.toContain("RUN_FINISHED");
      subscription.unsubscribe();
      await turn();
    });
    expect(uncaught).toEqual([]);
    expect(signals.map(({ aborted }) => aborted)).toEqual([true]);
  });
});
