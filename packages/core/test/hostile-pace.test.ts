import { mockSink } from "@holodeck/agui-testing";
import { describe, expect, test } from "vitest";
import { mapEvents } from "../src/index.ts";
import { setup, turn } from "./_hostile-kit.ts";

describe("an agent that only emits", () => {
  test.for([0, 1])(
    "is stopped at its next word when its clients have left, behind %i middleware",
    async (layers) => {
      let words = 0;
      let over = false;
      const sink = mockSink({ leaveAfter: 3 });
      const { run } = setup(
        async (_input, { emit }) => {
          try {
            for (; words < 10_000; words++) await emit.text("x");
          } finally {
            over = true;
          }
        },
        { init: { middleware: layers === 0 ? [] : [mapEvents((event) => event)] } },
      );
      run.follow(sink.encoder, sink);
      await run.done;
      await turn();
      expect(over).toBe(true);
      expect(words).toBeLessThan(1_000);
    },
  );

  test.for([0, 1])(
    "that never waits lets timers have their turn, behind %i middleware",
    async (layers) => {
      let isOver = false;
      let words = 0;
      const { run } = setup(
        async (_input, { emit }) => {
          while (!isOver && words < 200_000) {
            await emit.text("x");
            words++;
          }
        },
        { init: { middleware: layers === 0 ? [] : [mapEvents((event) => event)] } },
      );
      setTimeout(() => (isOver = true), 0);
      await run.collect();
      expect(isOver).toBe(true);
      expect(words).toBeLessThan(200_000);
    },
  );
});
