import { createAgentHandler, logging } from "@holodeck/agui";
import type { AgentEvent, RunAgentInput } from "@holodeck/agui";
import { isAgentError } from "@holodeck/agui-core";
import { fakeClock, runAgent, scriptedAgent } from "@holodeck/agui-testing";
import { runMatchers } from "@holodeck/agui-testing/vitest";
import { describe, expect, test } from "vitest";
import { injectContext, suggestQuestions } from "../src/index.ts";
import type { ContextQuery } from "../src/index.ts";
import { dialogues, speak } from "./_dialogues.ts";
import { memoryLogger } from "./_memory-logger.ts";

expect.extend(runMatchers);

const hang = (): Promise<never> => new Promise(() => undefined);

describe("injectContext", () => {
  test("gives the agent what the providers found, in their order", async () => {
    const agent = scriptedAgent(["Hello"]);
    let release!: () => void;
    const gate = new Promise<void>((resolve) => (release = resolve));
    const began: string[] = [];
    const running = runAgent(agent, {
      context: [{ description: "locale", value: "de" }],
      middleware: [
        injectContext({
          profile: async () => {
            began.push("profile");
            await gate;
            return "Ada, engineer";
          },
          memory: () => {
            began.push("memory");
            release();
            return [
              { description: "wisdom", value: "Be brief." },
              { description: "mood", value: "good" },
            ];
          },
          nothing: () => undefined,
          documents: async () => ({ description: "handbook", value: "Page 1" }),
        }),
      ],
    });
    const run = await running;
    expect(began).toEqual(["profile", "memory"]);
    expect(agent.inputs[0]?.context).toEqual([
      { description: "locale", value: "de" },
      { description: "profile", value: "Ada, engineer" },
      { description: "wisdom", value: "Be brief." },
      { description: "mood", value: "good" },
      { description: "handbook", value: "Page 1" },
    ]);
    expect(run.text).toBe("Hello");
  });

  test("passes to a provider who asks and the last message", async () => {
    const queries: ContextQuery[] = [];
    await runAgent(scriptedAgent([]), {
      principal: { id: "ada" },
      messages: [
        { id: "1", role: "user", content: "first" },
        {
          id: "2",
          role: "user",
          content: [
            { type: "text", text: "last" },
            { type: "image", source: { type: "url", value: "https://example.com/a.png" } },
            { type: "text", text: "words" },
          ],
        },
        { id: "3", role: "assistant", content: "yes?" },
      ],
      middleware: [injectContext([(query) => void queries.push(query)])],
    });
    expect(queries).toMatchObject([
      { message: "last\nwords", principal: { id: "ada" }, context: { agentId: "default" } },
    ]);
  });

  test("leaves out a provider that fails or takes too long, and logs it", async () => {
    const clock = fakeClock();
    const logger = memoryLogger();
    const agent = scriptedAgent(["Hello"]);
    const signals: AbortSignal[] = [];
    const running = runAgent(agent, {
      logger,
      middleware: [
        injectContext(
          {
            broken: () => {
              throw new Error("connect postgres://ada:pw@db");
            },
            rejected: () => Promise.reject(new Error("no")),
            wrong: (() => ({ value: 5 })) as never,
            slow: ({ signal }) => (signals.push(signal), hang()),
            slower: {
              timeoutMs: 300,
              provide: ({ signal }) => (signals.push(signal), hang()),
            },
            fine: () => "here",
          },
          { timeoutMs: 200, clock },
        ),
      ],
    });
    await clock.advance(200);
    expect(signals.map(({ aborted }) => aborted)).toEqual([true, false]);
    await clock.advance(100);
    expect((await running).text).toBe("Hello");
    expect(agent.inputs[0]?.context).toEqual([{ description: "fine", value: "here" }]);
    const left = logger.records.filter(({ level }) => level === "warn");
    expect(left.map(({ provider, why }) => `${String(provider)}: ${String(why)}`).sort()).toEqual([
      "broken: It failed.",
      "rejected: It failed.",
      "slow: It took longer than 200 ms.",
      "slower: It took longer than 300 ms.",
      "wrong: It failed.",
    ]);
    expect(JSON.stringify(left)).not.toContain("postgres");
  });

  test("asks no further provider when the run is stopped, and does not start the agent", async () => {
    const controller = new AbortController();
    const agent = scriptedAgent(["Hello"]);
    let signal: AbortSignal | undefined;
    const running = runAgent(agent, {
      signal: controller.signal,
      middleware: [injectContext([(query) => ((signal = query.signal), hang())])],
    });
    controller.abort();
    expect((await running).outcome).toEqual({ type: "cancelled" });
    expect([signal?.aborted, agent.inputs]).toEqual([true, []]);
  });

  test("fails the run when the agent does", async () => {
    const run = await runAgent(scriptedAgent([{ throw: new Error("no") }]), {
      middleware: [injectContext([() => "x"])],
    });
    expect(run.error?.code).toBe("agent-error");
  });

  test.for<[unknown, unknown, string]>([
    ["x", {}, 'injectContext takes injectContext({ "user profile"'],
    [{ profile: 1 }, {}, 'injectContext\'s provider "profile" must be a function'],
    [[{ provide: 1 }], {}, 'provider "0" must be a function'],
    [[], { timeoutMs: 0 }, "timeoutMs must be a number above 0, not 0."],
    [[{ provide: () => "", timeoutMs: -1 }], {}, "timeoutMs must be a number above 0, not -1."],
    [[], { timeout: 1 }, "Did you mean timeoutMs?"],
  ])("refuses %j with %j", ([providers, options, message]) => {
    expect(() => injectContext(providers as never, options as never)).toThrow(message);
  });
});

const secret = "PLANTED-7f3a";

/** Does what it can to give away its input, short of saying it. */
async function* indiscreet(input: RunAgentInput): AsyncGenerator<AgentEvent | string> {
  const { threadId, runId } = input;
  yield { type: "RUN_STARTED", threadId, runId, input };
  yield { type: "STATE_SNAPSHOT", snapshot: { ...(input.state as object), seen: true } };
  yield { type: "MESSAGES_SNAPSHOT", messages: input.messages };
  yield { type: "STATE_DELTA", delta: [{ op: "add", path: "/more", value: 1 }] };
  yield { type: "TOOL_CALL_CHUNK", toolCallId: "c", toolCallName: "look", delta: "{}" };
  yield { type: "TOOL_CALL_RESULT", messageId: "r", toolCallId: "c", content: "found" };
  yield* ["I know ", `${input.context.length} things.`];
}

describe.each(dialogues)("what is injected, over $name", (dialogue) => {
  test("is in no byte that is sent, and in no log but a debug one", async () => {
    const logger = memoryLogger();
    let given = 0;
    const handler = createAgentHandler(
      (input: RunAgentInput) => {
        given += input.context.filter(({ value }) => value.includes(secret)).length;
        return indiscreet(input);
      },
      {
        protocols: [dialogue.protocol()],
        logger,
        onDisconnect: "continue",
        middleware: [
          logging({ logger, events: true }),
          suggestQuestions(() => ["Why?"]),
          injectContext({
            profile: () => secret,
            documents: () => [{ description: `about ${secret}`, value: secret }],
            broken: () => Promise.reject(new Error(`No ${secret} found.`)),
          }),
        ],
      },
    );
    const sent: string[] = [];
    for await (const { asked, status, headers, text } of speak(handler, dialogue)) {
      expect([200, 204], asked.path).toContain(status);
      headers.forEach((value, name) => sent.push(`${name}: ${value}`));
      sent.push(text);
    }
    await handler.close();
    // It was there, and something was sent: the search can fail.
    expect(given).toBeGreaterThan(0);
    expect(sent.join("\n")).toContain("2 things.");
    expect(sent.join("\n")).not.toContain(secret);
    const told = logger.records.filter(({ level }) => level !== "debug");
    expect(told.map(({ message }) => message)).toContain("A context provider was left out.");
    expect(told.map(({ message }) => message)).toContain("Run finished.");
    const text = JSON.stringify(told, (_, value: unknown) =>
      value instanceof Error
        ? { text: value.message, stack: value.stack, code: isAgentError(value) && value.code }
        : value,
    );
    expect(text).not.toContain(secret);
  });
});
