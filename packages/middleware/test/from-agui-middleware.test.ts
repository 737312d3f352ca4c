import { FilterToolCallsMiddleware, HttpAgent, Middleware } from "@ag-ui/client";
import type { MiddlewareFunction } from "@ag-ui/client";
import { createAgentHandler } from "@holodeck/agui";
import type { BaseEvent } from "@holodeck/agui-core";
import { serve } from "@holodeck/agui-node";
import { runAgent, scriptedAgent } from "@holodeck/agui-testing";
import { runMatchers } from "@holodeck/agui-testing/vitest";
import { FilterToolCallsMiddleware as FilterToolCallsMiddleware0 } from "ag-ui-client-0";
import { map } from "rxjs";
import { describe, expect, test } from "vitest";
import { fromAguiMiddleware } from "../src/index.ts";

expect.extend(runMatchers);

const twoCalls = scriptedAgent([
  (_, { emit }) => {
    for (const name of ["secret", "weather"]) {
      const id = emit.toolCall(name, { name }, { id: `call-${name}` });
      void emit.toolResult(id, `from ${name}`);
    }
  },
  "It rains.",
]);

// AG-UI's client pins another copy of rxjs than ours; as types the two are strangers.
const operator = map as (change: (value: any) => any) => any;

const shout: MiddlewareFunction = (input, next) =>
  next
    .run({ ...input, forwardedProps: { shouted: true } })
    .pipe(
      operator((event: { type: string; delta: string }) =>
        event.type === "TEXT_MESSAGE_CONTENT"
          ? { ...event, delta: event.delta.toUpperCase() }
          : event,
      ),
    );

class CountMessages extends Middleware {
  readonly counts: number[] = [];
  override run(...[input, next]: Parameters<Middleware["run"]>): ReturnType<Middleware["run"]> {
    return this.runNextWithState(input, next).pipe(
      operator(({ event, messages }: { event: BaseEvent; messages: unknown[] }) => {
        this.counts.push(messages.length);
        return event;
      }),
    );
  }
}

describe("fromAguiMiddleware", () => {
  test.for([
    ["1.0.0", new FilterToolCallsMiddleware({ disallowedToolCalls: ["secret"] })],
    ["0.0.59", new FilterToolCallsMiddleware0({ disallowedToolCalls: ["secret"] })],
  ] as const)("filters with FilterToolCallsMiddleware of @ag-ui/client %s", async ([, filter]) => {
    const middleware = [fromAguiMiddleware(filter as FilterToolCallsMiddleware)];
    const run = await runAgent(twoCalls, { middleware });
    expect(run.toolCalls).toMatchObject([{ id: "call-weather", result: "from weather" }]);
    expect(run.text).toBe("It rains.");
    expect(JSON.stringify(run.events)).not.toContain("secret");
    expect(run).toBeValidRun();
    const again = await runAgent(twoCalls, { middleware });
    expect(JSON.stringify(again.events)).not.toContain("secret");
  });

  test("runs a function middleware, with the input it changed", async () => {
    const agent = scriptedAgent(["It rains."]);
    const run = await runAgent(agent, { middleware: [fromAguiMiddleware(shout)] });
    expect(run.text).toBe("IT RAINS.");
    expect(agent.inputs[0]?.forwardedProps).toEqual({ shouted: true });
  });

  test("runs a function that was written for it", async () => {
    const middleware = [
      fromAguiMiddleware((input, next) => next.run({ ...input, state: { from: next.agentId } })),
    ];
    const agent = scriptedAgent(["Hello"]);
    await runAgent(agent, { middleware });
    expect(agent.inputs[0]?.state).toEqual({ from: "default" });
  });

  test("runs a middleware that follows messages and state", async () => {
    const count = new CountMessages();
    const middleware = [fromAguiMiddleware(count)];
    const run = await runAgent(scriptedAgent(["It rains."]), { message: "hi", middleware });
    expect(run.text).toBe("It rains.");
    expect(count.counts.at(-1)).toBe(2);
  });

  test("passes a failure on, masked", async () => {
    const middleware = [fromAguiMiddleware(shout)];
    const broken = scriptedAgent([{ throw: new Error("connect postgres://ada:pw@db") }]);
    expect((await runAgent(broken, { middleware })).error).toMatchObject({
      code: "agent-error",
      message: "The agent failed.",
    });
  });

  test("notifies the agent when the client has left", async () => {
    const controller = new AbortController();
    let signal: AbortSignal | undefined;
    const agent = scriptedAgent([
      (_, context) => {
        ({ signal } = context);
        queueMicrotask(() => controller.abort());
      },
      { hang: true },
    ]);
    const middleware = [fromAguiMiddleware(shout)];
    const run = await runAgent(agent, { middleware, signal: controller.signal });
    expect([run.outcome, signal?.aborted]).toEqual([{ type: "cancelled" }, true]);
  });

  test("leaves a stream that AG-UI's own client reads", async () => {
    const filter = new FilterToolCallsMiddleware({ disallowedToolCalls: ["secret"] });
    const server = await serve(
      createAgentHandler(twoCalls, { middleware: [fromAguiMiddleware(filter)] }),
      { port: 0 },
    );
    try {
      const client = new HttpAgent({ url: `${server.url}/agui` });
      client.setMessages([{ id: "u", role: "user", content: "hi" }]);
      await client.runAgent();
      expect(client.messages.map(({ role }) => role)).toEqual([
        "user",
        "assistant",
        "tool",
        "assistant",
      ]);
      expect(JSON.stringify(client.messages)).not.toContain("secret");
    } finally {
      await server.close();
    }
  });

  test.each([undefined, "filter", {}])("refuses %j", (middleware) => {
    expect(() => fromAguiMiddleware(middleware as never)).toThrow(
      "fromAguiMiddleware takes a function (input, next) or an object with run(input, next)",
    );
  });
});
