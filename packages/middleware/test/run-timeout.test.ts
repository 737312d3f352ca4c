import { compose } from "@holodeck/agui-core";
import type { RunContext } from "@holodeck/agui-core";
import { collect, fakeClock, runAgent, runInput, scriptedAgent } from "@holodeck/agui-testing";
import { runMatchers } from "@holodeck/agui-testing/vitest";
import { describe, expect, test } from "vitest";
import { runTimeout } from "../src/index.ts";

expect.extend(runMatchers);

describe("runTimeout", () => {
  test("ends a run that takes too long, and notifies the agent", async () => {
    const clock = fakeClock();
    let signal: AbortSignal | undefined;
    const agent = scriptedAgent([
      "Hello",
      (_, context) => void (signal = context.signal),
      { hang: true },
    ]);
    const running = runAgent(agent, { middleware: [runTimeout({ ms: 1_000, clock })] });
    await clock.advance(999);
    expect(signal?.aborted).toBe(false);
    await clock.advance(1);
    const run = await running;
    expect(run.text).toBe("Hello");
    expect(run.error).toMatchObject({
      code: "timeout",
      message: "The run took longer than 1000 ms.",
    });
    expect(signal?.reason).toMatchObject({ code: "timeout" });
    expect(run).toBeValidRun();
  });

  test("ends a run that is silent for too long", async () => {
    const clock = fakeClock();
    const pause = () => new Promise<void>((resolve) => clock.setTimeout(resolve, 80));
    const agent = scriptedAgent(["a", { wait: pause }, "b", { wait: pause }, "c", { hang: true }]);
    const running = runAgent(agent, { middleware: [runTimeout({ idleMs: 100, clock })] });
    await clock.advance(259);
    await clock.advance(1);
    const run = await running;
    expect([run.text, run.error?.message]).toEqual(["abc", "The run sent nothing for 100 ms."]);
  });

  test("gives each run the time that a rule sets", async () => {
    const clock = fakeClock();
    const ms = (_: unknown, { agentId }: RunContext): number => (agentId === "default" ? 5 : 50);
    const running = runAgent(scriptedAgent([{ hang: true }]), {
      middleware: [runTimeout({ ms, clock })],
    });
    await clock.advance(5);
    expect((await running).error?.message).toBe("The run took longer than 5 ms.");
  });

  test("leaves a run that is in time alone, and no timer behind", async () => {
    const clock = fakeClock();
    const middleware = [runTimeout({ ms: 1_000, idleMs: 500, clock })];
    const run = await runAgent(scriptedAgent(["Hello"]), { middleware });
    expect([run.text, run.error, clock.pending]).toEqual(["Hello", undefined, 0]);
    const broken = scriptedAgent([{ throw: new Error("no") }]);
    await expect(collect(compose(broken, ...middleware)(runInput()))).rejects.toThrow("no");
    expect(clock.pending).toBe(0);
    compose(
      scriptedAgent([{ hang: true }]),
      ...middleware,
    )(runInput())
      .subscribe()
      .unsubscribe();
    expect(clock.pending).toBe(0);
  });

  test.for<[unknown, string]>([
    [{}, "runTimeout expects { ms } or { idleMs }"],
    [{ ms: 0 }, "runTimeout's ms must be a number of milliseconds above 0, not 0."],
    [{ idleMs: "5" }, 'runTimeout\'s idleMs must be a number of milliseconds above 0, not "5".'],
    [{ ms: 5, timeout: 1 }, "timeout is not an option of runTimeout."],
  ])("refuses %j", ([options, message]) => {
    expect(() => runTimeout(options as never)).toThrow(message);
  });
});
