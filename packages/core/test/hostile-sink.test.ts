import { mockSink } from "@holodeck/agui-testing";
import { describe, expect, test } from "vitest";
import { broken, setup, turn } from "./_hostile-kit.ts";
import { uncaughtDuring } from "./_uncaught.ts";

describe("a hostile sink", () => {
  test.for(["write", "end", "destroy"] as const)(
    "does not keep the run or its other clients from their end: %s",
    async (part) => {
      const other = mockSink();
      const sink = Object.assign(mockSink(), { [part]: broken });
      const { run, clock } = setup(async function* () {
        yield "a";
        await turn();
        yield "b";
        if (part === "destroy") sink.onClose?.();
      });
      const uncaught = await uncaughtDuring(async () => {
        run.follow(sink.encoder, sink);
        run.follow(other.encoder, other);
        await run.done;
        run.cut();
      });
      expect(uncaught).toEqual([]);
      await clock.advance(50);
      await run.idle;
      expect(other.text).toBe("ab");
      expect(clock.pending).toBe(0);
    },
  );

  test("that fails to be cut is gone all the same", async () => {
    const sink = Object.assign(mockSink({ stallAfter: 1 }), { destroy: broken });
    const { run } = setup(async function* () {
      for (let i = 0; i < 10; i++) yield "a";
    });
    run.follow(sink.encoder, sink);
    await turn();
    expect(() => run.cut()).not.toThrow();
    await run.done;
    expect(run.followers).toBe(0);
    expect(run.status).toBe("cancelled");
  });
});
