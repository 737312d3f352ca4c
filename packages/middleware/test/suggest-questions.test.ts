import { fakeClock, runAgent, scriptedAgent } from "@holodeck/agui-testing";
import type { Script } from "@holodeck/agui-testing";
import { runMatchers } from "@holodeck/agui-testing/vitest";
import { describe, expect, test } from "vitest";
import { suggestQuestions } from "../src/index.ts";
import type { SuggestQuery } from "../src/index.ts";
import { memoryLogger } from "./_memory-logger.ts";
import { expectVerified } from "./_verify.ts";

expect.extend(runMatchers);

const answer = scriptedAgent(["It ", "rains."]);
const hang = (): Promise<never> => new Promise(() => undefined);

describe("suggestQuestions", () => {
  test("sends questions after the answer and before the end", async () => {
    let asked: SuggestQuery | undefined;
    const middleware = [
      suggestQuestions(async (query) => {
        asked = query;
        return ["Will it stop?", "  Where? ", "", 5 as never];
      }),
    ];
    const run = await runAgent(answer, { message: "How is the weather?", middleware });
    expect(run.events.slice(-3)).toMatchObject([
      { type: "TEXT_MESSAGE_END" },
      { type: "CUSTOM", name: "suggested_questions", value: ["Will it stop?", "Where?"] },
      { type: "RUN_FINISHED" },
    ]);
    expect(asked?.answer).toBe("It rains.");
    expect(asked?.messages).toMatchObject([
      { role: "user", content: "How is the weather?" },
      { role: "assistant", content: "It rains." },
    ]);
    expect(run).toBeValidRun();
    await expectVerified(run.events);
  });

  test.for<[string, () => unknown]>([
    ["fails", () => Promise.reject(new Error("no key-1"))],
    [
      "throws",
      () => {
        throw new Error("no key-1");
      },
    ],
    ["has nothing to say", () => []],
    ["says nothing", () => undefined],
    ["says no list", () => "Where?"],
  ])("ends the run without questions when it %s", async ([, suggest]) => {
    const logger = memoryLogger();
    const middleware = [suggestQuestions(suggest as never)];
    const run = await runAgent(answer, { middleware, logger });
    expect(run.events.map(({ type }) => type)).not.toContain("CUSTOM");
    expect([run.text, run.error]).toEqual(["It rains.", undefined]);
    const notes = JSON.stringify(logger.records.filter(({ level }) => level !== "debug"));
    expect(notes).not.toContain("key-1");
  });

  test("does not let the run wait for longer than its options set", async () => {
    const clock = fakeClock();
    let signal: AbortSignal | undefined;
    const middleware = [
      suggestQuestions(
        (query) => {
          ({ signal } = query);
          return hang();
        },
        { timeoutMs: 100, clock },
      ),
    ];
    const logger = memoryLogger();
    const running = runAgent(answer, { middleware, logger });
    await clock.advance(99);
    expect(signal?.aborted).toBe(false);
    await clock.advance(1);
    const run = await running;
    expect(run.events.at(-1)?.type).toBe("RUN_FINISHED");
    expect(signal?.aborted).toBe(true);
    expect(logger.records).toMatchObject([{ level: "warn", why: "It took longer than 100 ms." }]);
  });

  test("stops asking when the run is stopped", async () => {
    const controller = new AbortController();
    let signal: AbortSignal | undefined;
    const middleware = [
      suggestQuestions((query) => {
        ({ signal } = query);
        queueMicrotask(() => controller.abort());
        return hang();
      }),
    ];
    const run = await runAgent(answer, { middleware, signal: controller.signal });
    expect(run.outcome).toEqual({ type: "cancelled" });
    expect(signal?.aborted).toBe(true);
  });

  test.for<[string, Script]>([
    ["said nothing", []],
    ["failed", ["It", { throw: new Error("no") }]],
    ["waits for a tool of the client's", ["It", (_, { emit }) => void emit.toolCall("ask", {})]],
    ["asks something itself", ["It", (_, { emit }) => void emit.interrupt({ reason: "confirm" })]],
    [
      "let only a subagent speak",
      [(_, { emit }) => emit.subagent("helper", (inner) => inner.text("It"))],
    ],
  ])("suggests nothing after a run that %s", async ([, script]) => {
    const middleware = [suggestQuestions(() => ["Where?"])];
    const run = await runAgent(scriptedAgent(script), { middleware });
    expect(run.events.map(({ type }) => type)).not.toContain("CUSTOM");
    expect(["RUN_FINISHED", "RUN_ERROR"]).toContain(run.events.at(-1)?.type);
  });

  test.for<[unknown, unknown, string]>([
    [undefined, {}, "suggestQuestions takes a function ({ messages, answer }) => string[]"],
    [() => [], { timeoutMs: 0 }, "suggestQuestions's timeoutMs must be a number above 0, not 0."],
    [() => [], { timeout: 1 }, "Did you mean timeoutMs?"],
  ])("refuses %s with %j", ([suggest, options, message]) => {
    expect(() => suggestQuestions(suggest as never, options as never)).toThrow(message);
  });
});
